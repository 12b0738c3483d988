import type { AccessMetadata } from './resources.ts';

/** What of a resource needs somebody's attention; nothing where its status is as it should be, or not known. */
export type Attention = 'error' | 'degraded';

export function attentionOf({ healthStatus, provisioningStatus }: AccessMetadata): Attention | undefined {
  if (healthStatus === 'error' || provisioningStatus === 'error') return 'error';
  return healthStatus === 'degraded' ? 'degraded' : undefined;
}

export function isBeingDeleted({ deletionTime }: AccessMetadata): boolean {
  return deletionTime !== undefined && deletionTime !== null && deletionTime !== '';
}

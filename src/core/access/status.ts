import type { AccessMetadata } from './resources.ts';

/** Why a resource needs attention; nothing where its status is fine or unknown. */
export type Attention = 'error' | 'degraded';

export function attentionOf({ healthStatus, provisioningStatus }: AccessMetadata): Attention | undefined {
  if (healthStatus === 'error' || provisioningStatus === 'error') return 'error';
  return healthStatus === 'degraded' ? 'degraded' : undefined;
}

export function isBeingDeleted({ deletionTime }: AccessMetadata): boolean {
  return deletionTime !== undefined && deletionTime !== null && deletionTime !== '';
}

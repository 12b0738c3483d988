import { attentionOf, type GroupEntry, type RoleEntry } from './model.ts';
import type { AccessMetadata } from './resources.ts';

export const SORT_ORDERS = ['service', 'name', 'creation', 'health'] as const;
/** `service`: as the service sends them. `creation`: the newest first. `health`: what needs attention first. */
export type SortOrder = (typeof SORT_ORDERS)[number];

const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** @returns the same entries in another order; entries that are alike stay in the order of the service. */
export function sortEntries<T extends GroupEntry | RoleEntry>(entries: readonly T[], order: SortOrder): readonly T[] {
  if (order === 'service') return entries;
  const ranked = entries.map((entry) => ({ entry, rank: rankOf(entry, order) }));
  ranked.sort((one, other) => {
    if (one.rank !== other.rank) return one.rank - other.rank;
    return order === 'creation' ? 0 : names.compare(nameOf(one.entry), nameOf(other.entry));
  });
  return ranked.map(({ entry }) => entry);
}

function rankOf(entry: GroupEntry | RoleEntry, order: SortOrder): number {
  const metadata = metadataOf(entry);
  if (order === 'name') return 0;
  if (order === 'creation') {
    const time = metadata === undefined ? Number.NaN : Date.parse(metadata.creationTime);
    return Number.isNaN(time) ? Number.POSITIVE_INFINITY : -time;
  }
  if (metadata === undefined) return 2; // Not listed: its health is unknown.
  const attention = attentionOf(metadata);
  if (attention !== undefined) return attention === 'error' ? 0 : 1;
  return metadata.healthStatus === 'healthy' ? 3 : 2;
}

function metadataOf(entry: GroupEntry | RoleEntry): AccessMetadata | undefined {
  return 'group' in entry ? entry.group.metadata : entry.role?.metadata;
}

function nameOf(entry: GroupEntry | RoleEntry): string {
  return metadataOf(entry)?.name ?? entry.key;
}

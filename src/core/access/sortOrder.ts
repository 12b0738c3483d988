export const SORT_ORDERS = ['service', 'name', 'creation', 'health'] as const;
/** `service`: as the service sends them. `creation`: the newest first. `health`: what needs attention first. */
export type SortOrder = (typeof SORT_ORDERS)[number];

import { grantKinds } from './kinds/grants.ts';
import { holderKinds } from './kinds/holders.ts';
import type { Kind, Kinds } from './kinds/kind.ts';
import { resourceKinds } from './kinds/resources.ts';

/** Every kind of rule: what it says, its keys and how it is judged. Reading, completion, hover, the schema and the docs come from here. */
export const KINDS: Kinds = { ...holderKinds, ...grantKinds, ...resourceKinds };

export function kindOf(name: string | undefined): Kind | undefined {
  return name !== undefined && Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

import { BIG_SKY, bigSky } from './bigSky.ts';
import { MERIDIAN } from './meridian.ts';
import type { Organization } from './resources.ts';

const EMPTY_NEST: Organization = {
  id: 'empty-nest',
  name: 'Empty Nest',
  description: 'An organization nobody has set up yet.',
  creationTime: '2026-02-28T12:00:00Z',
  groups: [],
  roles: [],
};

type List = 'groups' | 'roles';

/** The organizations of one sandbox; every answer is serialized once, on first demand. */
export class Organizations {
  readonly #make: Map<string, () => Organization>;
  readonly #summaries: readonly Omit<Organization, List>[];
  readonly #made = new Map<string, Organization>();
  readonly #bodies = new Map<string, Buffer>();

  constructor(size: { groups: number; roles: number }) {
    this.#make = new Map([
      [MERIDIAN.id, () => MERIDIAN],
      [EMPTY_NEST.id, () => EMPTY_NEST],
      [BIG_SKY.id, () => bigSky(size.groups, size.roles)],
    ]);
    this.#summaries = [MERIDIAN, EMPTY_NEST, BIG_SKY];
  }

  get ids(): string[] {
    return [...this.#make.keys()];
  }

  /**
   * The JSON body of a list operation, or `undefined` for an unknown organization. No groups are `[]` while no roles
   * are `null`: that is what the specified version of the service sends (what servers of this kind do).
   */
  body(id: string, list: List): Buffer | undefined {
    const make = this.#make.get(id);
    if (make === undefined) return undefined;
    const key = `${id}/${list}`;
    let body = this.#bodies.get(key);
    if (body === undefined) {
      const organization = this.#made.get(id) ?? make();
      this.#made.set(id, organization);
      const items = organization[list];
      body = Buffer.from(list === 'roles' && items.length === 0 ? 'null' : JSON.stringify(items));
      this.#bodies.set(key, body);
    }
    return body;
  }

  /** The unspecified list of organizations: `[{metadata, spec: {}}]`, only those named. */
  summaries(ids: readonly string[]): object[] {
    return this.#summaries
      .filter((summary) => ids.includes(summary.id))
      .map(({ id, name, description, creationTime }) => ({
        metadata: { id, name, description, creationTime, provisioningStatus: 'provisioned', healthStatus: 'healthy' },
        spec: {},
      }));
  }
}

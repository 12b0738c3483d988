import type { Group, HealthStatus, Organization, ProvisioningStatus, Role, Subject } from './resources.ts';

const ID = 'big-sky';
const ISSUER = 'https://accounts.big-sky.example';
const START = Date.UTC(2020, 0, 1);
const MEMBERSHIPS = 5;
const PROVISIONING: readonly [ProvisioningStatus, ...ProvisioningStatus[]] = [
  'provisioned',
  'provisioning',
  'deprovisioning',
  'error',
  'unknown',
];
const HEALTH: readonly [HealthStatus, ...HealthStatus[]] = ['healthy', 'degraded', 'error', 'unknown'];
const TEAMS = ['atlas', 'borealis', 'cirrus', 'delta', 'ember', 'fjord', 'granite', 'harbor'] as const;
const FUNCTIONS = ['developers', 'operators', 'readers', 'auditors', 'release', 'on-call'] as const;

/** A small deterministic generator (mulberry32), so that every start of the sandbox tells the same organization. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const identifier = (prefix: string, number: number): string =>
  `${prefix}-b195-4000-8000-${String(number).padStart(12, '0')}`;

/** Nine of ten are as they should be; every tenth takes the next of the other values. */
function everyTenth<T>(values: readonly [usual: T, ...others: T[]], number: number, offset: number): T {
  const [usual, ...others] = values;
  return number % 10 === offset ? (others[Math.floor(number / 10) % others.length] ?? usual) : usual;
}

function makeRole(number: number): Role {
  return {
    metadata: {
      id: identifier('20000000', number),
      name: `role-${String(number).padStart(4, '0')}`,
      description: `Generated role ${number}.`,
      creationTime: new Date(START + number * 3_600_000).toISOString(),
      provisioningStatus: everyTenth(PROVISIONING, number, 0),
      healthStatus: everyTenth(HEALTH, number, 5),
    },
  };
}

function makeGroup(below: (limit: number) => number, number: number, people: number, roles: readonly Role[]): Group {
  const members = new Set<number>();
  const size = below(2 * MEMBERSHIPS + 1);
  while (members.size < Math.min(size, people)) members.add(below(people));
  const held = new Set<string>();
  for (let left = Math.min(1 + below(3), roles.length); left > 0; left--) {
    const role = roles[below(roles.length)];
    if (role !== undefined) held.add(role.metadata.id);
  }
  const team = TEAMS[below(TEAMS.length)] ?? TEAMS[0];
  const subjects = [...members].map(
    (member): Subject => ({ id: `sub-${member}`, email: `person-${member}@big-sky.example`, issuer: ISSUER }),
  );
  return {
    metadata: {
      id: identifier('90000000', number),
      name: `${team}-${FUNCTIONS[below(FUNCTIONS.length)] ?? FUNCTIONS[0]}-${String(number).padStart(5, '0')}`,
      description: `Generated group ${number} of team ${team}.`,
      tags: [{ name: 'team', value: team }],
      creationTime: new Date(START + number * 60_000).toISOString(),
      createdBy: 'ada.moreau@meridian.example',
      provisioningStatus: everyTenth(PROVISIONING, number, 0),
      healthStatus: everyTenth(HEALTH, number, 5),
      organizationId: ID,
    },
    spec: {
      subjects,
      userIDs: [...members].map((member) => identifier('7e1c0000', member)),
      serviceAccountIDs: below(10) === 0 ? [identifier('5eac0000', below(50))] : [],
      roleIDs: [...held],
    },
  };
}

/**
 * An organization of any size: `groups` groups with five memberships each on average, `roles` roles. The same numbers
 * give the same organization, byte for byte.
 */
export function bigSky(groups: number, roles: number): Organization {
  const below = generator(groups * 7919 + roles);
  const people = Math.max(10, Math.ceil(groups / 2));
  const roleList = Array.from({ length: roles }, (_, index) => makeRole(index + 1));
  return {
    ...BIG_SKY,
    groups: Array.from({ length: groups }, (_, index) => makeGroup(below, index + 1, people, roleList)),
    roles: roleList,
  };
}

/** What is known of the organization before it is generated. */
export const BIG_SKY = {
  id: ID,
  name: 'Big Sky',
  description: 'A generated organization, as large as the sandbox was asked for.',
  creationTime: new Date(START).toISOString(),
} as const;

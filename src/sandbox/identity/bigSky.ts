import type { Group, HealthStatus, Organization, ProvisioningStatus, Role, Subject } from './resources.ts';

const ID = 'big-sky';
const ISSUER = 'https://accounts.big-sky.example';
const START = Date.UTC(2020, 0, 1);
const AVERAGE_MEMBERS = 5;
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

/** A deterministic random number generator (mulberry32), so that every run generates the same organization. */
function createGenerator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  };
}

const identifier = (prefix: string, number: number): string =>
  `${prefix}-b195-4000-8000-${String(number).padStart(12, '0')}`;

/** The usual value for nine of ten numbers; every tenth number gets one of the others in turn. */
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

function makeGroup(
  randomBelow: (limit: number) => number,
  number: number,
  people: number,
  roles: readonly Role[],
): Group {
  const members = new Set<number>();
  const size = randomBelow(2 * AVERAGE_MEMBERS + 1);
  while (members.size < Math.min(size, people)) members.add(randomBelow(people));
  const roleIds = new Set<string>();
  for (let remaining = Math.min(1 + randomBelow(3), roles.length); remaining > 0; remaining--) {
    const role = roles[randomBelow(roles.length)];
    if (role !== undefined) roleIds.add(role.metadata.id);
  }
  const team = TEAMS[randomBelow(TEAMS.length)] ?? TEAMS[0];
  const subjects = [...members].map(
    (member): Subject => ({ id: `sub-${member}`, email: `person-${member}@big-sky.example`, issuer: ISSUER }),
  );
  return {
    metadata: {
      id: identifier('90000000', number),
      name: `${team}-${FUNCTIONS[randomBelow(FUNCTIONS.length)] ?? FUNCTIONS[0]}-${String(number).padStart(5, '0')}`,
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
      serviceAccountIDs: randomBelow(10) === 0 ? [identifier('5eac0000', randomBelow(50))] : [],
      roleIDs: [...roleIds],
    },
  };
}

/**
 * Generates an organization with `groups` groups, which have five members on average, and `roles` roles. The same
 * numbers always produce the same organization, byte for byte.
 */
export function bigSky(groups: number, roles: number): Organization {
  const randomBelow = createGenerator(groups * 7919 + roles);
  const people = Math.max(10, Math.ceil(groups / 2));
  const roleList = Array.from({ length: roles }, (_, index) => makeRole(index + 1));
  return {
    ...BIG_SKY,
    groups: Array.from({ length: groups }, (_, index) => makeGroup(randomBelow, index + 1, people, roleList)),
    roles: roleList,
  };
}

/** The properties that do not have to be generated. */
export const BIG_SKY = {
  id: ID,
  name: 'Big Sky',
  description: 'A generated organization, as large as the sandbox was asked for.',
  creationTime: new Date(START).toISOString(),
} as const;

// Organizations of any size for benchmarks, as the identity service would send them: the same numbers give the same one.

/** A small deterministic generator (xorshift32). */
function generator(seed: number): (below: number) => number {
  let state = seed || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const pad = (number: number) => String(number).padStart(12, '0');
const groupId = (number: number) => `6f1d0c2a-7b1e-4c55-9a10-${pad(number)}`;
const roleId = (number: number) => `c0a81f9e-1111-4f7a-8d20-${pad(number)}`;
const userId = (number: number) => `0b5d7a64-2222-4e02-b7c4-${pad(number)}`;

/** `groups` groups with `memberships` memberships in all, half subjects and half users, each granting two roles or so. */
export function bigOrganization(groups: number, roles: number, memberships: number) {
  const below = generator(groups + 31 * roles);
  const people = Math.ceil(groups / 2);
  const each = Math.floor(memberships / groups / 2);
  const times = { creationTime: '2025-03-10T09:24:00Z', provisioningStatus: 'provisioned' };
  const list = Array.from({ length: groups }, (_, number) => {
    const members = Array.from({ length: each }, () => below(people));
    return {
      metadata: {
        id: groupId(number),
        name: `team-${number % 97}-operators-${number}`,
        description: `Operators of product ${number % 97}, region ${number % 12}.`,
        ...times,
        healthStatus: number % 20 === 0 ? 'degraded' : 'healthy',
        organizationId: 'big',
        createdBy: 'administrator@big.example',
        // Optional members are often absent.
        ...(number % 2 === 0 && { tags: [{ name: 'env', value: number % 4 === 0 ? 'prod' : 'dev' }] }),
      },
      spec: {
        subjects: members.map((member) => ({
          id: `auth0|${pad(member)}`,
          email: `person.${member}@big.example`,
          issuer: 'https://accounts.big.example',
        })),
        userIDs: members.map(userId),
        serviceAccountIDs: [],
        roleIDs: Array.from({ length: 1 + below(3) }, () => roleId(below(roles))),
      },
    };
  });
  const roleList = Array.from({ length: roles }, (_, number) => ({
    metadata: {
      id: roleId(number),
      name: `role-${number}`,
      description: `May do ${number} things.`,
      ...times,
      healthStatus: 'healthy',
    },
  }));
  return { groups: JSON.stringify(list), roles: JSON.stringify(roleList) };
}

// Ten thousand groups: what it costs to list and check them, to join them, to filter them, and to keep them.
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { applyFilter, parseFilter } from '../../src/core/access/filter.ts';
import { peopleMatrix } from '../../src/core/access/matrix.ts';
import { type AccessModel, buildModel } from '../../src/core/access/model.ts';
import { orphansOf } from '../../src/core/access/queries.ts';
import { IdentityClient } from '../../src/core/identity/identityClient.ts';
import type { Group, Listing, Role } from '../../src/core/identity/schemas.ts';
import { readAccessFile } from '../../src/core/rules/accessFile.ts';
import { checkAccess } from '../../src/core/rules/checkAccess.ts';
import { silentLog } from '../support/silentLog.ts';
import { type Figure, median } from './figure.ts';
import { bigOrganization } from './organization.ts';

const GROUPS = 10_000;
const ROLES = 200;
const MEMBERSHIPS = 50_000;
const ROUNDS = 15;
const FILTERS = ['operators', 'person.123', 'tag:env=prod', 'member:person.4 -health:degraded', 'role:role-17 team-5'];

export async function identityBench(): Promise<Figure[]> {
  const organization = bigOrganization(GROUPS, ROLES, MEMBERSHIPS);
  const bytes = { groups: Buffer.from(organization.groups), roles: Buffer.from(organization.roles) };
  const client = new IdentityClient({
    // Pieces of the size in which a socket gives them.
    fetch: async (url) => new Response(pieces(String(url).endsWith('/roles') ? bytes.roles : bytes.groups)),
    identityUrl: 'https://identity.example.com',
    tokens: { accessToken: async () => 'token', refreshAfter401: async () => undefined },
    log: silentLog,
    now: Date.now,
  });
  const { signal } = new AbortController();
  const groups = await client.groups('big', signal);
  const roles = await client.roles('big', signal);
  const join = () => buildModel(inputOf(groups, roles));
  const model = join();
  check(groups, model);

  const rules = readAccessFile(fiftyRules());
  const judge = () => checkAccess(rules, model, { now: 0 });
  checkRules(judge());

  const times = await interleaved({
    parse: () => JSON.parse(organization.groups),
    decodeAndParse: () => JSON.parse(new TextDecoder().decode(bytes.groups)),
    list: () => client.groups('big', signal),
    join,
    filter: () => FILTERS.map((text) => applyFilter(model, parseFilter(text)).groups.length),
    matrix: () => peopleMatrix(model),
    orphans: () => orphansOf(model),
    rules: judge,
  });
  const parse = 'bare JSON.parse of the same body of groups';
  const figure = (name: string, value: number, aim: number, against = parse, rival = times.parse): Figure => ({
    name,
    value,
    unit: 'ms',
    against,
    ratio: value / rival,
    aim,
    higherIsBetter: false,
  });
  const memory = await memoryOf(organization.groups, client, signal, roles);
  return [
    figure('list and check 10,000 groups', times.list, 2.5),
    figure('list and check 10,000 groups', times.list, 2, 'decoding and parsing the same bytes', times.decodeAndParse),
    figure('build the access model (50,000 memberships)', times.join, 2),
    figure('filter all of it, one filter', times.filter / FILTERS.length, 0.35),
    figure('people × roles as rows', times.matrix, 1),
    figure('find the orphans', times.orphans, 0.25),
    figure('check 50 access rules', times.rules, 10, 'one filter', times.filter / FILTERS.length),
    ...memory,
  ];
}

export const bench = identityBench;

/** A benchmark of something that does not work says nothing. */
function check(groups: Listing<Group>, model: AccessModel): void {
  assert.equal(groups.items.length, GROUPS);
  assert.equal(groups.malformed.length, 0);
  assert.equal(model.groups.length, GROUPS);
  assert.equal(model.roles.length, ROLES);
  for (const text of FILTERS) {
    const left = applyFilter(model, parseFilter(text)).groups.length;
    assert.ok(left > 0, text);
  }
}

/** Rules of every kind; most find nothing, as in an organization that is looked after. */
function fiftyRules(): string {
  const kinds = [
    'kind: separation-of-duties, roles: [role-1, role-2]',
    'kind: max-holders, role: role-3, max: 100000',
    'kind: min-holders, role: role-4, min: 1',
    'kind: allowed-holders, role: role-5, holders: ["person.*@big.example", "user:x"]',
    'kind: forbidden-holders, role: role-6, holders: ["person.1@big.example"]',
    'kind: only-through, role: role-7, groups: ["team-*"]',
    'kind: service-accounts-only-in, groups: ["team-1-*"]',
    'kind: member-kinds, groups: ["team-*"], allow: [subject, user]',
    'kind: no-empty-groups',
    'kind: no-groups-without-roles',
    'kind: no-unlisted-roles',
    'kind: no-unused-roles',
    'kind: naming, of: groups, match: ["team-*-operators-*"]',
    'kind: required-tags, tags: [env]',
    'kind: no-unhealthy, of: roles',
    'kind: no-stuck-deletion, of: groups',
  ];
  const rules = Array.from({ length: 50 }, (_, at) => `  - { id: rule-${at}, ${kinds[at % kinds.length]} }\n`);
  return `format: rolecall.access-rules\nversion: 1\norganization: big\nidentity: { userIds: duplicates }\nrules:\n${rules.join('')}`;
}

function checkRules({ rules, problems }: ReturnType<typeof checkAccess>): void {
  assert.deepEqual([rules.length, problems.filter(({ severity }) => severity === 'error')], [50, []]);
  assert.ok(rules.some(({ status }) => status === 'fail') && rules.some(({ status }) => status === 'pass'));
}

function inputOf(groups: Listing<Group>, roles: Listing<Role>) {
  const reading = { malformed: 0, at: 0 };
  return {
    organization: 'big',
    groups: { ...reading, items: groups.items },
    roles: { ...reading, items: roles.items },
  };
}

function pieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 65_536));
      at += 65_536;
    },
  });
}

/** Milliseconds of each way: the median of rounds in which every way has its turn; the first rounds only warm up. */
async function interleaved<K extends string>(ways: Record<K, () => unknown>): Promise<Record<K, number>> {
  const rounds = new Map<K, number[]>();
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const [name, run] of Object.entries(ways) as [K, () => unknown][]) {
      collect();
      const began = performance.now();
      await run();
      if (round >= 0) rounds.set(name, [...(rounds.get(name) ?? []), performance.now() - began]);
    }
  }
  return Object.fromEntries([...rounds].map(([name, values]) => [name, median(values)])) as Record<K, number>;
}

/** Bytes of the heap for one group, beside what the parsed JSON alone takes. */
async function memoryOf(
  body: string,
  client: IdentityClient,
  signal: AbortSignal,
  roles: Listing<Role>,
): Promise<Figure[]> {
  const kept: unknown[] = [];
  const grown = async (make: () => unknown): Promise<number> => {
    collect();
    const before = process.memoryUsage().heapUsed;
    kept.push(await make());
    collect();
    return (process.memoryUsage().heapUsed - before) / GROUPS;
  };
  const parsed = await grown(() => JSON.parse(body));
  let listing: Listing<Group> | undefined;
  const listed = await grown(async () => {
    listing = await client.groups('big', signal);
    return listing;
  });
  const joined = listed + (await grown(() => listing && buildModel(inputOf(listing, roles))));
  const against = 'the parsed JSON of the same body';
  const figure = (name: string, value: number, aim: number): Figure => {
    return { name, value, unit: 'bytes', against, ratio: value / parsed, aim, higherIsBetter: false };
  };
  return [figure('memory of one group, listed', listed, 1.3), figure('memory of one group, joined too', joined, 2)];
}

/** Collects garbage, so that nobody pays for what another left. */
const collect: () => void = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();

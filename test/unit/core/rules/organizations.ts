import type { AccessGroup, AccessInput, AccessRole } from '../../../../src/core/access/model.ts';
import { type AccessModel, buildModel } from '../../../../src/core/access/model.ts';
import { type CheckResult, checkAccess } from '../../../../src/core/rules/checkAccess.ts';
import type { FindingSubject } from '../../../../src/core/rules/kinds/kind.ts';
import { group, input, role } from '../access/organizations.ts';

export const NOON = Date.UTC(2026, 10, 22, 12);

const ISSUER = 'https://id.acme.example';

/** `ada@acme` as a subject of the organization's issuer. */
export function person(email: string, issuer = ISSUER) {
  const [name = ''] = email.split('@');
  return { id: `sub-${name}`, email, issuer };
}

type Outline = Parameters<typeof group>[1];

/** An organization by hand: `{ ops: { people: 'ada ben', roles: 'admin' } }`; each name is its id with `g-` and `r-` before it. */
export interface Outlines {
  readonly [name: string]: Omit<NonNullable<Outline>, 'roles' | 'users' | 'accounts'> & {
    readonly people?: string;
    readonly users?: string;
    readonly accounts?: string;
    readonly roles?: string;
  };
}

const words = (text = '') => text.split(' ').filter(Boolean);

export function groupsOf(outlines: Outlines): AccessGroup[] {
  return Object.entries(outlines).map(([name, { people, users, accounts, roles, ...rest }]) =>
    group(`g-${name}`, {
      name,
      ...rest,
      subjects: rest.subjects ?? words(people).map((one) => person(`${one}@acme.example`)),
      users: words(users),
      accounts: words(accounts),
      roles: words(roles).map((one) => `r-${one}`),
    }),
  );
}

export function rolesOf(names: string): AccessRole[] {
  return words(names).map((name) => role(`r-${name}`, { name }));
}

export const ROLES = 'admin auditor billing viewer';

export function acme(
  outlines: Outlines,
  roles: string = ROLES,
  change: (input: AccessInput) => AccessInput = (it) => it,
): AccessModel {
  return buildModel(change(input(groupsOf(outlines), rolesOf(roles))));
}

/** A file about acme: its head, and what follows. */
export function file(body: string): string {
  return `format: rolecall.access-rules\nversion: 1\norganization: acme\n${body}`;
}

export function check(body: string, model: AccessModel, now = NOON): CheckResult {
  return checkAccess(file(body), model, { now });
}

function nameOf(subject: FindingSubject): string {
  switch (subject.kind) {
    case 'principal':
      return subject.principals
        .map(({ email, id }) => email?.split('@')[0] ?? id)
        .sort()
        .join('+');
    case 'group':
      return subject.group.group.metadata.name;
    case 'role':
      return subject.role.role?.metadata.name ?? subject.role.id;
    case 'aspect':
      return subject.name;
  }
}

/** What a check of one rule comes to: its status, then its findings as `subject subject`, with a `~` before waived ones. */
export function outcome(result: CheckResult): string {
  const lines = result.rules.map(({ status, findings }) => {
    const found = findings.map((finding) => {
      const names = finding.subjects.map(nameOf);
      return `${finding.waiver ? '~' : ''}${names.join(' ')}`;
    });
    return [`${status}:`, ...found.sort()].join(' ').replace(/:$/, '');
  });
  const drift = result.drift?.findings.map(({ kind }) => kind) ?? [];
  return [...lines, ...drift.sort()].join('; ');
}

/** Problems as `code "the text it marks"`. */
export function problemsOf(result: CheckResult): string[] {
  return result.problems.map(({ code, start, end }) => `${code} ${JSON.stringify(result.file.text.slice(start, end))}`);
}

import type { AccessModel, GroupEntry, Principal } from '../access/model.ts';
import { emailOf, lowerCaseAscii } from './references.ts';

/** Whether user IDs beside subjects list the same people twice, according to the file. */
export type UserIdRelation = 'unknown' | 'duplicates' | 'separate';
export const USER_ID_RELATIONS: readonly UserIdRelation[] = ['unknown', 'duplicates', 'separate'];

/** A person whose entries the file links. */
export interface Person {
  readonly name: string;
  readonly principals: readonly Principal[];
  readonly hasUserId: boolean;
}

/**
 * Knows which entries are the same human. Servers list members as subjects and as user IDs without a link between them:
 * two entries that the file does not link can be one human or two.
 */
export class People {
  readonly identity: UserIdRelation;
  readonly #personOf = new Map<Principal, Person>();
  readonly #personByEmail = new Map<string, Person>();

  constructor(identity: UserIdRelation, people: readonly Person[]) {
    this.identity = identity;
    for (const person of people) {
      for (const principal of person.principals) {
        this.#personOf.set(principal, person);
        const email = emailOf(principal);
        if (email !== undefined) this.#personByEmail.set(lowerCaseAscii(email), person);
      }
    }
  }

  /** Whether the file links any entries. */
  get areLinked(): boolean {
    return this.#personOf.size > 0;
  }

  personOf(principal: Principal): Person | undefined {
    return this.#personOf.get(principal);
  }

  /** The same value for principals that are one human: linked by the file, or with the same email address. */
  humanOf(principal: Principal): Person | string {
    const person = this.#personOf.get(principal);
    if (person !== undefined || principal.kind === 'serviceAccount') return person ?? principal.key;
    const email = emailOf(principal);
    if (email === undefined) return principal.key;
    const address = lowerCaseAscii(email);
    return this.#personByEmail.get(address) ?? `email\n${address}`;
  }

  isUnlinkedUser(principal: Principal): boolean {
    return principal.kind === 'user' && !this.#personOf.has(principal);
  }

  isUnlinkedSubject(principal: Principal): boolean {
    return principal.kind === 'subject' && !this.#personOf.has(principal);
  }

  /** Whether an entry may repeat a subject that the same group lists, in every one of these groups. */
  isTwinIn(principal: Principal, groups: readonly GroupEntry[]): boolean {
    return this.isUnlinkedUser(principal) && groups.every(listsSubjects);
  }
}

export function listsSubjects({ group }: GroupEntry): boolean {
  return group.spec.subjects.length > 0;
}

export function listsUsers({ group }: GroupEntry): boolean {
  return group.spec.userIDs.length > 0;
}

/** The evidence for `duplicates`: of the groups that list people in both ways, how many list equally many. */
export function duplicatesEvidence({ groups }: AccessModel): { readonly equal: number; readonly all: number } {
  const both = groups.filter((entry) => listsSubjects(entry) && listsUsers(entry));
  const isEqual = ({ group: { spec } }: GroupEntry) =>
    new Set(spec.subjects.map(({ issuer, id }) => `${issuer}\n${id}`)).size === new Set(spec.userIDs).size;
  return { equal: both.filter(isEqual).length, all: both.length };
}

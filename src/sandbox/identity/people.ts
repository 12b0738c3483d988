import type { SandboxPerson } from '../types.ts';

/** A person who can sign in, and their organizations. */
export interface Person extends SandboxPerson {
  /** Organizations whose groups and roles this person may read. */
  administers: readonly string[];
  /** Organizations that this person belongs to without being allowed to read groups and roles. */
  belongsTo: readonly string[];
}

/**
 * The people who can sign in. There are no passwords: the sign-in page lists the people by name. Between them, they
 * receive every kind of answer to the two list operations: a list with items, an empty list and 403.
 */
export const PEOPLE: readonly Person[] = [
  {
    id: '5d0f3c1a-7b52-4f0e-9c43-1f6f2f7c8a01',
    name: 'Ada Moreau',
    email: 'ada.moreau@meridian.example',
    about: 'Administrator of Meridian and Big Sky. Sees every group and role.',
    administers: ['meridian', 'big-sky'],
    belongsTo: [],
  },
  {
    id: '8e2a9d64-0c1b-4a77-b5de-6a3b9c5f2e02',
    name: 'Ben Okafor',
    email: 'ben.okafor@meridian.example',
    about: 'Ordinary user of Meridian. Isn’t allowed to see groups and roles.',
    administers: [],
    belongsTo: ['meridian'],
  },
  {
    id: 'c47b1e90-3f68-4d2c-8a15-9d0e7b6a4f03',
    name: 'Chiara Lindqvist',
    email: 'chiara@empty-nest.example',
    about: 'Administrator of Empty Nest, an organization without groups or roles.',
    administers: ['empty-nest'],
    belongsTo: [],
  },
];

export function personById(id: string): Person | undefined {
  return PEOPLE.find((person) => person.id === id);
}

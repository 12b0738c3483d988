import type { SandboxPerson } from '../types.ts';

/** A person together with the organizations the service shows them. */
export interface Person extends SandboxPerson {
  /** Organizations whose groups and roles this person may read. */
  administers: readonly string[];
  /** Organizations this person belongs to without any privilege to read groups and roles. */
  belongsTo: readonly string[];
}

/**
 * Who can sign in. Nobody has a password: the sign-in page offers the three by name. Between them they reach every
 * answer of the two list operations: a full list, 403, and the empty list.
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

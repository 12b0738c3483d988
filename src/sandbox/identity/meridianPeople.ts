import { PEOPLE } from './people.ts';
import type { Subject } from './resources.ts';

/**
 * The users of the hand-written organization. In a group a person stands twice, as the specification allows: as a
 * subject (id and perhaps e-mail address, given by the issuer) and as an organization user (`userIDs`).
 */
interface User {
  userId: string;
  subject: Subject;
}

const COMPANY = 'https://accounts.meridian.example';
const PARTNER = 'https://login.partner.example/realms/main';

function user(number: number, id: string, email?: string, issuer = COMPANY): User {
  const userId = `7e1c0000-5a5e-4000-8000-${String(number).padStart(12, '0')}`;
  return { userId, subject: email === undefined ? { id, issuer } : { id, email, issuer } };
}

const [ada, ben] = PEOPLE;

export const USERS = {
  ada: user(1, ada?.id ?? '', ada?.email),
  ben: user(2, ben?.id ?? '', ben?.email),
  dora: user(3, '1b8f2c70-dora', 'dora.haddad@meridian.example'),
  emil: user(4, '1b8f2c70-emil', 'emil.novak@meridian.example'),
  fatou: user(5, '1b8f2c70-fatou', 'fatou.diallo@meridian.example'),
  goran: user(6, '1b8f2c70-goran', 'goran.petrov@meridian.example'),
  hana: user(7, '1b8f2c70-hana', 'hana.sato@meridian.example'),
  ines: user(8, '1b8f2c70-ines', 'ines.carvalho@meridian.example'),
  // The partner's issuer tells no e-mail addresses.
  jonas: user(9, 'auth0|64b7f0d2a1', undefined, PARTNER),
  kira: user(10, 'auth0|64b7f0d2b2', undefined, PARTNER),
} as const;

export type UserName = keyof typeof USERS;

export const SERVICE_ACCOUNTS = {
  ci: '5eac0000-acc0-4000-8000-000000000001',
  backup: '5eac0000-acc0-4000-8000-000000000002',
  monitoring: '5eac0000-acc0-4000-8000-000000000003',
  terraform: '5eac0000-acc0-4000-8000-000000000004',
} as const;

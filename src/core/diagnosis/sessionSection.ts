import type { Diagnosis, SessionFact, SharedFact, StoreFact } from './facts.ts';
import { linesFor } from './gathered.ts';
import { code, type Line, type Section, timeOf } from './markdown.ts';

export function sessionSection({ store, session, shared, at }: Diagnosis): Section {
  return {
    title: 'Session',
    lines: [
      ...linesFor('Secret store', store, storeLines),
      ...linesFor('Session', session, (fact) => sessionLines(fact, at)),
      ...linesFor('Shared state', shared, sharedLines),
    ],
  };
}

function storeLines(fact: StoreFact): Line[] {
  const text = fact.kind === 'writable' ? 'can be written and read' : `can be read; not written to: ${fact.why}`;
  return [{ label: 'Secret store', text }];
}

const WAYS_OUT: Readonly<Record<string, string>> = {
  ended: 'Sign in again. If it comes back, another machine or editor may use the same client: give each its own.',
  storeUnavailable: 'Nothing was signed out. Follow the sentence above, then reload the window.',
  offline: 'You are still signed in; Rolecall tries again by itself. Look at the services above.',
};

function sessionLines({ state, reason, generation, expiresAt, isRenewable }: SessionFact, now: number): Line[] {
  const wayOut = Object.hasOwn(WAYS_OUT, state) ? WAYS_OUT[state] : undefined;
  const lines: Line[] = [
    {
      label: 'Session',
      text: code(state) + (reason === undefined ? '' : `: ${code(reason)}`),
      ...(wayOut !== undefined && { finding: wayOut }),
    },
  ];
  if (generation === undefined) return lines;
  return [
    ...lines,
    { label: 'Generation', text: String(generation) },
    {
      label: 'Access',
      text: expiresAt === undefined ? 'until the service refuses it' : `until ${timeOf(expiresAt, now)}`,
    },
    { label: 'Renewal', text: isRenewable === false ? 'not possible: a service token' : 'by itself' },
  ];
}

function sharedLines({ path, folder, generation, isSignedOut, windows, holder }: SharedFact): Line[] {
  const label = 'Shared folder';
  if (!folder) return [{ label, text: `${code(path)} does not exist yet: nobody has signed in` }];
  const isOpen = folder.mode !== undefined && !folder.mode.endsWith('00');
  const finding = folder.isOurs
    ? 'Others can look into the folder. Rolecall closes it when it is used next.'
    : 'The folder is not a folder of this user, and Rolecall does not use it. Remove or repair it.';
  return [
    {
      label,
      text: `${code(path)}${folder.mode === undefined ? '' : `, mode ${code(folder.mode)}`}`,
      ...((isOpen || !folder.isOurs) && { finding }),
    },
    {
      label: 'Shared generation',
      text: generation === undefined ? 'none' : `${generation}${isSignedOut ? ', signed out' : ''}`,
    },
    { label: 'Windows', text: String(windows) },
    holderLine(holder),
  ];
}

function holderLine(holder: SharedFact['holder']): Line {
  const label = 'Renewed now by';
  if (holder.kind === 'nobody') return { label, text: 'nobody' };
  const who = holder.isThisWindow ? 'this window' : `the window with process id ${holder.pid}`;
  if (holder.answers) return { label, text: who };
  return {
    label,
    text: `${who}, which does not answer`,
    finding: 'That window is stopped, asleep or very busy, and nobody renews behind its back. Continue or close it.',
  };
}

import * as z from 'zod/mini';

/**
 * Which format a window writes to files and sockets, and the oldest reader that still understands it. After an update
 * two versions run side by side: a reader takes what it understands, ignores members it does not know, and leaves the
 * rest alone.
 */
export interface Protocol {
  readonly version: number;
  readonly oldest: number;
  /** Members that only later versions know, written beside ours. */
  readonly extras?: Readonly<Record<string, unknown>>;
}

export const PROTOCOL: Protocol = { version: 1, oldest: 1 };

/** The members in every file and greeting. */
export const protocolShape = { version: z.number(), oldest: z.number() };

/** True when a reader of `ours` may use what a writer of `theirs` wrote. */
export function canRead(ours: Protocol, theirs: Protocol): boolean {
  return theirs.oldest <= ours.version;
}

/** True when two windows can talk to each other. */
export function canTalk(ours: Protocol, theirs: Protocol): boolean {
  return canRead(ours, theirs) && canRead(theirs, ours);
}

/** What `protocol` adds to a file or greeting. */
export function protocolFields({ version, oldest, extras }: Protocol): Record<string, unknown> {
  return { ...extras, version, oldest };
}

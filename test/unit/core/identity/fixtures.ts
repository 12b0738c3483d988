import { readFileSync } from 'node:fs';

/** A body as a server sends it, written by hand after the specification. */
export const fixtureText = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/identity/${name}`, import.meta.url), 'utf8');

export const fixture = (name: string) => JSON.parse(fixtureText(name));

import path from 'node:path';
import * as z from 'zod/mini';
import { readIfAny, replaceWhole } from '../rotation/files.ts';
import { parseJsonAs } from '../rotation/protocol.ts';

const NAME = 'allowed.json';
/** The oldest go first. */
const MAX_REMEMBERED = 50;

const allowedSchema = z.object({
  version: z.literal(1),
  programs: z.array(
    z.object({
      /** Of the program's public key. */
      fingerprint: z.string(),
      /** Of which sign-in: see `connectionKey`. */
      connection: z.string(),
      /** RFC 3339. */
      allowedAt: z.string(),
    }),
  ),
});

export type AllowedProgram = z.infer<typeof allowedSchema>['programs'][number];

/** The programs that the user has allowed. In a file, so that every window knows at once when one is forgotten. */
export class AllowedPrograms {
  readonly #file: string;
  readonly #now: () => number;

  /** @param folder A private folder; it exists before anything is added. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#file = path.join(folder, NAME);
    this.#now = now;
  }

  async list(): Promise<readonly AllowedProgram[]> {
    const text = (await readIfAny(this.#file))?.toString('utf8') ?? '';
    return parseJsonAs(allowedSchema, text)?.programs ?? [];
  }

  async has(fingerprint: string, connection: string): Promise<boolean> {
    return (await this.list()).some((each) => each.fingerprint === fingerprint && each.connection === connection);
  }

  async add(fingerprint: string, connection: string): Promise<void> {
    const others = (await this.list()).filter(
      (each) => each.fingerprint !== fingerprint || each.connection !== connection,
    );
    const added = { fingerprint, connection, allowedAt: new Date(this.#now()).toISOString() };
    await this.#write([...others, added].slice(-MAX_REMEMBERED));
  }

  /** @returns how many were forgotten. */
  async clear(): Promise<number> {
    const { length } = await this.list();
    if (length > 0) await this.#write([]);
    return length;
  }

  async #write(programs: readonly AllowedProgram[]): Promise<void> {
    await replaceWhole(this.#file, JSON.stringify({ version: 1, programs }), true);
  }
}

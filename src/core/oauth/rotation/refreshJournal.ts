import * as z from 'zod/mini';
import { parseJsonAs } from '../../base/json.ts';
import { TRANSIENT_KINDS } from './backOff.ts';
import { readFileIfExists, replaceFileAtomically } from './files.ts';

/** A `SharedFailure`. */
const failureSchema = z.object({
  generation: z.number(),
  kind: z.enum(TRANSIENT_KINDS),
  message: z.string(),
  at: z.number(),
  until: z.number(),
  times: z.number(),
});

const entrySchema = z.object({
  /** The generation whose refresh token was sent while its answer was not stored; 0 when there is none. */
  generation: z.number(),
  /** True when an answer came, though not one that says whether the token is spent. */
  answered: z.optional(z.boolean()),
  failure: z.optional(failureSchema),
});

type RefreshJournalEntry = z.infer<typeof entrySchema>;

const NOTHING: RefreshJournalEntry = { generation: 0 };

/**
 * A file in which a window tells the others about a refresh: that it has sent a refresh token, in case it dies before
 * the answer is stored; and that the refresh failed, so that they do not all try the same again. Written while holding
 * the mutex; read by anybody.
 */
export class RefreshJournal {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<RefreshJournalEntry> {
    return parseJsonAs(entrySchema, (await readFileIfExists(this.#file))?.toString() ?? '') ?? NOTHING;
  }

  async write(entry: RefreshJournalEntry): Promise<void> {
    await replaceFileAtomically(this.#file, JSON.stringify(entry), false);
  }
}

import * as z from 'zod/mini';
import { readMessage, type Unversioned } from '../protocol.ts';

/** Both sides come from one VSIX; the number distinguishes a page that outlived an update. */
export const PROTOCOL_VERSION = 2;

export const MODES = ['groups', 'people'] as const;
/** The kind of the rows. The columns are roles. */
export type Mode = (typeof MODES)[number];

/** The page's texts in the user's language; values replace `{0}` and so on. */
export const TEXT_NAMES = [
  'title',
  'rows',
  'groups',
  'people',
  'group',
  'person',
  'filter',
  'filterHint',
  'refresh',
  'reading',
  'legend',
  'granted',
  'grantedUnlisted',
  'notGranted',
  'unlisted',
  'finding',
  'groupCount',
  'peopleCount',
  'roleCount',
  'grantCount',
  'ofAll',
  'rowGrants',
  'columnGroups',
  'columnPeople',
  'samePeople',
] as const;
export type TextName = (typeof TEXT_NAMES)[number];

const text = z.string();
const texts = z.array(text);
const version = z.literal(PROTOCOL_VERSION);
const mode = z.enum(MODES);
const indices = z.instanceof(Uint32Array);
const message = <T extends string, S extends object>(type: T, shape: S) =>
  z.object({ version, type: z.literal(type), ...shape });

const toPageSchema = z.discriminatedUnion('type', [
  /** First of all. */
  message('texts', { texts: z.record(z.enum(TEXT_NAMES), text), locale: text }),
  /** All data, in the order of the access model. */
  message('matrix', {
    mode,
    /** The target of commands in the context menu. */
    organization: text,
    connection: text,
    /**
     * `labels` are drawn, with `notes` beside them; tooltips have `names`, which are whole, and `details`; `states` say how a note looks;
     * `findings`: what access rules find about it, one a line.
     */
    rows: z.object({
      kinds: texts,
      keys: texts,
      labels: texts,
      names: texts,
      details: texts,
      notes: texts,
      states: z.array(z.enum(['', 'error', 'degraded'])),
      findings: texts,
    }),
    columns: z.object({ keys: texts, labels: texts, details: texts, listed: z.array(z.boolean()), findings: texts }),
    /** One bit for each cell; see bitMatrix.ts. */
    bits: z.instanceof(Uint8Array),
  }),
  /** The remaining rows and columns, in the order in which they are shown: positions in the matrix of that mode. */
  message('view', {
    mode,
    rows: indices,
    columns: indices,
    filter: text,
    /** The `sequence` of the page's last filter that this view includes. */
    answered: z.number(),
    /** The text to show without rows. */
    empty: text,
  }),
  /** Why the data may be incomplete or outdated. */
  message('notices', {
    /** The time of the reading. */
    read: text,
    isReading: z.boolean(),
    notices: z.array(z.object({ kind: z.enum(['stale', 'partial', 'problem']), text })),
  }),
  /** The explanation of the active cell. */
  message('detail', { place: z.number(), text }),
]);

const key = z.nullable(text);

const toHostSchema = z.discriminatedUnion('type', [
  /** The page has begun, or has begun again: VS Code ends pages that are out of sight. */
  message('ready', { mode }),
  message('mode', { mode }),
  message('filter', { text: z.string().check(z.maxLength(4000)), sequence: z.number() }),
  message('refresh', {}),
  /** A row, a column, or a cell was chosen: keys of the access model. */
  message('reveal', { mode, row: key, column: key }),
  /** The active cell is this; `place` comes back with the detail. */
  message('active', { mode, row: key, column: key, place: z.number() }),
]);

type Of<T, K> = Extract<T, { readonly type: K }>;
export type ToPage = Unversioned<z.output<typeof toPageSchema>>;
export type ToHost = Unversioned<z.output<typeof toHostSchema>>;
export type MatrixMessage = Of<ToPage, 'matrix'>;
export type ViewMessage = Of<ToPage, 'view'>;
export type NoticesMessage = Of<ToPage, 'notices'>;

export const readToPage = (data: unknown): ToPage | undefined => readMessage(toPageSchema, data);
export const readToHost = (data: unknown): ToHost | undefined => readMessage(toHostSchema, data);

/** A message as it is posted. */
export const versioned = <T extends ToPage | ToHost>(content: T) => ({ version: PROTOCOL_VERSION, ...content });

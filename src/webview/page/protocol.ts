import * as z from 'zod/mini';
import { readMessage, type Unversioned } from '../protocol.ts';

/** Both sides come from one VSIX; the number distinguishes a page that outlived an update. */
export const PROTOCOL_VERSION = 4;

const text = z.string();
const version = z.literal(PROTOCOL_VERSION);

/** A piece of a line: plain text, and how it is shown. Only the editor knows the target of a link. */
const inlineSchema = z.union([
  text,
  z.strictObject({ strong: text }),
  z.strictObject({ small: text }),
  /** The number of the link, and what it does. */
  z.strictObject({ text, link: z.int(), title: text }),
]);
const lineSchema = z.array(inlineSchema);

const blockSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('heading'), text }),
  z.strictObject({ kind: z.literal('paragraph'), line: lineSchema }),
  z.strictObject({ kind: z.literal('notice'), text }),
  z.strictObject({ kind: z.literal('list'), lines: z.array(lineSchema) }),
  z.strictObject({ kind: z.literal('table'), columns: z.array(text), rows: z.array(z.array(lineSchema)) }),
]);

const partSchema = z.union([
  /** A model's text, rendered and not trusted: the page takes only what it allows. */
  z.strictObject({ html: text }),
  /** The same, if nothing can render it. */
  z.strictObject({ plain: text }),
  /** A line of Rolecall's own in an answer. */
  z.strictObject({ own: text }),
  z.strictObject({ blocks: z.array(blockSchema) }),
]);

const toPageSchema = z.object({
  version,
  type: z.literal('content'),
  /** Sent back with questions about the content: links are numbered anew in each. */
  revision: z.int(),
  /** Empty if there are only parts. */
  heading: text,
  about: lineSchema,
  /** All of it, in order. */
  parts: z.array(partSchema),
  /** False while more is expected. */
  isWhole: z.boolean(),
  /** In the user's language. */
  words: z.strictObject({
    /** Takes the place of a picture; its description replaces `{0}`. */
    picture: text,
  }),
});

const toHostSchema = z.discriminatedUnion('type', [
  /** The page has begun, or has begun again: VS Code ends pages that are out of sight. */
  z.object({ version, type: z.literal('ready') }),
  /** The user has chosen the link with this number. */
  z.object({ version, type: z.literal('follow'), revision: z.int(), link: z.int() }),
]);

export type ToPage = Unversioned<z.output<typeof toPageSchema>>;
export type ToHost = Unversioned<z.output<typeof toHostSchema>>;
export type PagePart = z.output<typeof partSchema>;
export type PageBlock = z.output<typeof blockSchema>;
export type PageLine = z.output<typeof lineSchema>;

export const readToPage = (data: unknown): ToPage | undefined => readMessage(toPageSchema, data);
export const readToHost = (data: unknown): ToHost | undefined => readMessage(toHostSchema, data);

/** A message as it is posted. */
export const versioned = <T extends ToPage | ToHost>(content: T) => ({ version: PROTOCOL_VERSION, ...content });

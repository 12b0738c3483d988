import * as z from 'zod/mini';

/** Both sides come from one VSIX; the number tells a page that outlived an update from one that did not. */
export const PROTOCOL_VERSION = 2;

const text = z.string();
const version = z.literal(PROTOCOL_VERSION);

const toPageSchema = z.object({
  version,
  type: z.literal('answer'),
  /** What was asked, and who was asked about what: plain text. Empty where the answer stands alone. */
  heading: text,
  about: text,
  /**
   * All of it, in order: what a model wrote, rendered and not to be trusted, of which the page takes what it allows, and lines
   * of Rolecall's own, plain.
   */
  parts: z.array(z.union([z.strictObject({ html: text }), z.strictObject({ own: text })])),
  /** False while more is to come. */
  isWhole: z.boolean(),
  /** What stands for a picture, in the user's language; `{0}` is what it is said to show. */
  picture: text,
});

/** The page has begun, or has begun again: VS Code ends pages that are out of sight. */
const toHostSchema = z.object({ version, type: z.literal('ready') });

type Unversioned<T> = Omit<T, 'version'>;
export type ToPage = Unversioned<z.output<typeof toPageSchema>>;
export type ToHost = Unversioned<z.output<typeof toHostSchema>>;

/** @returns `undefined` for what is not such a message, or of another version. */
export function readToPage(data: unknown): ToPage | undefined {
  const result = z.safeParse(toPageSchema, data);
  return result.success ? result.data : undefined;
}

/** @returns `undefined` for what is not such a message, or of another version. */
export function readToHost(data: unknown): ToHost | undefined {
  const result = z.safeParse(toHostSchema, data);
  return result.success ? result.data : undefined;
}

/** A message as it is posted. */
export function versioned<T extends ToPage | ToHost>(content: T): T & { readonly version: typeof PROTOCOL_VERSION } {
  return { version: PROTOCOL_VERSION, ...content };
}

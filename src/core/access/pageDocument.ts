import * as l10n from '@vscode/l10n';
import { oneLine } from '../base/text.ts';

/*
 * The content of a report about access, apart from its presentation: a page draws it, a file has it as Markdown. Names
 * come from a server, so no part of it is markup: a page makes text of every piece, and `documentMarkdown` escapes it.
 */

/** A piece of a line. `small` is what identifies something rather than names it: an ID, an issuer. */
export type Inline<L> =
  | string
  | { readonly strong: string }
  | { readonly small: string }
  /** A link; the host knows what it leads to. */
  | {
      readonly text: string;
      readonly link: L;
      /** Something to click, which is left out of copies. */
      readonly isAction?: boolean;
    };

export type Line<L> = readonly Inline<L>[];

export type Block<L> =
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'paragraph'; readonly line: Line<L> }
  /** A reservation about the rest, such as that it is incomplete. */
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'list'; readonly lines: readonly Line<L>[] }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly Line<L>[])[] };

export interface PageDocument<L> {
  readonly title: string;
  /** The subject, and when and by whom it was read. */
  readonly about: Line<L>;
  readonly blocks: readonly Block<L>[];
}

export const heading = (text: string) => ({ kind: 'heading', text }) as const;
export const notice = (text: string) => ({ kind: 'notice', text }) as const;
export const paragraph = <L = never>(...line: Inline<L>[]): Block<L> => ({ kind: 'paragraph', line });

/** A table; `none` instead, if it has no rows. */
export function table<L = never>(
  columns: readonly string[],
  rows: readonly (readonly Line<L>[])[],
  none: string,
): Block<L> {
  return rows.length === 0 ? paragraph(none) : { kind: 'table', columns, rows };
}

/** Joins lines into one, with commas between them. */
export function joinLines<L = never>(lines: readonly Line<L>[]): Line<L> {
  return lines.flatMap((line, at) => (at === 0 ? line : [', ', ...line]));
}

/** A translated sentence whose `{0}`, `{1}` … are lines: the order of the words is the translator's. */
export function fillLine<L = never>(sentence: string, ...lines: readonly Line<L>[]): Line<L> {
  return sentence
    .split(/\{(\d)\}/)
    .flatMap((piece, at): Line<L> => (at % 2 === 1 ? (lines[Number(piece)] ?? []) : piece === '' ? [] : [piece]));
}

/** The document as Markdown, which reads well unrendered too. Links become plain text. */
export function documentMarkdown({ title, about, blocks }: PageDocument<unknown>): string {
  const lines = [`# ${escapeDocumentText(title)}`, '', markdownLine(about), '', ...blocks.flatMap(markdownBlock)];
  return lines.join('\n');
}

export function markdownBlock(block: Block<unknown>): readonly string[] {
  switch (block.kind) {
    case 'heading':
      return [`## ${escapeDocumentText(block.text)}`, ''];
    case 'paragraph':
      return [markdownLine(block.line).trimEnd(), ''];
    case 'notice':
      return [`> **${l10n.t('Note:')}** ${escapeDocumentText(block.text)}`, ''];
    case 'list':
      return [...block.lines.map((line) => `- ${markdownLine(line)}`), ''];
    case 'table': {
      const { columns, rows } = block;
      const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
      const head = [row(columns.map(escapeDocumentText)), row(columns.map(() => '---'))];
      return [...head, ...rows.map((cells) => row(cells.map(markdownLine))), ''];
    }
  }
}

function markdownLine(line: Line<unknown>): string {
  return line.map(markdownInline).join('');
}

function markdownInline(inline: Inline<unknown>): string {
  if (typeof inline === 'string') return escapeDocumentText(inline);
  if ('strong' in inline)
    return inline.strong.trim() === '' ? escapeDocumentText(inline.strong) : `**${escapeDocumentText(inline.strong)}**`;
  if ('small' in inline) return code(inline.small);
  return inline.isAction ? '' : escapeDocumentText(inline.text);
}

/** As code, if a table can show these very characters: its cells interpret `\` and `|`. */
function code(text: string): string {
  return /^(?! )[\x20-\x7e]+(?<! )$/.test(text) && !/[`\\|]/.test(text) ? `\`${text}\`` : escapeDocumentText(text);
}

/** Characters that are markup anywhere, and those that are markup only at the beginning of a line or between others. */
const MARKUP =
  /[\\`*[\]<|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w+;)|:(?=\/\/)|(?<=\bwww)\.|^[ ]*[#>+=-]|^[ ]*\d{1,9}[.)](?=\s|$)/giu;

/** Text that Markdown shows as exactly these characters; only what could be markup at its place is escaped. */
export function escapeDocumentText(text: string): string {
  return oneLine(text).replace(MARKUP, (found) => `${found.slice(0, -1)}\\${found.slice(-1)}`);
}

import * as vscode from 'vscode';
import { truncate } from '../core/base/text.ts';
import { fenceFor } from '../core/completions/request.ts';
import { numberText } from './formats.ts';

/**
 * Text of a server, a model or a workspace, so that nothing in it is markup where Markdown is rendered, theme icons
 * included. Unlike `MarkdownString.appendText` it leaves spaces alone, so that lines still wrap.
 */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!~|<>&$]/g, '\\$&');
}

/** The most characters of one attachment that are sent; a longer one is cut and says so. */
const MAX_CHARACTERS = 60_000;

/** True for a text of which {@link fenced} leaves out the end; the caller tells the user. */
export function isTruncated(text: string): boolean {
  return text.length > MAX_CHARACTERS;
}

/** The line shown about a text that was cut. */
export function truncationLine(name: string): string {
  return vscode.l10n.t('Only the first {0} characters of {1} were sent.', numberText(MAX_CHARACTERS), name);
}

/** Text in a fence that is longer than any within it, so that it cannot end it. */
export function fenced(title: string, text: string, language: string): string {
  const shown = isTruncated(text) ? `${truncate(text, MAX_CHARACTERS)}\n[…cut]` : text;
  const fence = fenceFor(shown);
  return `${title}:\n${fence}${language}\n${shown}\n${fence}`;
}

/**
 * The text to add to Markdown so that the next paragraph is not part of a code block that was left open; empty if none
 * is. A block within a list or a quotation ends with that. CommonMark, "Fenced code blocks".
 */
export function closingFence(markdown: string): string {
  let open: string | undefined;
  let isContained = false;
  for (const line of markdown.split('\n')) {
    const [, indent = '', fence = '', info = ''] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (fence.startsWith(open) && info.trim() === '') open = undefined;
    } else if (fence !== '' && (indent === '' || !isContained) && !(fence.startsWith('`') && info.includes('`'))) {
      open = fence;
      isContained = false;
    } else if (/^\S/.test(line)) isContained = /^(?:[-*+]|\d{1,9}[.)]|>)/.test(line);
  }
  return open === undefined ? '' : `\n${open}`;
}

import * as l10n from '@vscode/l10n';
import { truncateWithEllipsis } from '../base/text.ts';

const MAX_LENGTH = 600;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** One line of the report: `text` is Markdown, so text from outside goes through {@link code} first. */
export interface ReportLine {
  readonly label: string;
  readonly text: string;
  /** The problem, or possible problem, and what to do: Markdown as well. Also shown at the top of the report. */
  readonly finding?: string;
}

/**
 * Text from outside as inline code (CommonMark section 6.1): nothing in it is a link, a picture or a heading. Line
 * breaks and invisible characters become spaces.
 */
export function code(text: string): string {
  const flat = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const short = truncateWithEllipsis(flat, MAX_LENGTH);
  if (short === '') return l10n.t('(empty)');
  const longest = Math.max(0, ...[...short.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = short.startsWith('`') || short.endsWith('`') ? ' ' : '';
  return fence + pad + short + pad + fence;
}

/** A time and its distance from `now`; both in milliseconds since the epoch. */
export function timeOf(at: number, now: number): string {
  if (Number.isNaN(new Date(at).getTime())) return l10n.t('(no time)');
  const apart = durationOf(Math.abs(at - now));
  return at > now ? l10n.t('{0} (in {1})', utcTime(at), apart) : l10n.t('{0} ({1} ago)', utcTime(at), apart);
}

/** A time to the second, in a format that people and programs read. */
export function utcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A duration in the unit that makes it a small number. */
export function durationOf(ms: number): string {
  if (ms >= 2 * DAY_MS) return l10n.t('{0} days', Math.round(ms / DAY_MS));
  if (ms >= 2 * HOUR_MS) return l10n.t('{0} hours', Math.round(ms / HOUR_MS));
  if (ms >= 2 * MINUTE_MS) return l10n.t('{0} minutes', Math.round(ms / MINUTE_MS));
  const seconds = Math.round(ms / 1000);
  return seconds === 1 ? l10n.t('1 second') : l10n.t('{0} seconds', seconds);
}

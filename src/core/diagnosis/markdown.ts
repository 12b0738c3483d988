import { truncateWithEllipsis } from '../base/errors.ts';

const MAX_LENGTH = 600;

/** One line of the report: `text` is Markdown, so whatever others have written goes through {@link code} first. */
export interface ReportLine {
  readonly label: string;
  readonly text: string;
  /** What is wrong, or may be, and what to do: Markdown as well. Stands at the head of the report too. */
  readonly finding?: string;
}

/**
 * Text of others as inline code (CommonMark section 6.1): nothing in it is a link, a picture or a heading. Line breaks and
 * what cannot be seen become spaces.
 */
export function code(text: string): string {
  const flat = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const short = truncateWithEllipsis(flat, MAX_LENGTH);
  if (short === '') return '(empty)';
  const longest = Math.max(0, ...[...short.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = short.startsWith('`') || short.endsWith('`') ? ' ' : '';
  return fence + pad + short + pad + fence;
}

/** A time as people and programs read it, with how far it is from `now`; both in milliseconds since the epoch. */
export function timeOf(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '(no time)';
  const text = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const apart = durationOf(Math.abs(at - now));
  return at > now ? `${text} (in ${apart})` : `${text} (${apart} ago)`;
}

/** A duration in the unit in which it is a small number. */
export function durationOf(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400_000, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
    [1000, 'seconds'],
  ];
  const [size, unit] = units.find(([each]) => ms >= 2 * each) ?? [1000, 'seconds'];
  return `${Math.round(ms / size)} ${unit}`;
}

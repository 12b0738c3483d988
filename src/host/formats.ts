import * as vscode from 'vscode';

const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 24 * 3600_000],
  ['month', 30 * 24 * 3600_000],
  ['day', 24 * 3600_000],
  ['hour', 3600_000],
  ['minute', 60_000],
];

/** `14:05` today, date and time on other days, in the language of the editor. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? date.toLocaleTimeString(vscode.env.language, { timeStyle: 'short' }) : dateAndTime(at);
}

function dateAndTime(at: number): string {
  return new Date(at).toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `3 days ago`; `just now` within a minute. */
function relativeTime(at: number, now: number): string {
  const format = new Intl.RelativeTimeFormat(vscode.env.language, { numeric: 'auto' });
  for (const [unit, length] of STEPS) {
    const many = Math.trunc((at - now) / length);
    if (many !== 0) return format.format(many, unit);
  }
  return vscode.l10n.t('just now');
}

/** A time of the service, absolute and relative; unchanged if it cannot be parsed. */
export function formatTime(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  return `${dateAndTime(at)} (${relativeTime(at, now)})`;
}

/** A number as the user's language writes it. */
export function numberText(value: number): string {
  return value.toLocaleString(vscode.env.language);
}

/**
 * One table as CSV (RFC 4180), every cell quoted. What a spreadsheet would take for a formula begins with an apostrophe
 * instead: at the beginning of a cell, and behind whatever it may take for a separator, as quotes do not hold there.
 */
export function csv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Full-width signs begin a formula where they are usual. */
const FORMULA = /(^|[;,|\t\r\n])([ "]*)([=+\-@＝＋－＠])/g;

function cell(text: string): string {
  const safe = text.replace(FORMULA, "$1$2'$3").replace(/^[\t\r\n]/, "'$&");
  return `"${safe.replaceAll('"', '""')}"`;
}

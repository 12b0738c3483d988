/** Characters of one attachment that are sent; a longer one is cut and says so. */
const MAX_CHARACTERS = 60_000;

/** Text in a fence that is longer than any within it, so that it cannot end it. */
export function fenced(title: string, text: string, language: string): string {
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n[…cut]` : text;
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${title}:\n${fence}${language}\n${shown}\n${fence}`;
}

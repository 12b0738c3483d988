/** Keys of `key:value` terms. Anything else before a colon is part of a word: ids may hold colons. */
export const FILTER_KEYS = ['name', 'id', 'tag', 'role', 'group', 'member', 'health', 'status', 'by', 'is'] as const;
const STATES = ['deleting', 'empty', 'unlisted'];
type FilterKey = (typeof FILTER_KEYS)[number];

/** One term; all of a filter's terms have to be true. */
export interface FilterTerm {
  readonly key: FilterKey | undefined;
  /** In lower case. */
  readonly value: string;
  /** Written with a `-` before it: must not be true. */
  readonly negated: boolean;
}

const TERM = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S*))/giy;

/**
 * Reads a filter as a person types it: words and `key:value` terms, separated by spaces; `"…"` keeps spaces together and
 * `-` before a term turns it around. Never fails: what is no term is a word.
 */
export function parseFilter(text: string): readonly FilterTerm[] {
  const terms: FilterTerm[] = [];
  const source = text.trim();
  TERM.lastIndex = 0;
  while (TERM.lastIndex < source.length) {
    const found = TERM.exec(source);
    if (found === null) break;
    const [, minus, name, quoted, bare] = found;
    const value = (quoted ?? bare ?? '').toLowerCase();
    const key = keyOf(name, value);
    const word = key === undefined && name !== undefined ? `${name.toLowerCase()}:${value}` : value;
    if (word !== '') terms.push({ key, value: word, negated: minus === '-' });
    while (/\s/.test(source[TERM.lastIndex] ?? '')) TERM.lastIndex += 1;
  }
  return terms;
}

function keyOf(name: string | undefined, value: string): FilterKey | undefined {
  const key = FILTER_KEYS.find((known) => known === name?.toLowerCase());
  return key === 'is' && value !== '' && !STATES.includes(value) ? undefined : key;
}

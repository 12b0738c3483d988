/** Keys of `key:value` terms. Anything else before a colon is part of a word: ids may hold colons. */
export const FILTER_KEYS = ['name', 'id', 'tag', 'role', 'group', 'member', 'health', 'status', 'by', 'is'] as const;
const STATES = ['deleting', 'empty', 'unlisted', 'finding'];
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

/** A term that looks like `key:value` but is none: it is taken as a word, and mostly finds nothing. */
export type FilterProblem =
  /** `meant` is the key that was probably meant. */
  | { readonly kind: 'key'; readonly typed: string; readonly meant: FilterKey | undefined }
  /** What follows `is:`; `known` is what can follow it. */
  | { readonly kind: 'state'; readonly typed: string; readonly known: readonly string[] };

/** Problems of a filter to show. Addresses and IDs with colons are words, not mistakes. */
export function filterProblemsOf(text: string): readonly FilterProblem[] {
  return parseFilter(text).flatMap(({ key, value }): FilterProblem[] => {
    const [, typed, rest = ''] = key === undefined ? (/^([a-z]+):(?!\/\/)(.+)$/.exec(value) ?? []) : [];
    if (typed === undefined) return [];
    // Not while one of them is being typed.
    if (typed === 'is')
      return STATES.some((state) => state.startsWith(rest)) ? [] : [{ kind: 'state', typed: rest, known: STATES }];
    if (FILTER_KEYS.some((known) => known === typed)) return [];
    return [{ kind: 'key', typed, meant: FILTER_KEYS.find((known) => isNearly(typed, known)) }];
  });
}

/** One letter too many, too few or another, or two that have changed places. */
function isNearly(typed: string, known: string): boolean {
  let start = 0;
  while (start < typed.length && typed[start] === known[start]) start += 1;
  const [a, b] = [typed.slice(start), known.slice(start)];
  if (a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)) return true;
  return a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
}

function keyOf(name: string | undefined, value: string): FilterKey | undefined {
  const key = FILTER_KEYS.find((known) => known === name?.toLowerCase());
  return key === 'is' && value !== '' && !STATES.includes(value) ? undefined : key;
}

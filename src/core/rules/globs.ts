/**
 * The longest pattern, in UTF-16 units; longer ones match nothing. Names and addresses are shorter, and the number of
 * groups in a regular expression is limited.
 */
export const MAX_GLOB_LENGTH = 1000;

/**
 * Tests whether a glob matches a whole text: `*` any characters, `?` one. Each piece between stars takes the earliest
 * place and keeps it, in a lookahead, into which matching never backtracks: the time is at most proportional to text ×
 * piece.
 */
export function globTest(glob: string): (text: string) => boolean {
  if (glob.length > MAX_GLOB_LENGTH) return () => false;
  const [first = '', ...rest] = glob.split(/\*+/).map(pieceSource);
  const last = rest.pop();
  const between = rest.map((piece, at) => `(?=(.*?${piece}))\\${at + 1}`).join('');
  const pattern = new RegExp(`^${first}${last === undefined ? '' : `${between}.*${last}`}$`, 's');
  return (text) => pattern.test(text);
}

/** Tests whether one of several globs matches. */
export function anyGlobTest(globs: readonly string[]): (text: string) => boolean {
  const tests = globs.map(globTest);
  return (text) => {
    for (const fits of tests) if (fits(text)) return true;
    return false;
  };
}

function pieceSource(piece: string): string {
  return piece.replace(/[\\^$.*+()[\]{}|/]/g, '\\$&').replaceAll('?', '.');
}

export function isGlob(text: string): boolean {
  return /[*?]/.test(text);
}

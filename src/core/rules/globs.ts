/** Longer patterns fit nothing: names and addresses are shorter, and a regular expression cannot have any number of groups. */
export const MAX_GLOB_LENGTH = 1000;

/**
 * Tests whether a glob fits a whole text: `*` any characters, `?` one. Each piece between stars takes the earliest place and keeps it, in
 * a lookahead, into which matching never backtracks: in time at most proportional to text × piece.
 */
export function globTest(glob: string): (text: string) => boolean {
  if (glob.length > MAX_GLOB_LENGTH) return () => false;
  const [first = '', ...rest] = glob.split(/\*+/).map(pieceSource);
  const last = rest.pop();
  const between = rest.map((piece, at) => `(?=(.*?${piece}))\\${at + 1}`).join('');
  const pattern = new RegExp(`^${first}${last === undefined ? '' : `${between}.*${last}`}$`, 's');
  return (text) => pattern.test(text);
}

/** Tests whether one of several globs fits. */
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

/** Longer ones fit nothing: no name and no address is so long, and expressions have limits of their own. */
const MAX_LENGTH = 1000;

/**
 * Tests whether a glob fits a whole text: `*` any characters, `?` one. Each piece between stars takes the earliest place and keeps it, in
 * a lookahead that is not gone back into: in time linear in the text for each piece.
 */
export function globTest(glob: string): (text: string) => boolean {
  if (glob.length > MAX_LENGTH) return () => false;
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

/** A fence that is longer than any within `text`, so that the text cannot end it. */
export function fenceFor(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 2);
  return '`'.repeat(longest + 1);
}

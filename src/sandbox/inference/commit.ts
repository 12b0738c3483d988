/**
 * A commit message for a change in the unified format that Git writes: which files, and how many lines. That is all the
 * sandbox guide can read off a change.
 */
export function commitMessage(diff: string): string {
  const files = [...diff.matchAll(/^diff --git a\/.* b\/(.*)$/gm)].map(([, file = '']) => file);
  const [first = 'files', second, ...more] = files;
  const what = second === undefined ? first : more.length === 0 ? `${first} and ${second}` : `${files.length} files`;
  const added = diff.match(/^\+(?!\+\+ )/gm)?.length ?? 0;
  const removed = diff.match(/^-(?!-- )/gm)?.length ?? 0;
  const lines = (count: number) => `${count} line${count === 1 ? '' : 's'}`;
  return `Change ${what}\n\n${lines(added)} added, ${lines(removed)} removed.`;
}

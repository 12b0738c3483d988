import type { CodeBlock, Question } from './question.ts';

/**
 * What the guide does with code: it can really change a fenced block in a few ways, and describe any other.
 *
 * | the message says                  | the block that comes back                                   |
 * |-----------------------------------|-------------------------------------------------------------|
 * | `rename a to b`                   | every whole word `a` is `b`                                 |
 * | `sort`                            | the lines in order                                          |
 * | `comment` or `document`           | a comment line above that counts the lines                  |
 * | `commit message`, above a `diff`  | no block but a message that names files and counts lines    |
 * | another word of change (fix, …)   | trailing whitespace removed, which is all the guide fixes   |
 *
 * Only a question that speaks of code, or has no words, is about the block in it or the last one before it: editors
 * attach what nobody asked about. Undefined where there is none. A message that asks for only the code gets only the block.
 */
export function codeAnswer(questions: readonly Question[]): string | undefined {
  const { words: request = '', block: own } = questions.at(-1) ?? {};
  const asksAbout = request === '' ? own !== undefined : speaksOfCode.test(request) || names(request, own);
  const block = asksAbout ? (own ?? questions.findLast((question) => question.block)?.block) : undefined;
  if (!block) return undefined;
  if (block.language === 'diff' && /\bcommit message\b/i.test(request)) return commitMessage(block.code);
  const edit = editBlock(block, request);
  if (!edit) return describe(block);
  const marks = '`'.repeat(Math.max(3, longestRun(edit.code) + 1));
  const fenced = `${marks}${block.language}\n${edit.code}\n${marks}`;
  if (/\bonly\b[^.]{0,80}\b(?:code|block|replacement)\b/i.test(request)) return fenced;
  return `${edit.says}\n\n${fenced}`;
}

const changes = /\b(?:fix|correct|change|edit|improve|refactor|rewrite|simplify|clean|tidy|replace|modify)\b/i;

const speaksOfCode = new RegExp(
  `${changes.source}|\\b(?:it|its|this|these|those|does|code|files?|functions?|lines?|mistakes|correction|tests?|explain|rename|sort|comments?|document|commit message)\\b`,
  'i',
);

/** Whether the words name the file that the block is of. */
function names(words: string, block: CodeBlock | undefined): boolean {
  const file = block?.title.split(/[\s/]/).find((part) => part.includes('.'));
  return file !== undefined && words.includes(file);
}

/** The lines of the code; a line break at the end does not start another line. */
function linesOf(code: string): readonly string[] {
  return code.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** The length of the longest run of backticks: a fence around the text needs one more. */
export function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}

function editBlock({ code, language }: CodeBlock, request: string): { code: string; says: string } | undefined {
  const rename =
    /\brename\s+[`"']?([\p{L}_$][\p{L}\p{N}_$]*)[`"']?\s+(?:in)?to\s+[`"']?([\p{L}_$][\p{L}\p{N}_$]*)/iu.exec(request);
  if (rename?.[1] && rename[2]) {
    const [, from, to] = rename;
    const name = new RegExp(`(?<![\\p{L}\\p{N}_$])${from.replaceAll('$', '\\$')}(?![\\p{L}\\p{N}_$])`, 'gu');
    const count = code.match(name)?.length ?? 0;
    return {
      code: code.replace(name, () => to),
      says: `I renamed \`${from}\` to \`${to}\` in ${plural(count, 'place')}:`,
    };
  }
  if (/\bsort\b/i.test(request)) {
    const lines = code.split('\n').sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    return { code: lines.join('\n'), says: 'I sorted the lines:' };
  }
  const tidy = code.replace(/[ \t]+$/gm, '');
  if (/\b(?:comments?|document)\b/i.test(request)) {
    const indent = /^[ \t]*/.exec(tidy)?.[0] ?? '';
    const [open, close] = commentMarks(language);
    return {
      code: `${indent}${open} ${plural(linesOf(tidy).length, 'line')} below, counted by the demo model.${close}\n${tidy}`,
      says: 'I put a comment above the code:',
    };
  }
  if (!changes.test(request)) return undefined;
  return { code: tidy, says: 'The demo model can only remove trailing whitespace. Everything else is unchanged:' };
}

function commentMarks(language: string): [open: string, close: string] {
  if (/^(?:py|python|rb|ruby|sh|bash|shell|shellscript|ya?ml|toml|r|perl|make|makefile|dockerfile)$/i.test(language))
    return ['#', ''];
  if (/^(?:html|xml|svg|md|markdown|vue)$/i.test(language)) return ['<!--', ' -->'];
  if (/^(?:css)$/i.test(language)) return ['/*', ' */'];
  if (/^(?:sql|lua|hs|haskell)$/i.test(language)) return ['--', ''];
  return ['//', ''];
}

function describe({ title, code, language }: CodeBlock): string {
  const lines = linesOf(code);
  const blank = lines.filter((line) => line.trim() === '').length;
  const names = [
    ...code.matchAll(
      /\b(?:function|class|interface|def|func|fn|struct|const|let|var|type)\s+\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)/gu,
    ),
  ].map((match) => `\`${match[1]}\``);
  const declared = [...new Set(names)].slice(0, 8);
  return [
    `${title === '' ? 'The code' : `\`${title}\``} has ${plural(lines.length, 'line')}${language ? ` of \`${language}\`` : ''}, ${blank} blank.`,
    declared.length > 0 ? ` It declares ${declared.join(', ')}.` : ' I found no declarations.',
    "\n\nThat's all the demo model can tell about code. Ask me to *rename a to b*, to *sort* the lines or to *comment* them to see an edit.",
  ].join('');
}

/** A message for a change in the unified format that Git writes: which files, and how many lines. */
function commitMessage(diff: string): string {
  const files = [...diff.matchAll(/^diff --git a\/.* b\/(.*)$/gm)].map(([, file = '']) => file);
  const [first = 'files', second, ...more] = files;
  const what = second === undefined ? first : more.length === 0 ? `${first} and ${second}` : `${files.length} files`;
  const added = diff.match(/^\+(?!\+\+ )/gm)?.length ?? 0;
  const removed = diff.match(/^-(?!-- )/gm)?.length ?? 0;
  return `Change ${what}\n\n${plural(added, 'line')} added, ${plural(removed, 'line')} removed.`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

import type { CodeBlock, Question } from './question.ts';

/**
 * The answer to a question about code. The guide can change a fenced block in a few ways, and otherwise describes it.
 *
 * | the message contains                | the answer                                                            |
 * |-------------------------------------|-----------------------------------------------------------------------|
 * | `rename a to b`                     | the block with each whole word `a` replaced with `b`                  |
 * | `sort`                              | the block with its lines sorted                                       |
 * | `comment` or `document`             | the block with a comment above it that says how many lines it has     |
 * | `commit message`, and a `diff`      | a message that names the files and counts the changed lines, no block |
 * | `fix` or another verb for a change  | the block without trailing whitespace, which is all the guide can fix |
 *
 * The block is the one in the question or the last one before it, but only if the question mentions code or has no
 * words: editors also attach code that the user did not ask about. Returns `undefined` if there is no such block. A
 * message that asks for nothing but the code gets nothing but the block.
 */
export function codeAnswer(questions: readonly Question[]): string | undefined {
  const { words: request = '', block: ownBlock } = questions.at(-1) ?? {};
  const isAboutCode = request === '' ? ownBlock !== undefined : mentionsCode.test(request) || names(request, ownBlock);
  const block = isAboutCode ? (ownBlock ?? questions.findLast((question) => question.block)?.block) : undefined;
  if (!block) return undefined;
  if (block.language === 'diff' && /\bcommit message\b/i.test(request)) return commitMessage(block.code);
  const edit = editBlock(block, request);
  if (!edit) return describe(block);
  const fence = '`'.repeat(Math.max(3, longestRun(edit.code) + 1));
  const fencedBlock = `${fence}${block.language}\n${edit.code}\n${fence}`;
  if (/\bonly\b[^.]{0,80}\b(?:code|block|replacement)\b/i.test(request)) return fencedBlock;
  return `${edit.says}\n\n${fencedBlock}`;
}

const changeVerbs = /\b(?:fix|correct|change|edit|improve|refactor|rewrite|simplify|clean|tidy|replace|modify)\b/i;

const mentionsCode = new RegExp(
  `${changeVerbs.source}|\\b(?:it|its|this|these|those|does|code|files?|functions?|lines?|mistakes|correction|tests?|explain|rename|sort|comments?|document|commit message)\\b`,
  'i',
);

/** Whether the words contain the name of the file that the block comes from. */
function names(words: string, block: CodeBlock | undefined): boolean {
  const file = block?.title.split(/[\s/]/).find((part) => part.includes('.'));
  return file !== undefined && words.includes(file);
}

/** The lines of the code. A line break at the end does not start another line. */
function linesOf(code: string): readonly string[] {
  return code.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** The length of the longest run of backticks. A fence around the text must be longer. */
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
  const trimmed = code.replace(/[ \t]+$/gm, '');
  if (/\b(?:comments?|document)\b/i.test(request)) {
    const indent = /^[ \t]*/.exec(trimmed)?.[0] ?? '';
    const [open, close] = commentMarks(language);
    return {
      code: `${indent}${open} ${plural(linesOf(trimmed).length, 'line')} below, counted by the demo model.${close}\n${trimmed}`,
      says: 'I put a comment above the code:',
    };
  }
  if (!changeVerbs.test(request)) return undefined;
  return { code: trimmed, says: 'The demo model can only remove trailing whitespace. Everything else is unchanged:' };
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

/** A commit message for a diff from Git, with the files and the number of changed lines. */
function commitMessage(diff: string): string {
  const files = [...diff.matchAll(/^diff --git a\/.* b\/(.*)$/gm)].map(([, file = '']) => file);
  const [first = 'files', second, ...more] = files;
  const subject = second === undefined ? first : more.length === 0 ? `${first} and ${second}` : `${files.length} files`;
  const added = diff.match(/^\+(?!\+\+ )/gm)?.length ?? 0;
  const removed = diff.match(/^-(?!-- )/gm)?.length ?? 0;
  return `Change ${subject}\n\n${plural(added, 'line')} added, ${plural(removed, 'line')} removed.`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

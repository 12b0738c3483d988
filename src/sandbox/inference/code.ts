import { commitMessage } from './commit.ts';

/** A fenced code block of a message. */
interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/**
 * What the guide does with code: it can really change a fenced block in a few ways, and describe any other.
 *
 * | the message says                  | the block that comes back                                   |
 * |-----------------------------------|-------------------------------------------------------------|
 * | `rename a to b`                   | every whole word `a` is `b`                                 |
 * | `sort`                            | the lines in order                                          |
 * | `comment` or `document`           | a comment line above that counts the lines                  |
 * | `commit message`, above a `diff`   | no block but a message that names files and counts lines    |
 * | another word of change (fix, …)   | white space at line ends gone, which is all the guide fixes |
 *
 * Undefined when the message holds no block. A message that asks for only the code gets only the block.
 */
export function codeAnswer(text: string): string | undefined {
  const block = lastBlock(text);
  if (!block) return undefined;
  const request = text.replace(fence, '');
  if (block.language === 'diff' && /\bcommit message\b/i.test(request)) return commitMessage(block.code);
  const edit = editBlock(block, request);
  if (!edit) return describe(block);
  const marks = '`'.repeat(Math.max(3, longestRun(edit.code) + 1));
  const fenced = `${marks}${block.language}\n${edit.code}\n${marks}`;
  if (/\bonly\b[^.]{0,80}\b(?:code|block|replacement)\b/i.test(request)) return fenced;
  return `${edit.says}\n\n${fenced}`;
}

const fence = /^(`{3,})([^\n`]*)\n([\s\S]*?)\n?^\1[ \t]*$/gm;

function lastBlock(text: string): CodeBlock | undefined {
  const match = [...text.matchAll(fence)].at(-1);
  return match ? { language: (match[2] ?? '').trim().split(/\s/)[0] ?? '', code: match[3] ?? '' } : undefined;
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
      code: `${indent}${open} Sandbox guide: ${plural(tidy.split('\n').length, 'line')} below.${close}\n${tidy}`,
      says: 'I put a comment above the code:',
    };
  }
  if (!/\b(?:fix|change|edit|improve|refactor|rewrite|simplify|clean|tidy|replace|modify)\b/i.test(request))
    return undefined;
  return { code: tidy, says: 'All the sandbox guide can mend is white space at line ends; the rest is as it was:' };
}

function commentMarks(language: string): [open: string, close: string] {
  if (/^(?:py|python|rb|ruby|sh|bash|shell|shellscript|ya?ml|toml|r|perl|make|makefile|dockerfile)$/i.test(language))
    return ['#', ''];
  if (/^(?:html|xml|svg|md|markdown|vue)$/i.test(language)) return ['<!--', ' -->'];
  if (/^(?:css)$/i.test(language)) return ['/*', ' */'];
  if (/^(?:sql|lua|hs|haskell)$/i.test(language)) return ['--', ''];
  return ['//', ''];
}

function describe({ code, language }: CodeBlock): string {
  const lines = code.split('\n');
  const blank = lines.filter((line) => line.trim() === '').length;
  const names = [
    ...code.matchAll(
      /\b(?:function|class|interface|def|func|fn|struct|const|let|var|type)\s+\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)/gu,
    ),
  ].map((match) => `\`${match[1]}\``);
  const declared = [...new Set(names)].slice(0, 8);
  return [
    `The block is ${language ? `\`${language}\`` : 'in a language it does not name'}: ${plural(lines.length, 'line')}, ${blank} of them blank.`,
    declared.length > 0 ? ` It declares ${declared.join(', ')}.` : ' I find no declaration in it.',
    '\n\nThat is all the sandbox guide can read off code. Ask me to *rename a name to another*, to *sort* the lines or to *comment* them and I send the block back changed.',
  ].join('');
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

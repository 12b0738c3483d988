/**
 * The code in a model's answer: the first fenced block, as far as it has come; the whole answer where there is no fence.
 * Its end is made like that of `original`, so that a rewrite does not add or take a line break.
 */
export function codeOf(answer: string, original: string): string {
  const open = /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n|$)/m.exec(answer);
  const code = open ? blockAfter(answer.slice(open.index + open[0].length), open[1] ?? '```') : answer.trim();
  const body = code.replace(/\s+$/, '');
  const ending = /\s*$/.exec(original)?.[0] ?? '';
  return body === '' ? '' : body + ending;
}

function blockAfter(text: string, fence: string): string {
  const mark = fence[0] === '~' ? '~' : '`';
  const close = new RegExp(`^[ \\t]*${mark}{${fence.length},}[ \\t]*$`, 'm').exec(text);
  return close ? text.slice(0, close.index) : text;
}

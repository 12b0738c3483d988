import { isTag } from './allowed.ts';

/**
 * A whole tag as CommonMark has it (section 6.6), but with no `<` in its values, where the renderer writes `&lt;`: a value
 * that a model leaves open would take in all that follows. Every `<` matches, one that begins no tag alone.
 */
const TAG = new RegExp(
  String.raw`<(?:(\/?)([a-z][a-z0-9-]*)((?:_+[a-z:][\w.:-]*(?:_*=_*(?:[^\s"'=<>\x60]+|'[^'<]*'|"[^"<]*"))?)*)_*\/?>)?`.replaceAll(
    '_',
    String.raw`[ \t\r\n\f]`,
  ),
  'gi',
);

/**
 * Leaves of the tags in rendered Markdown those that may mean something here, and makes words of all others, as of comments
 * and declarations: `Map<object>` is what a model writes about code, and a parser would take in what follows as the content
 * of an object. GitHub's `tagfilter`, wider.
 */
export function escapeTags(html: string): string {
  /** How many of each name are open. */
  const open = new Map<string, number>();
  return html.replace(TAG, (tag: string, slash = '', written = '', attributes = '') => {
    const name = written.toLowerCase();
    const count = open.get(name) ?? 0;
    const isEnd = slash !== '';
    const isMeant = isEnd ? count > 0 : isTag(name, attributes, (open.get('math') ?? 0) > 0);
    if (!isMeant) return `&lt;${tag.slice(1)}`;
    open.set(name, count + (isEnd ? -1 : 1));
    return tag;
  });
}

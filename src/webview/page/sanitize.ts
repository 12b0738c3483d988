/*
 * What of a model's rendered Markdown is shown. Markdown may hold any HTML, and a model may have been talked into anything by
 * what it read. So `escapeTags` makes words of every tag that is not named here, and `rebuild` makes the rest anew, of what is
 * allowed here. Nothing that is named loads or does anything by itself; the page's
 * policy would refuse it besides.
 */

const text = [
  ...'p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre hr br div'.split(' '),
  ...'table thead tbody tfoot tr th td details summary'.split(' '),
  ...'a code em strong i b u s del ins sub sup kbd samp var mark small q span cite abbr'.split(' '),
];
const mathematics = [
  ...'math semantics mrow mi mo mn ms mtext mspace msup msub msubsup mfrac msqrt'.split(' '),
  ...'mroot mover munder munderover mtable mtr mtd mpadded mphantom mstyle'.split(' '),
];
/** What VS Code's renderer writes besides into formulas. */
const aboutMathematics = 'annotation menclose mglyph'.split(' ');
/** Common in Markdown for layout; and of extensions that add task lists and footnotes to VS Code's Markdown. */
const layout = 'center picture wbr'.split(' ');
/** Tags only with attributes: without any they say nothing, and `List<a>` is about code. */
const withAttributes = 'a img source font label section input'.split(' ');

/** Whether a tag of this name, in small letters, is one and not words. */
export function isTag(name: string, attributes: string, isInMath: boolean): boolean {
  if (name === 'input') return /\stype\s*=\s*["']?checkbox["'\s]/i.test(`${attributes} `);
  if (withAttributes.includes(name)) return attributes !== '';
  if (mathematics.includes(name) || aboutMathematics.includes(name)) return isInMath || name === 'math';
  return text.includes(name) || layout.includes(name);
}

/** `unwrap`: its content without itself. `picture`: words in its place. `box`: a character in its place. */
export type TagAction = 'keep' | 'keepMath' | 'unwrap' | 'picture' | 'box' | 'drop';

export function tagAction(name: string, classes: readonly string[]): TagAction {
  // Formulas come twice, or thrice: for the eye as positioned pieces, which want styles of their own, as MathML and as TeX.
  if (name === 'annotation' || classes.includes('katex-html')) return 'drop';
  if (name === 'img') return 'picture';
  if (name === 'input') return 'box';
  if (mathematics.includes(name)) return 'keepMath';
  return text.includes(name) ? 'keep' : 'unwrap';
}

/** The value an attribute gets; `undefined` leaves it out. */
export function attributeOf(element: string, name: string, value: string): string | undefined {
  switch (name) {
    case 'href':
      return element === 'a' ? linkTarget(value) : undefined;
    case 'class':
      return value.match(/(?<!\S)(?:hljs-|language-)[\w-]+(?!\S)/g)?.join(' ');
    case 'start':
      return element === 'ol' && /^\d{1,9}$/.test(value) ? value : undefined;
    case 'open':
      return element === 'details' ? '' : undefined;
    case 'title':
      return element === 'abbr' ? value : undefined;
    case 'dir':
      return value === 'auto' ? value : undefined;
    case 'display':
      return element === 'math' && value === 'block' ? value : undefined;
    default:
      return undefined;
  }
}

/** How a cell of a table is aligned: Markdown says it as a style, which the page does not take. */
export function alignmentOf(element: string, style: string): 'left' | 'right' | 'center' | undefined {
  const found = /^\s*text-align:\s*(left|right|center)\s*;?\s*$/.exec(style)?.[1];
  return element === 'th' || element === 'td' ? (found as 'left' | 'right' | 'center' | undefined) : undefined;
}

/** Where a link may lead: out into the browser. Commands, files and other schemes are not for a model to open. */
export function linkTarget(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const { protocol, href } = new URL(value);
  return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : undefined;
}

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

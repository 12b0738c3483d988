/*
 * What is shown of a model's rendered Markdown. Markdown may contain any HTML, and a model may have been talked into
 * anything by what it read. So `escapeTags` turns every tag that is not named here into text, and `rebuild` creates the
 * rest anew, with only what is allowed here. Nothing that is named loads or does anything by itself; the page's policy
 * would refuse it as well.
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
/** The other tags that VS Code's renderer writes into formulas. */
const aboutMathematics = 'annotation menclose mglyph'.split(' ');
/** Common in Markdown for layout; and of extensions that add task lists and footnotes to VS Code's Markdown. */
const layout = 'center picture wbr'.split(' ');
/** Tags only with attributes: without any they say nothing, and `List<a>` is about code. */
const withAttributes = 'a img source font label section input'.split(' ');

/** Whether `<name …>` is markup rather than text. `name` is in lower case. */
export function isTag(name: string, attributes: string, isInMath: boolean): boolean {
  if (name === 'input') return /\stype\s*=\s*["']?checkbox["'\s]/i.test(`${attributes} `);
  if (withAttributes.includes(name)) return attributes !== '';
  if (mathematics.includes(name) || aboutMathematics.includes(name)) return isInMath || name === 'math';
  return text.includes(name) || layout.includes(name);
}

/** `unwrap`: only its content. `picture`: text in its place. `box`: a character in its place. */
export type TagAction = 'keep' | 'keepMath' | 'unwrap' | 'picture' | 'box' | 'drop';

export function tagAction(name: string, classes: readonly string[]): TagAction {
  // Formulas come two or three times: for the eye as positioned pieces, which need styles of their own, as MathML and
  // as TeX.
  if (name === 'annotation' || classes.includes('katex-html')) return 'drop';
  if (name === 'img') return 'picture';
  if (name === 'input') return 'box';
  if (mathematics.includes(name)) return 'keepMath';
  return text.includes(name) ? 'keep' : 'unwrap';
}

/** The value of an attribute; `undefined` leaves it out. */
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

/** The alignment of a table's cell: Markdown uses a style for it, which the page does not accept. */
export function alignmentOf(element: string, style: string): 'left' | 'right' | 'center' | undefined {
  const alignment = /^\s*text-align:\s*(left|right|center)\s*;?\s*$/.exec(style)?.[1];
  return element === 'th' || element === 'td' ? (alignment as 'left' | 'right' | 'center' | undefined) : undefined;
}

/**
 * The possible targets of links: addresses for the browser. A model must not open commands, files and other schemes.
 */
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
 * Keeps those tags of rendered Markdown that may mean something here, and turns all others into text, as well as
 * comments and declarations: `Map<object>` is what a model writes about code, and a parser would take the text after it
 * as the content of an object. Like GitHub's `tagfilter`, but wider.
 */
export function escapeTags(html: string): string {
  /** The number of open tags by name. */
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

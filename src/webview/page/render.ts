import type { PageBlock, PageLine } from './protocol.ts';
import { alignmentOf, attributeOf, escapeTags, linkTarget, tagAction } from './sanitize.ts';

/** Elements of a document. Every text in it becomes a text node: no name of a server can be markup. */
export function renderBlocks(blocks: readonly PageBlock[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks.map(elementOf));
  return fragment;
}

/** Pieces of a line. A link is its number and no address; `rebuild` leaves no such number to a model. */
export function renderLine(line: PageLine): (Node | string)[] {
  return line.map((piece) => {
    if (typeof piece === 'string') return piece;
    if ('strong' in piece) return filled('strong', [piece.strong]);
    if ('small' in piece) return filled('small', [piece.small]);
    const link = filled('a', [piece.text]);
    link.role = 'link';
    link.tabIndex = 0;
    link.title = piece.title;
    link.dataset.link = String(piece.link);
    return link;
  });
}

/** The number of the link that was chosen, by mouse or keyboard. */
export function linkAt({ target }: Event): number | undefined {
  const link = target instanceof Element ? target.closest<HTMLElement>('a[data-link]') : null;
  return link ? Number(link.dataset.link) : undefined;
}

function elementOf(block: PageBlock): HTMLElement {
  switch (block.kind) {
    case 'heading':
      return filled('h2', [block.text]);
    case 'paragraph':
      return filled('p', renderLine(block.line));
    case 'notice':
      return Object.assign(filled('p', [block.text]), { className: 'notice' });
    case 'list':
      return filled(
        'ul',
        block.lines.map((line) => filled('li', renderLine(line))),
      );
    case 'table':
      return tableOf(block.columns, block.rows);
  }
}

function tableOf(columns: readonly string[], rows: readonly (readonly PageLine[])[]): HTMLElement {
  const head = filled('tr', columns.map(columnHeader));
  const body = rows.map((cells) =>
    filled(
      'tr',
      cells.map((cell) => filled('td', renderLine(cell))),
    ),
  );
  return filled('table', [filled('thead', [head]), filled('tbody', body)]);
}

function columnHeader(text: string): HTMLElement {
  return Object.assign(filled('th', [text]), { scope: 'col' });
}

function filled<K extends keyof HTMLElementTagNameMap>(
  name: K,
  children: readonly (Node | string)[],
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}

const MATHML = 'http://www.w3.org/1998/Math/MathML';

/**
 * The allowed parts of a rendered answer, created anew element by element: nothing that was parsed gets into the page
 * itself.
 *
 * @param picture returns the text for a picture with this description.
 */
export function sanitizedFragment(html: string, picture: (description: string) => string): DocumentFragment {
  // Content of a template loads and runs nothing. It has no document of its own: a picture named `body` would be its
  // `body`.
  const template = document.createElement('template');
  template.innerHTML = escapeTags(html);
  const fragment = document.createDocumentFragment();
  copyChildren(template.content, fragment, picture);
  for (const child of [...fragment.childNodes]) if (child instanceof Text && child.data.trim() === '') child.remove();
  return fragment;
}

function copyChildren(from: ParentNode & Node, to: Node, picture: (description: string) => string): void {
  for (const child of from.childNodes) {
    if (child instanceof Text) to.appendChild(document.createTextNode(child.data));
    else if (child instanceof Element) copy(child, to, picture);
  }
}

function copy(from: Element, to: Node, picture: (description: string) => string): void {
  const { localName: name } = from;
  if (name === 'a' && linkTarget(from.getAttribute('href') ?? '') === undefined) {
    copyChildren(from, to, picture); // It leads nowhere.
    return;
  }
  switch (tagAction(name, [...from.classList])) {
    case 'drop':
      // The renderer writes nothing else into those: a model that does would hide what follows.
      if (from.querySelector(':not(span)') !== null) copyChildren(from, to, picture);
      return;
    case 'unwrap':
      copyChildren(from, to, picture);
      return;
    case 'picture':
      to.appendChild(placeholder(from, picture));
      return;
    case 'box':
      to.appendChild(document.createTextNode(from.hasAttribute('checked') ? '☑ ' : '☐ '));
      return;
    case 'keepMath':
      // Words in a formula could be laid out so that nobody sees them; the renderer writes none there as HTML.
      if ([...from.querySelectorAll('*')].some(({ namespaceURI }) => namespaceURI !== MATHML)) {
        copyChildren(from, to, picture);
      } else copyInto(document.createElementNS(MATHML, name), from, to, picture);
      return;
    case 'keep':
      copyInto(document.createElement(name), from, to, picture);
  }
}

function copyInto(element: Element, from: Element, to: Node, picture: (description: string) => string): void {
  const { localName: name } = from;
  for (const attribute of from.attributes) {
    const value = attributeOf(name, attribute.name, attribute.value);
    if (value !== undefined) element.setAttribute(attribute.name, value);
  }
  const alignment = alignmentOf(name, from.getAttribute('style') ?? '');
  if (alignment !== undefined) element.setAttribute('data-align', alignment);
  const href = element.getAttribute('href');
  if (href !== null) element.setAttribute('title', href); // The words of a link may say another address.
  if (name === 'pre') element.setAttribute('tabindex', '0'); // It scrolls: by keyboard too.
  copyChildren(from, element, picture);
  to.appendChild(element);
}

/** The description, as a link to the picture on the web: the user decides whether to open it. */
function placeholder(from: Element, picture: (description: string) => string): Element {
  const isInLink = linkTarget(from.closest('a')?.getAttribute('href') ?? '') !== undefined;
  const href = isInLink ? undefined : linkTarget(from.getAttribute('src') ?? '');
  const element = document.createElement(href === undefined ? 'span' : 'a');
  element.className = 'picture';
  element.textContent = picture(from.getAttribute('alt') ?? '');
  if (href !== undefined) {
    element.setAttribute('href', href);
    element.title = href;
  }
  return element;
}

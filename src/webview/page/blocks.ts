import type { PageBlock, PageLine } from './protocol.ts';

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

import { attribute, make, text } from './dom.ts';
import { findingMark, type RenderContext } from './rowView.ts';

/** The first row: what the rows are, then the names of the roles that are drawn. */
export class HeaderView {
  readonly element = make('div', 'row header');
  readonly corner = make('div', 'corner');
  readonly #cells = new Map<number, HTMLElement>();

  constructor() {
    this.element.setAttribute('role', 'row');
    this.element.setAttribute('aria-rowindex', '1');
    this.corner.setAttribute('role', 'columnheader');
    this.corner.setAttribute('aria-colindex', '1');
    this.corner.tabIndex = -1;
    this.element.append(this.corner);
  }

  cell(column: number): HTMLElement | undefined {
    return column < 0 ? this.corner : this.#cells.get(column);
  }

  draw(drawing: RenderContext): void {
    const { matrix, localizer, columns } = drawing;
    text(this.corner, localizer.text(matrix.message.mode === 'groups' ? 'group' : 'person'));
    const wanted = new Set(columns);
    for (const [column, cell] of this.#cells) {
      if (wanted.has(column)) continue;
      cell.remove();
      this.#cells.delete(column);
    }
    for (const column of columns) {
      if (!this.#cells.has(column)) this.#add(column, drawing);
    }
  }

  /** Other columns, or other sizes: everything is made anew when it is next drawn. */
  forgetCells(): void {
    for (const cell of this.#cells.values()) cell.remove();
    this.#cells.clear();
  }

  #add(column: number, { matrix, frame, localizer }: RenderContext): void {
    const { key, label, detail, isListed, finding, count } = matrix.column(column);
    const { mode, organization, connection } = matrix.message;
    const cell = make('div', isListed ? 'column-header' : 'column-header unlisted');
    const counted = localizer.text(mode === 'groups' ? 'columnGroups' : 'columnPeople', count);
    const unlisted = isListed ? '' : localizer.text('unlisted');
    cell.setAttribute('role', 'columnheader');
    cell.tabIndex = -1;
    attribute(cell, 'aria-colindex', String(column + 2));
    attribute(cell, 'aria-label', [label, unlisted, finding, counted].filter(Boolean).join(', '));
    attribute(cell, 'title', [label, unlisted, detail, finding, counted].filter((line) => line !== '').join('\n'));
    cell.style.left = `${frame.rowHeaderWidth + column * frame.columnWidth}px`;
    cell.append(make('span', 'label', label), ...(finding === '' ? [] : [findingMark()]));
    cell.append(make('span', 'count', String(count)));
    const target = { kind: 'role', key, organization, connection };
    attribute(cell, 'data-vscode-context', JSON.stringify({ webviewSection: 'role', target }));
    this.element.append(cell);
    this.#cells.set(column, cell);
  }
}

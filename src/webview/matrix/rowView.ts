import { createElement, updateAttribute, updateText } from './dom.ts';
import type { GridMetrics } from './layout.ts';
import type { Localizer } from './localizer.ts';
import type { MatrixTable } from './matrix.ts';

/** The data that every row and header needs to draw itself. */
export interface RenderContext {
  readonly matrix: MatrixTable;
  readonly frame: GridMetrics;
  readonly localizer: Localizer;
  /** Columns to draw, ascending. */
  readonly columns: readonly number[];
}

/** Marks a name with findings of access rules: the same letter as in the tree. */
export function findingMark(): HTMLElement {
  return createElement('span', 'finding', 'F');
}

/** One row of the grid: its header and the cells that are drawn. Reused for another row when it leaves the screen. */
export class RowView {
  readonly element = createElement('div', 'row');
  readonly header = createElement('div', 'row-header');
  readonly #label = createElement('span', 'label');
  readonly #note = createElement('span', 'note');
  readonly #finding = findingMark();
  readonly #count = createElement('span', 'count');
  readonly #cells = new Map<number, HTMLElement>();
  /** Cells without a column at the moment. */
  readonly #spare: HTMLElement[] = [];

  constructor() {
    this.element.setAttribute('role', 'row');
    this.header.setAttribute('role', 'rowheader');
    this.header.setAttribute('aria-colindex', '1');
    this.header.tabIndex = -1;
    this.header.append(this.#label, this.#note, this.#finding, this.#count);
    this.element.append(this.header);
  }

  cell(column: number): HTMLElement | undefined {
    return column < 0 ? this.header : this.#cells.get(column);
  }

  /** Shows row number `row`, with the columns of the drawing. */
  draw(row: number, drawing: RenderContext): void {
    const { matrix, frame, localizer } = drawing;
    const { kind, key, label, name, detail, note, state, finding, count } = matrix.row(row);
    const { organization, connection } = matrix.message;
    updateAttribute(this.element, 'aria-rowindex', String(row + 2));
    this.element.classList.toggle('odd', row % 2 === 1);
    this.element.style.top = `${frame.headerHeight + row * frame.rowHeight}px`;
    updateText(this.#label, label);
    updateText(this.#note, note);
    this.#note.classList.toggle('warning', kind === 'group');
    this.#note.dataset.state = state;
    this.#finding.hidden = finding === '';
    updateText(this.#count, String(count));
    const accessibleName = [name, note, finding, localizer.text('rowGrants', count)].filter(Boolean).join(', ');
    updateAttribute(this.header, 'aria-label', accessibleName);
    updateAttribute(this.header, 'title', [name, note, detail, finding].filter(Boolean).join('\n'));
    const section = kind === 'group' ? 'group' : 'principal';
    const target = { kind: section, key, organization, connection };
    updateAttribute(this.element, 'data-vscode-context', JSON.stringify({ webviewSection: section, target }));
    this.#drawCells(row, drawing);
  }

  #drawCells(row: number, { matrix, frame, localizer, columns }: RenderContext): void {
    const wanted = new Set(columns);
    for (const [column, cell] of this.#cells) {
      if (wanted.has(column)) continue;
      this.#cells.delete(column);
      this.#spare.push(cell);
    }
    for (const column of columns) {
      let cell = this.#cells.get(column);
      if (cell === undefined) {
        cell = this.#spare.pop() ?? this.#newCell();
        this.#cells.set(column, cell);
        updateAttribute(cell, 'aria-colindex', String(column + 2));
        cell.style.left = `${frame.rowHeaderWidth + column * frame.columnWidth}px`;
      }
      const isGranted = matrix.has(row, column);
      const state = !isGranted ? 'notGranted' : matrix.column(column).isListed ? 'granted' : 'grantedUnlisted';
      if (cell.dataset.state === state) continue;
      cell.dataset.state = state;
      cell.setAttribute('aria-label', localizer.text(state));
    }
    for (const cell of this.#spare.splice(0)) cell.remove();
  }

  #newCell(): HTMLElement {
    const cell = createElement('div', 'cell');
    cell.setAttribute('role', 'gridcell');
    cell.tabIndex = -1;
    this.element.append(cell);
    return cell;
  }

  /** The sizes have changed: every cell is placed anew when it is next drawn. */
  forgetCells(): void {
    for (const cell of this.#cells.values()) cell.remove();
    this.#cells.clear();
  }
}

/** The first row: the kind of the rows, then the names of the roles that are drawn. */
export class HeaderView {
  readonly element = createElement('div', 'row header');
  readonly corner = createElement('div', 'corner');
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
    updateText(this.corner, localizer.text(matrix.message.mode === 'groups' ? 'group' : 'person'));
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
    const cell = createElement('div', isListed ? 'column-header' : 'column-header unlisted');
    const counted = localizer.text(mode === 'groups' ? 'columnGroups' : 'columnPeople', count);
    const unlisted = isListed ? '' : localizer.text('unlisted');
    cell.setAttribute('role', 'columnheader');
    cell.tabIndex = -1;
    updateAttribute(cell, 'aria-colindex', String(column + 2));
    updateAttribute(cell, 'aria-label', [label, unlisted, finding, counted].filter(Boolean).join(', '));
    updateAttribute(
      cell,
      'title',
      [label, unlisted, detail, finding, counted].filter((line) => line !== '').join('\n'),
    );
    cell.style.left = `${frame.rowHeaderWidth + column * frame.columnWidth}px`;
    cell.append(createElement('span', 'label', label), ...(finding === '' ? [] : [findingMark()]));
    cell.append(createElement('span', 'count', String(count)));
    const target = { kind: 'role', key, organization, connection };
    updateAttribute(cell, 'data-vscode-context', JSON.stringify({ webviewSection: 'role', target }));
    this.element.append(cell);
    this.#cells.set(column, cell);
  }
}

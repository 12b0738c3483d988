import { createElement, updateAttribute } from './dom.ts';
import {
  clampPosition,
  drawnRange,
  type GridMetrics,
  type GridPosition,
  gridMetrics,
  movePosition,
  positionsOf,
  scrollToShow,
} from './layout.ts';
import type { Localizer } from './localizer.ts';
import type { MatrixTable } from './matrix.ts';
import { HeaderView, type RenderContext, RowView } from './rowView.ts';

export interface GridEvents {
  /** A place was clicked, or chosen with Enter. Never the corner. */
  readonly choose: (place: GridPosition) => void;
  /** Another place is active, or the grid was scrolled. */
  readonly change: () => void;
}

/**
 * Draws the visible part of a matrix and a little around it. Headers are sticky, so that the browser moves them while
 * it scrolls. One cell is in the order of Tab, and arrow keys move from it (grid pattern of the ARIA Authoring
 * Practices).
 */
export class Grid {
  readonly #element: HTMLElement;
  readonly #events: GridEvents;
  readonly #body = createElement('div', 'body');
  readonly #header = new HeaderView();
  readonly #stripe = createElement('div', 'stripe');
  readonly #rows = new Map<number, RowView>();
  readonly #spare: RowView[] = [];
  #shown: { readonly matrix: MatrixTable; readonly words: Localizer } | undefined;
  #frame: GridMetrics = gridMetrics(0, 0, { row: 0, column: 0 });
  #active: GridPosition = { row: 0, column: -1 };
  #tabStop: HTMLElement | undefined;
  #isDue = false;

  constructor(element: HTMLElement, events: GridEvents) {
    this.#element = element;
    this.#events = events;
    this.#body.setAttribute('role', 'rowgroup');
    // The editor would offer Cut and Paste; rows and columns say what they are and have commands of their own.
    element.setAttribute('data-vscode-context', JSON.stringify({ preventDefaultContextMenuItems: true }));
    this.#stripe.setAttribute('role', 'presentation');
    this.#body.append(this.#header.element);
    element.append(this.#stripe, this.#body);
    element.addEventListener('scroll', () => this.#soon());
    element.addEventListener('keydown', (event) => this.#press(event));
    element.addEventListener('focusin', (event) => this.#follow(event));
    element.addEventListener('click', (event) => this.#click(event));
    element.addEventListener('pointermove', (event) => this.#point(event));
    element.addEventListener('pointerleave', () => this.#mark(this.#active.column));
    new ResizeObserver(() => this.#redraw()).observe(element);
  }

  get active(): GridPosition {
    return this.#active;
  }

  get scroll(): { readonly top: number; readonly left: number } {
    return { top: this.#element.scrollTop, left: this.#element.scrollLeft };
  }

  /** Replaces the content. The active place stays, or moves to the nearest that exists. */
  show(matrix: MatrixTable, words: Localizer): void {
    const isOther = this.#shown?.matrix.message.mode !== matrix.message.mode;
    this.#shown = { matrix, words };
    updateAttribute(this.#element, 'aria-label', words.text('title'));
    updateAttribute(this.#element, 'aria-rowcount', String(matrix.rows.length + 1));
    updateAttribute(this.#element, 'aria-colcount', String(matrix.columns.length + 1));
    this.#active = clampPosition(isOther ? { row: 0, column: this.#active.column } : this.#active, this.#bounds());
    if (isOther) this.#element.scrollTop = 0;
    this.#redraw();
  }

  /** Restores the page's state from before it was hidden. */
  restore({ top, left }: { readonly top: number; readonly left: number }, active: GridPosition): void {
    this.#element.scrollTo(left, top);
    this.#active = clampPosition(active, this.#bounds());
    this.#draw();
  }

  focus(): void {
    this.activate(this.#active);
  }

  /** Moves there, scrolls as far as is needed, and takes the focus. */
  activate(place: GridPosition): void {
    this.#active = clampPosition(place, this.#bounds());
    const { clientHeight, clientWidth, scrollTop, scrollLeft } = this.#element;
    const { headerHeight, rowHeaderWidth } = this.#frame;
    const { rows, columns } = this.#lines();
    const top = scrollToShow(rows, this.#active.row, scrollTop, clientHeight - headerHeight);
    const left = scrollToShow(columns, this.#active.column, scrollLeft, clientWidth - rowHeaderWidth);
    if (top !== scrollTop || left !== scrollLeft) this.#element.scrollTo(left, top);
    this.#draw();
    this.#tabStop?.focus({ preventScroll: true });
    this.#events.change();
  }

  #bounds() {
    const { rows, columns } = this.#lines();
    const page = Math.floor((this.#element.clientHeight - this.#frame.headerHeight) / rows.size) - 1;
    return { rows: rows.count, columns: columns.count, page: Math.max(1, page) };
  }

  #lines() {
    const { rows, columns } = this.#shown?.matrix ?? { rows: [], columns: [] };
    return {
      rows: { count: rows.length, size: this.#frame.rowHeight },
      columns: { count: columns.length, size: this.#frame.columnWidth },
    };
  }

  /** At most once per frame. */
  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#draw();
      this.#events.change();
    });
  }

  /** Draws again after a change of sizes or contents. The focus stays in the grid if it was in it. */
  #redraw(): void {
    const hadFocus = this.#element.contains(document.activeElement);
    this.#forget();
    this.#draw();
    if (hadFocus) this.#tabStop?.focus({ preventScroll: true });
  }

  /** All cells are placed anew. */
  #forget(): void {
    const { matrix } = this.#shown ?? {};
    if (matrix === undefined) return;
    this.#frame = gridMetrics(this.#element.clientWidth, matrix.columns.length, matrix.longest);
    const { rowHeight, rowHeaderWidth, columnWidth, headerHeight, isUpright } = this.#frame;
    const { style } = this.#element;
    style.setProperty('--row-height', `${rowHeight}px`);
    style.setProperty('--row-header-width', `${rowHeaderWidth}px`);
    style.setProperty('--column-width', `${columnWidth}px`);
    style.setProperty('--header-height', `${headerHeight}px`);
    this.#element.classList.toggle('upright', isUpright);
    this.#body.style.width = `${rowHeaderWidth + matrix.columns.length * columnWidth}px`;
    this.#body.style.height = `${headerHeight + matrix.rows.length * rowHeight}px`;
    this.#header.forgetCells();
    for (const [row, view] of this.#rows) {
      view.forgetCells();
      this.#rows.delete(row);
      this.#spare.push(view);
    }
  }

  #draw(): void {
    if (this.#shown === undefined) return;
    const { matrix, words: localizer } = this.#shown;
    const { clientHeight, clientWidth, scrollTop, scrollLeft } = this.#element;
    const { headerHeight, rowHeaderWidth } = this.#frame;
    const lines = this.#lines();
    const { row, column } = this.#active;
    const columns = positionsOf(drawnRange(lines.columns, scrollLeft, clientWidth - rowHeaderWidth), column);
    const rows = positionsOf(drawnRange(lines.rows, scrollTop, clientHeight - headerHeight), row);
    const drawing: RenderContext = { matrix, localizer, frame: this.#frame, columns };
    this.#header.draw(drawing);
    const wanted = new Set(rows);
    for (const [index, view] of this.#rows) {
      if (wanted.has(index)) continue;
      this.#rows.delete(index);
      this.#spare.push(view);
    }
    for (const index of rows) {
      const view = this.#rows.get(index) ?? this.#spare.pop() ?? new RowView();
      this.#rows.set(index, view);
      view.draw(index, drawing);
      if (!view.element.isConnected) this.#body.append(view.element);
    }
    for (const view of this.#spare) view.element.remove();
    this.#setTabStop();
    this.#mark(column);
  }

  #setTabStop(): void {
    const { row, column } = this.#active;
    const element = row < 0 ? this.#header.cell(column) : this.#rows.get(row)?.cell(column);
    if (element === this.#tabStop) return;
    if (this.#tabStop) this.#tabStop.tabIndex = -1;
    if (element) element.tabIndex = 0;
    this.#tabStop = element;
  }

  /** A stripe down the column, so that the eye finds its name. */
  #mark(column: number): void {
    const { rowHeaderWidth, columnWidth } = this.#frame;
    this.#stripe.hidden = column < 0;
    this.#stripe.style.left = `${rowHeaderWidth + column * columnWidth}px`;
    this.#stripe.style.height = this.#body.style.height;
  }

  #press(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (altKey || shiftKey) return;
    if (key === 'Enter' || key === ' ') {
      event.preventDefault();
      this.#choose();
      return;
    }
    const to = movePosition(this.#active, { key, isControl: ctrlKey || metaKey }, this.#bounds());
    if (to === undefined) return;
    event.preventDefault();
    this.activate(to);
  }

  #click(event: MouseEvent): void {
    const place = this.#placeOf(event.target);
    if (place === undefined) return;
    this.activate(place);
    this.#choose();
  }

  /** A screen reader, or a press of the mouse, has moved the focus by itself. */
  #follow({ target }: FocusEvent): void {
    const place = this.#placeOf(target);
    if (!place || (place.row === this.#active.row && place.column === this.#active.column)) return;
    this.#active = place;
    this.#setTabStop();
    this.#mark(place.column);
    this.#events.change();
  }

  #choose(): void {
    const { row, column } = this.#active;
    if (row >= 0 || column >= 0) this.#events.choose(this.#active);
  }

  #point(event: PointerEvent): void {
    const place = this.#placeOf(event.target);
    if (place) this.#mark(place.column);
  }

  /** The grid's own indices say where an element stands: they begin with the headers at 1. */
  #placeOf(target: EventTarget | null): GridPosition | undefined {
    const cell = target instanceof Element ? target.closest('[aria-colindex]') : null;
    const row = cell?.closest('[aria-rowindex]');
    if (!cell || !row) return undefined;
    return {
      row: Number(row.getAttribute('aria-rowindex')) - 2,
      column: Number(cell.getAttribute('aria-colindex')) - 2,
    };
  }
}

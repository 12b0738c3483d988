/* The places of rows and columns of one size, and which of them are visible. Lengths are CSS pixels. */

export interface Axis {
  readonly count: number;
  /** The size of each row, or of each column. */
  readonly size: number;
}

/** From `first` up to, but not including, `end`. */
export interface IndexRange {
  readonly first: number;
  readonly end: number;
}

/** The number drawn beyond the edge; the range moves in steps of this, so that few scroll events redraw anything. */
const STEP = 8;

/** The range to draw, when `length` is visible from `scroll` on. */
export function drawnRange({ count, size }: Axis, scroll: number, length: number): IndexRange {
  if (count === 0 || length <= 0) return { first: 0, end: 0 };
  const top = Math.min(Math.max(scroll, 0), Math.max(0, count * size - length)); // Scrolling may overshoot.
  const first = Math.floor(top / size);
  const end = Math.ceil((top + length) / size);
  return {
    first: Math.max(0, Math.floor(first / STEP) * STEP - STEP),
    end: Math.min(count, Math.ceil(end / STEP) * STEP + STEP),
  };
}

/** The positions of a range, and of the one that has the focus: an element that is removed would lose it. */
export function positionsOf({ first, end }: IndexRange, active: number): readonly number[] {
  const positions = Array.from({ length: end - first }, (_, index) => first + index);
  if (active < 0 || (active >= first && active < end)) return positions;
  return active < first ? [active, ...positions] : [...positions, active];
}

/** The nearest scroll position at which all of one row or column is visible. */
export function scrollToShow({ size }: Axis, index: number, scroll: number, length: number): number {
  if (index < 0) return scroll; // A header is always in sight.
  const start = index * size;
  if (start < scroll || size > length) return start;
  return Math.max(scroll, start + size - length);
}

export interface GridMetrics {
  readonly rowHeight: number;
  readonly rowHeaderWidth: number;
  readonly columnWidth: number;
  readonly headerHeight: number;
  /** Whether the names of roles are upright, which they are if there are many. */
  readonly isUpright: boolean;
}

const ROW_HEIGHT = 24;
const NARROWEST = 28;
const WIDEST_UPRIGHT = 44;
const WIDEST = 168;
/** A narrower name is easier to read upright. */
const READABLE = 96;
/** The width for the names of rows in a narrow window, as long as a few columns are visible. */
const READABLE_ROW = 220;
/** The approximate width of one character. */
const CHARACTER = 7;

/** Characters of the longest name of a row, with what stands beside it, and of a column. */
export interface LongestLabels {
  readonly row: number;
  readonly column: number;
}

/** The sizes for a window of this width and this many columns. */
export function gridMetrics(width: number, columns: number, longest: LongestLabels): GridMetrics {
  const wanted = longest.row * CHARACTER + 72; // With its count.
  const share = Math.max(width * 0.4, Math.min(READABLE_ROW, width - 3 * NARROWEST));
  const rowHeaderWidth = Math.round(Math.max(140, Math.min(wanted, 440, share)));
  const columnShare = columns === 0 ? WIDEST : Math.floor((width - rowHeaderWidth) / columns);
  const isUpright = columnShare < READABLE;
  return {
    rowHeight: ROW_HEIGHT,
    rowHeaderWidth,
    columnWidth: isUpright ? Math.min(WIDEST_UPRIGHT, Math.max(NARROWEST, columnShare)) : Math.min(WIDEST, columnShare),
    headerHeight: isUpright ? Math.min(190, Math.max(64, longest.column * CHARACTER + 44)) : 48,
    isUpright,
  };
}

/** A cell of the grid; -1 is the header row, or the column of row headers. */
export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

export interface Bounds {
  readonly rows: number;
  readonly columns: number;
  /** The number of rows that Page Up and Page Down pass over. */
  readonly page: number;
}

export interface KeyPress {
  readonly key: string;
  /** Ctrl, or Command on a Mac. */
  readonly isControl: boolean;
}

/**
 * The place to which a key leads, as in the grid pattern of the ARIA Authoring Practices.
 *
 * @returns `undefined` for keys that do not move.
 */
export function movePosition(
  from: GridPosition,
  { key, isControl }: KeyPress,
  bounds: Bounds,
): GridPosition | undefined {
  const to = target(from, key, isControl, bounds);
  return to && clampPosition(to, bounds);
}

/** The same place, or the nearest if there are fewer rows or columns. */
export function clampPosition(
  { row, column }: GridPosition,
  { rows, columns }: Pick<Bounds, 'rows' | 'columns'>,
): GridPosition {
  return { row: Math.max(-1, Math.min(row, rows - 1)), column: Math.max(-1, Math.min(column, columns - 1)) };
}

function target(
  { row, column }: GridPosition,
  key: string,
  isControl: boolean,
  bounds: Bounds,
): GridPosition | undefined {
  const { rows, columns, page } = bounds;
  switch (key) {
    case 'ArrowUp':
      return { row: row - 1, column };
    case 'ArrowDown':
      return { row: row + 1, column };
    case 'ArrowLeft':
      return { row, column: column - 1 };
    case 'ArrowRight':
      return { row, column: column + 1 };
    case 'PageUp':
      return { row: row < 0 ? row : Math.max(0, row - page), column };
    case 'PageDown':
      return { row: Math.max(0, row) + page, column };
    case 'Home':
      return isControl ? { row: -1, column: -1 } : { row, column: -1 };
    case 'End':
      return isControl ? { row: rows - 1, column: columns - 1 } : { row, column: columns - 1 };
    default:
      return undefined;
  }
}

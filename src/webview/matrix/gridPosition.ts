/** A cell of the grid; -1 is the header row, or the column of row headers. */
export interface GridPosition {
  readonly row: number;
  readonly column: number;
}

export interface Bounds {
  readonly rows: number;
  readonly columns: number;
  /** Rows that Page Up and Page Down pass over. */
  readonly page: number;
}

export interface Key {
  readonly key: string;
  /** Ctrl, or Command on a Mac. */
  readonly isControl: boolean;
}

/**
 * Where a key leads, as in the grid pattern of the ARIA Authoring Practices.
 *
 * @returns `undefined` for keys that do not move.
 */
export function movePosition(from: GridPosition, { key, isControl }: Key, bounds: Bounds): GridPosition | undefined {
  const to = target(from, key, isControl, bounds);
  return to && clampPosition(to, bounds);
}

/** The same place, or the nearest where there are fewer rows or columns. */
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

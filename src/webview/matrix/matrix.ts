import { countOfRow, countsOfColumns, hasBit } from './bitMatrix.ts';
import type { LongestLabels } from './layout.ts';
import type { MatrixMessage, ViewMessage } from './protocol.ts';

export interface RowText {
  readonly kind: string;
  readonly key: string;
  readonly label: string;
  /** The whole name, if the label is shortened. */
  readonly name: string;
  readonly detail: string;
  readonly note: string;
  readonly state: 'error' | 'degraded' | '';
  /** The findings of access rules about it, one a line. */
  readonly finding: string;
  /** The number of its roles. */
  readonly count: number;
}

export interface ColumnText {
  readonly key: string;
  readonly label: string;
  readonly detail: string;
  readonly isListed: boolean;
  readonly finding: string;
  /** The number of shown rows that have it. */
  readonly count: number;
}

/** The visible part of a matrix. Rows and columns are counted in the order in which they are shown. */
export class MatrixTable {
  readonly message: MatrixMessage;
  readonly rows: Uint32Array;
  readonly columns: Uint32Array;
  /** The number of set cells in the shown rows. */
  readonly grants: number;
  readonly #counts: Uint32Array;

  constructor(message: MatrixMessage, view: ViewMessage) {
    this.message = message;
    this.rows = view.rows.filter((index) => index < message.rows.keys.length);
    this.columns = view.columns.filter((index) => index < message.columns.keys.length);
    this.#counts = countsOfColumns(message.bits, message.columns.keys.length, this.rows);
    this.grants = this.#counts.reduce((sum, count) => sum + count, 0);
  }

  has(row: number, column: number): boolean {
    const { bits, columns } = this.message;
    return hasBit(bits, columns.keys.length, this.rows[row] ?? 0, this.columns[column] ?? 0);
  }

  row(row: number): RowText {
    const at = this.rows[row] ?? 0;
    const { rows, columns, bits } = this.message;
    return {
      kind: rows.kinds[at] ?? '',
      key: rows.keys[at] ?? '',
      label: rows.labels[at] ?? '',
      name: rows.names[at] ?? '',
      detail: rows.details[at] ?? '',
      note: rows.notes[at] ?? '',
      state: rows.states[at] ?? '',
      finding: rows.findings[at] ?? '',
      count: countOfRow(bits, columns.keys.length, at),
    };
  }

  column(column: number): ColumnText {
    const at = this.columns[column] ?? 0;
    const { keys, labels, details, listed, findings } = this.message.columns;
    return {
      key: keys[at] ?? '',
      label: labels[at] ?? '',
      detail: details[at] ?? '',
      isListed: listed[at] ?? true,
      finding: findings[at] ?? '',
      count: this.#counts[at] ?? 0,
    };
  }

  get hasFindings(): boolean {
    const { rows, columns } = this.message;
    return [rows, columns].some(({ findings }) => findings.some((finding) => finding !== ''));
  }

  /** The room that names need. */
  get longest(): LongestLabels {
    const { rows, columns } = this.message;
    const most = (indices: Uint32Array, ...texts: readonly (readonly string[])[]) =>
      indices.reduce((longest, at) => {
        const length = texts.reduce((sum, each) => sum + (each[at]?.length ?? 0), 0);
        return Math.max(longest, length);
      }, 0);
    return { row: most(this.rows, rows.labels, rows.notes), column: most(this.columns, columns.labels) };
  }
}

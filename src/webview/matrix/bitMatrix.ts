/* Cells of a matrix, one bit each: a row begins with a byte of its own, the first column is its lowest bit. */

export function bytesPerRow(columns: number): number {
  return Math.ceil(columns / 8);
}

export function makeBits(rows: number, columns: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(rows * bytesPerRow(columns));
}

export function setBit(bits: Uint8Array, columns: number, row: number, column: number): void {
  const at = row * bytesPerRow(columns) + (column >> 3);
  bits[at] = (bits[at] ?? 0) | (1 << (column & 7));
}

export function hasBit(bits: Uint8Array, columns: number, row: number, column: number): boolean {
  return ((bits[row * bytesPerRow(columns) + (column >> 3)] ?? 0) & (1 << (column & 7))) !== 0;
}

/** The number of set bits in a row. */
export function countOfRow(bits: Uint8Array, columns: number, row: number): number {
  const length = bytesPerRow(columns);
  let count = 0;
  for (let at = row * length; at < (row + 1) * length; at += 1) {
    for (let byte = bits[at] ?? 0; byte !== 0; byte &= byte - 1) count += 1;
  }
  return count;
}

/** The number of these rows that have each column. A byte without a bit costs one look: such matrices are sparse. */
export function countsOfColumns(bits: Uint8Array, columns: number, rows: ArrayLike<number>): Uint32Array {
  const length = bytesPerRow(columns);
  const counts = new Uint32Array(columns);
  for (let index = 0; index < rows.length; index += 1) {
    const start = (rows[index] ?? 0) * length;
    for (let offset = 0; offset < length; offset += 1) {
      for (let byte = bits[start + offset] ?? 0; byte !== 0; byte &= byte - 1) {
        const column = offset * 8 + (31 - Math.clz32(byte & -byte));
        counts[column] = (counts[column] ?? 0) + 1;
      }
    }
  }
  return counts;
}

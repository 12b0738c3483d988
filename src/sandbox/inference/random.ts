import { createHash } from 'node:crypto';

/** A source of numbers in [0, 1); the same key always gives the same numbers, on every machine (sfc32, public domain). */
export function seededRandom(key: string): () => number {
  const digest = createHash('sha256').update(key).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let counter = digest.readInt32LE(12);
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4294967296;
  };
}

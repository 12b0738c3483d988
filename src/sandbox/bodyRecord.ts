/** How many bodies, and bytes of all of them as JSON in UTF-8, at most: a sandbox may run for days. */
const MOST = 50;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Remembers the last requests for a completion, oldest first, for tests of what a client really tells a model. One that
 * is too long is forgotten with all before it: what is remembered has no holes.
 */
export class BodyRecord {
  /** As text: how much memory an object takes nobody can tell. */
  readonly #bodies: Buffer[] = [];
  #bytes = 0;

  /** @param body a JSON value. */
  add(body: unknown): void {
    const text = Buffer.from(JSON.stringify(body));
    this.#bodies.push(text);
    this.#bytes += text.length;
    while (this.#bodies.length > MOST || this.#bytes > MOST_BYTES) this.#bytes -= this.#bodies.shift()?.length ?? 0;
  }

  toJSON(): readonly unknown[] {
    return this.#bodies.map((text) => JSON.parse(text.toString()));
  }
}

const MOST = 50;

/** Remembers the last requests for a completion, oldest first, for tests of what a client really tells a model. */
export class BodyRecord {
  readonly #bodies: unknown[] = [];

  add(body: unknown): void {
    this.#bodies.push(body);
    if (this.#bodies.length > MOST) this.#bodies.shift();
  }

  toJSON(): readonly unknown[] {
    return this.#bodies;
  }
}

/** An event for code without `vscode`. Listeners are called in the order in which they were added. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** @returns a function that ends the subscription. */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}

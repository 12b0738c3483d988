/** The smallest event that core needs; the host wraps it into a VS Code event. */
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

import type { Counters } from './types.ts';

/** Counters kept in a map. `toJSON` is the flat object the control server answers. */
export class CounterTable implements Counters {
  readonly #values = new Map<string, number>();

  count(name: string): void {
    this.add(name, 1);
  }

  add(name: string, by: number): void {
    this.#values.set(name, this.get(name) + by);
  }

  get(name: string): number {
    return this.#values.get(name) ?? 0;
  }

  /** Starts over. Gauges (`…open`) keep their value: what is open stays open. */
  clear(): void {
    for (const name of this.#values.keys()) {
      if (!name.endsWith('.open')) this.#values.delete(name);
    }
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/**
 * Named numbers for tests to read. Counted for both services: `requests.<service>`, `<service> <METHOD> <path>`,
 * `host <Host header>`, `faults.<kind>`, `unauthorized.<service>` (answers with 401), `streams.<service>.opened`, `.ended`,
 * `.aborted` (the client closed before the end), `.cut` (a fault did) and the gauge `.open`; and what the halves count.
 */
export class CounterTable {
  readonly #values = new Map<string, number>();

  readonly count = (name: string, by = 1): void => {
    this.#values.set(name, this.get(name) + by);
  };

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

const MOST_SECRETS = 10_000;

/** The secrets that went over the wire, for tests that search what a run left behind for them. */
export class SecretRecord {
  readonly #values = new Set<string>();

  add(value: string): void {
    if (this.#values.size < MOST_SECRETS) this.#values.add(value);
  }

  toJSON(): string[] {
    return [...this.#values];
  }
}

/** How many bodies, and bytes of all of them as JSON in UTF-8, at most: a sandbox may run for days. */
const MOST_BODIES = 50;
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
    while (this.#bodies.length > MOST_BODIES || this.#bytes > MOST_BYTES)
      this.#bytes -= this.#bodies.shift()?.length ?? 0;
  }

  toJSON(): readonly unknown[] {
    return this.#bodies.map((text) => JSON.parse(text.toString()));
  }
}

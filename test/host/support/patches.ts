/**
 * Replaces members of objects that everybody shares (VS Code's namespaces, `globalThis`) for the length of a test. In an
 * extension host that runs tests they are writable, and the running extension sees the replacement too.
 */
export class Patches {
  readonly #undo: (() => void)[] = [];

  /** `value` stands in for `object[name]` until {@link restore}. */
  set<T extends object>(object: T, name: keyof T, value: unknown): void {
    const own = Object.getOwnPropertyDescriptor(object, name);
    Object.defineProperty(object, name, { configurable: true, enumerable: true, writable: true, value });
    this.#undo.push(() => {
      if (own) Object.defineProperty(object, name, own);
      else Reflect.deleteProperty(object, name);
    });
  }

  restore(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}

/** Patches that are undone after each test of the `describe` that calls this. */
export function usePatches(): Patches {
  const patches = new Patches();
  afterEach(() => patches.restore());
  return patches;
}

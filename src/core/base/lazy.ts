import { asRolecallError, cancelled } from './errors.ts';

/**
 * Something that is made when it is first asked for, once for all who ask: most often with code that is read only then.
 * What could not be made is tried again by whoever asks next.
 */
export class Lazy<T> {
  readonly #make: () => Promise<T>;
  #making: Promise<T> | undefined;
  #made: T | undefined;
  #isDisposed = false;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** What was made so far, without making it. */
  get made(): T | undefined {
    return this.#made;
  }

  /** @throws RolecallError that says why it could not be made; `cancelled` once this is disposed of. */
  get(): Promise<T> {
    this.#making ??= this.#once().catch((error: unknown) => {
      this.#making = undefined;
      throw asRolecallError(error);
    });
    return this.#making;
  }

  async #once(): Promise<T> {
    if (this.#isDisposed) throw cancelled();
    const made = await this.#make();
    if (this.#isDisposed) {
      disposeOf(made);
      throw cancelled();
    }
    this.#made = made;
    return made;
  }

  /** Disposes of what was made, where that can be disposed of; what is being made follows as soon as it is there. */
  dispose(): void {
    this.#isDisposed = true;
    this.#making = undefined;
    const made = this.#made;
    this.#made = undefined;
    disposeOf(made);
  }
}

function disposeOf(value: unknown): void {
  const { dispose } = Object(value) as { readonly dispose?: unknown };
  if (typeof dispose === 'function') dispose.call(value);
}

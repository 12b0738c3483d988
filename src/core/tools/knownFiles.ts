import path from 'node:path';

/** What is asked of a file system. */
export interface FileAccess {
  /** The content of a file, or undefined when there is none. */
  readonly read: (file: string) => Promise<Uint8Array | undefined>;
  readonly isFolder: (path: string) => Promise<boolean>;
  /** The names in a folder: none when there is no such folder, undefined when they cannot be told. */
  readonly list: (folder: string) => Promise<readonly string[] | undefined>;
}

/**
 * Answers of a file system for the length of one computation that asks for very many names of which hardly any exist:
 * each folder is listed once, and only for what may stand there the file system is asked itself, once.
 */
export class KnownFiles {
  readonly #access: FileAccess;
  readonly #mayList: (folder: string) => boolean;
  readonly #lists = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  readonly #contents = new Map<string, Promise<Uint8Array | undefined>>();
  readonly #folders = new Map<string, Promise<boolean>>();

  /** @param mayList whether a folder may be listed; what stands in others is asked for by its name. */
  constructor(access: FileAccess, mayList: (folder: string) => boolean) {
    this.#access = access;
    this.#mayList = mayList;
  }

  async read(file: string): Promise<Uint8Array | undefined> {
    if (!(await this.mayExist(file))) return undefined;
    return remembered(this.#contents, file, this.#access.read);
  }

  async isFolder(file: string): Promise<boolean> {
    return (await this.mayExist(file)) && remembered(this.#folders, file, this.#access.isFolder);
  }

  /** False where it certainly does not exist. */
  async mayExist(file: string): Promise<boolean> {
    const names = await this.#names(path.dirname(file));
    return names === undefined || isOdd(file) || names.has(folded(path.basename(file)));
  }

  async #names(folder: string): Promise<ReadonlySet<string> | undefined> {
    if (!this.#mayList(folder)) return undefined;
    return remembered(this.#lists, folder, async () => {
      if (!(await this.mayExist(folder))) return new Set<string>();
      const names = await this.#access.list(folder);
      return names && new Set(names.map(folded));
    });
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, ask: (key: string) => Promise<T>): Promise<T> {
  const answer = known.get(key) ?? ask(key);
  known.set(key, answer);
  return answer;
}

/** Names that some file system takes for the same are the same: it decides itself, when it is asked. */
function folded(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase();
}

/** Windows knows a file by other names than its list shows: `PROGRA~1`, `a.js.`, `a.js::$DATA`. */
function isOdd(file: string): boolean {
  return path.sep === '\\' && /~|[. ]$|:/.test(path.basename(file));
}

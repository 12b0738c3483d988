import fs from 'node:fs';
import path from 'node:path';

/** One place where a secret was found. Describes the secret by its encoding and length only. */
export interface SecretMatch {
  readonly where: string;
  readonly encoding: string;
  readonly length: number;
}

/** Shorter values (a state cut by a test, say) would be found by chance. */
const SHORTEST = 16;

/** Searches texts and files for secrets, raw and as they look inside URLs, JSON and base64. */
export class SecretSearch {
  readonly #needles: { readonly text: string; readonly encoding: string; readonly length: number }[];

  constructor(secrets: readonly string[]) {
    this.#needles = secrets
      .filter((secret) => secret.length >= SHORTEST)
      .flatMap((secret) =>
        [...encodings(secret)].map(([text, encoding]) => ({ text, encoding, length: secret.length })),
      );
  }

  inText(where: string, text: string): SecretMatch[] {
    return this.#needles
      .filter(({ text: needle }) => text.includes(needle))
      .map(({ encoding, length }) => ({ where, encoding, length }));
  }

  /** Every file below a folder, whatever it is; symbolic links are not followed. */
  inFolder(folder: string): SecretMatch[] {
    const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.flatMap((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return this.inText(file, fs.readFileSync(file, 'latin1'));
    });
  }
}

/** Each form once, with the name of the encoding that gives it. */
function encodings(secret: string): Map<string, string> {
  const bytes = Buffer.from(secret);
  const forms = new Map([
    [JSON.stringify(secret).slice(1, -1), 'json'],
    [encodeURIComponent(secret), 'url'],
    [secret, 'raw'],
  ]);
  // Inside a longer text base64 begins at any of three offsets; the middle of each is the same whatever surrounds it.
  for (const offset of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const inner = shifted.slice(offset === 0 ? 0 : 4, shifted.length - 4);
    forms.set(inner, `base64+${offset}`);
    forms.set(inner.replaceAll('+', '-').replaceAll('/', '_'), `base64url+${offset}`);
  }
  return forms;
}

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import path from 'node:path';
import { createWhole, readIfAny } from '../rotation/files.ts';

const NAME = 'program.key';

/** Proves which program asks: the public half of a key that the program has made, by which a window recognizes it. */
export interface ProgramProof {
  /** DER (SubjectPublicKeyInfo) in base64. */
  readonly publicKey: string;
  readonly signature: string;
}

/** What a program signs: a challenge that the window at this address has just made. */
function statement(address: string, challenge: string): Buffer {
  return Buffer.from(JSON.stringify(['rolecall', 'program', address, challenge]));
}

/** The key of this program, made on first use, in a file that only its user can read. It opens no service. */
export class ProgramKey {
  readonly #key: KeyObject;

  private constructor(key: KeyObject) {
    this.#key = key;
  }

  /** @param folder A private folder that exists. */
  static async open(folder: string): Promise<ProgramKey> {
    const file = path.join(folder, NAME);
    for (;;) {
      const found = await readIfAny(file);
      if (found) return new ProgramKey(createPrivateKey(found));
      const { privateKey } = generateKeyPairSync('ed25519');
      await createWhole(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), true); // Or another has, meanwhile.
    }
  }

  prove(address: string, challenge: string): ProgramProof {
    return {
      publicKey: createPublicKey(this.#key).export({ type: 'spki', format: 'der' }).toString('base64'),
      signature: sign(null, statement(address, challenge), this.#key).toString('base64'),
    };
  }
}

/** The fingerprint of the program that made this proof; `undefined` where it does not hold. */
export function verifyProgram(
  { publicKey, signature }: ProgramProof,
  address: string,
  challenge: string,
): string | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
    if (key.asymmetricKeyType !== 'ed25519') return undefined;
    if (!verify(null, statement(address, challenge), key, Buffer.from(signature, 'base64'))) return undefined;
    return createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
  } catch {
    return undefined; // No key.
  }
}

import type { Log } from './log.ts';

const HIDDEN = '‹hidden›';

/** Names whose values are secrets wherever they stand: in a query, a form, JSON or prose. */
const SECRET_NAMES =
  '(?:access_token|refresh_token|id_token|client_secret|code_verifier|code|state|nonce|token|password|secret|authorization)';
const ASSIGNMENT = new RegExp(`(["']?\\b${SECRET_NAMES}["']?\\s*[=:]\\s*["']?)(?!\\d{3}\\b)([^\\s"'&,;}]{6,})`, 'gi');
const AUTHORIZATION = /\b(Bearer|Basic)\s+[\w.~+/%=-]{6,}/gi;
/** Compact JWS/JWE, and any unbroken run that is too long to be a word, an id or a path segment. */
const OPAQUE = /[\w+%=-]+(?:\.[\w+%=-]*){2,4}|[\w+%=-]{64,}/g;

/**
 * Hides what looks like a secret. A second net below the rule that secrets are not handed to the log at all: known
 * values are hidden by {@link Redactor}.
 */
export function redact(text: string): string {
  return text
    .replace(AUTHORIZATION, `$1 ${HIDDEN}`)
    .replace(ASSIGNMENT, `$1${HIDDEN}`)
    .replace(OPAQUE, (run) => (run.length >= 64 ? HIDDEN : run));
}

/** Knows the live secrets and hides them in every encoding they could be written in. */
export class Redactor {
  readonly #forms = new Set<string>();

  /** Remembers `secret`; short values are not remembered because hiding them would blot out ordinary words. */
  learn(secret: string | undefined): void {
    if (!secret || secret.length < 8) return;
    for (const form of encodings(secret)) this.#forms.add(form);
    // Rotation makes new secrets all day: the oldest forms go, the patterns above still catch them.
    for (const form of this.#forms) {
      if (this.#forms.size <= 400) break;
      this.#forms.delete(form);
    }
  }

  redact(text: string): string {
    let result = text;
    for (const form of this.#forms) result = result.replaceAll(form, HIDDEN);
    return redact(result);
  }
}

/** A log that passes on only what the redactor lets through. */
export function redactingLog(inner: Log, redactor: Redactor): Log {
  return {
    trace: (message) => inner.trace(redactor.redact(message)),
    debug: (message) => inner.debug(redactor.redact(message)),
    info: (message) => inner.info(redactor.redact(message)),
    warn: (message) => inner.warn(redactor.redact(message)),
    error: (message) => inner.error(redactor.redact(message)),
  };
}

function encodings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    encodeURIComponent(secret),
    json,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}

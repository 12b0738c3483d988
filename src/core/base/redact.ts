import type { Log } from './log.ts';

/** Stands where a secret stood. */
export const HIDDEN = '‹hidden›';

/** Names whose values are secrets wherever they stand: in a query, a form, JSON (also within a string) or prose. */
const SECRET = assignment(
  'access_token|refresh_token|id_token|client_secret|code_verifier|token|password|secret|authorization',
);
/** Names that are ordinary words too: `code: invalid_grant` and `state: offline` are what a log is read for. */
const AMBIGUOUS = assignment('code|state|nonce');
const AUTHORIZATION = /\b(Bearer|Basic)\s+([\w.~+/%=-]{6,})/gi;
/** Words of one spelling, as error codes and states are; what is drawn at random mixes cases and digits. */
const WORD = /^(?:[A-Z]+(?:_[A-Z\d]+)*|[A-Z]?[a-z]+(?:[_-][a-z]+|[A-Z][a-z]+)*)[.:!?)]*$/;
/** The beginning of every JWS and JWE that has a header of JSON, however short. */
const JSON_TOKEN = /\beyJ[\w-]{8,}\.[\w.-]+/g;
/** Compact JWS/JWE, and any unbroken run that is too long to be a word, an id or a path segment. */
const OPAQUE = /[\w+%=-]+(?:\.[\w+%=-]*){2,4}|[\w+%=-]{64,}/g;

/**
 * Hides what looks like a secret. A second net below the rule that secrets are not handed to the log at all: known
 * values are hidden by {@link Redactor}.
 */
export function redact(text: string): string {
  return text
    .replace(AUTHORIZATION, (all, scheme: string, value: string) => (isWord(value) ? all : `${scheme} ${HIDDEN}`))
    .replace(SECRET, `$1${HIDDEN}`)
    .replace(AMBIGUOUS, (all, name: string, value: string) =>
      isWord(value) && !/^[?&#]/.test(name) ? all : name + HIDDEN,
    )
    .replace(JSON_TOKEN, HIDDEN)
    .replace(OPAQUE, (run) => (run.length >= 64 ? HIDDEN : run));
}

function assignment(names: string): RegExp {
  return new RegExp(`([?&#]?\\b(?:${names})\\\\*["']?\\s*[=:]\\s*\\\\*["']?)([^\\s"'&,;}]{6,})`, 'gi');
}

function isWord(value: string): boolean {
  return value.length <= 40 && WORD.test(value);
}

/** Knows the live secrets and hides them in every encoding they could be written in. */
export class Redactor {
  readonly #forms = new Set<string>();

  /** Remembers `secret`; short values are not remembered because hiding them would blot out ordinary words. */
  learn(secret: string | undefined): void {
    if (!secret || secret.length < 8) return;
    for (const form of encodings(secret)) {
      this.#forms.delete(form); // A client secret is learned again at each use and so stays among the newest.
      this.#forms.add(form);
    }
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
    new URLSearchParams([['', secret]]).toString().slice(1), // Forms encode `~` and spaces in their own way.
    json,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
  ];
}

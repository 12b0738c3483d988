import * as l10n from '@vscode/l10n';
import { redact } from './redact.ts';
import { truncate, truncateWithEllipsis } from './text.ts';

/**
 * What went wrong, as a value the host can decide by. Never compare messages: compare `kind`.
 *
 * - `cancelled`: the user stopped it; shown nowhere.
 * - `configuration`: a setting, a secret or a file the user wrote has to change.
 * - `signedOut`: there is no session, or the service refused its token (401); signing in helps.
 * - `sessionEnded`: there was a session and the identity service no longer honours it.
 * - `forbidden`, `notFound`, `rateLimited`, `credit`, `invalidRequest`, `unsupported`, `contextOverflow`: the service
 *   understood and refused.
 * - `server`: the service failed (5xx); a retry may succeed (specification of the identity service, Errors).
 * - `offline`: no answer was received: refused connection, name not found, reset, proxy.
 * - `timeout`: one of our own deadlines passed; the message says which.
 * - `protocol`: an answer came that is not what the specification describes.
 * - `storage`: the secret store cannot be read or written.
 * - `tool`: a workspace tool could not be run.
 * - `unexpected`: a defect of ours.
 */
export const errorKinds = [
  'cancelled',
  'configuration',
  'signedOut',
  'sessionEnded',
  'forbidden',
  'notFound',
  'rateLimited',
  'credit',
  'invalidRequest',
  'unsupported',
  'contextOverflow',
  'server',
  'offline',
  'timeout',
  'protocol',
  'storage',
  'tool',
  'unexpected',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** What the service itself reported, kept beside our own sentence. All members come from outside: show, never trust. */
export interface ErrorDetails {
  /** HTTP status of the answer. */
  readonly status?: number;
  /** `error` of the identity service, `error.code` of the inference service. */
  readonly code?: string;
  /** `error.error_type` (or `type`) of the inference service. */
  readonly errorType?: string;
  /** `error.param`: the request fields the service names, possibly a comma separated list. */
  readonly param?: string;
  /** The service's own words, shortened, without markup. */
  readonly serverMessage?: string;
  /** Milliseconds the service asked to wait (`Retry-After`). */
  readonly retryAfterMs?: number;
  /** How the service names this exchange (`trace_id`). */
  readonly traceId?: string;
  /** The tokens the model takes, as the service reported with a `contextOverflow`. */
  readonly contextLimit?: number;
  /** The tokens the request would have needed, as the service reported with a `contextOverflow`. */
  readonly contextRequested?: number;
  /** True when it failed before the request that matters was sent. */
  readonly wasNotSent?: boolean;
  /** Which of our deadlines passed, where the kind is `timeout`. */
  readonly deadline?: 'connect' | 'firstEvent' | 'idle';
}

/** What helps, if the kind alone does not say; the host offers it beside the message. */
export type Remedy =
  /** Signing in once more, the same way. */
  | { readonly kind: 'signInAgain' }
  /** Another way to sign in. */
  | { readonly kind: 'otherSignIn' }
  | { readonly kind: 'setClientSecret' }
  | { readonly kind: 'setInferenceToken' }
  | { readonly kind: 'reloadWindow' }
  /** Finding out why the services cannot be used. */
  | { readonly kind: 'diagnose' }
  /** Nothing is configured: configuring it, or the sandbox. */
  | { readonly kind: 'chooseCloud' }
  /** The sandbox has ended: another one. */
  | { readonly kind: 'startSandbox' }
  /** `setting` without `rolecall.`; `value` is what was most likely meant. */
  | { readonly kind: 'changeSetting'; readonly setting: string; readonly value?: string };

/** Lets each bundle recognize the errors of the others: see `extension` in esbuild.mjs. */
const brand = Symbol.for('rolecall.RolecallError');

/** The one error type of Rolecall. `message` is a plain sentence that can be shown to the user. */
export class RolecallError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this method, and has no brand of its own.
    if (this !== RolecallError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return value instanceof Error && brand in value;
  }

  override readonly name = 'RolecallError';
  readonly [brand] = true;
  readonly kind: ErrorKind;
  readonly details: ErrorDetails;
  readonly remedy: Remedy | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { cause?: unknown; details?: ErrorDetails; remedy?: Remedy | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.details = options.details ?? {};
    this.remedy = options.remedy;
  }
}

/** The longest server message that is shown, in UTF-16 units. */
export const MAX_SERVER_MESSAGE_LENGTH = 300;

/**
 * A server's message as {@link ErrorDetails.serverMessage} holds it: one line, no markup, no control characters, nothing
 * that looks like a secret.
 */
export function sanitizeServerMessage(text: string): string {
  // Redacted before line breaks are replaced: they show where a secret ends.
  const plain = redact(truncate(text, MAX_SEARCHED))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/<[a-z/!?][^>]*>/gi, ' ')
    .replace(/ +/g, ' ')
    .trim();
  return truncateWithEllipsis(plain, MAX_SERVER_MESSAGE_LENGTH);
}

/** `sentence`, followed by the server's message if there is one. */
export function withServerMessage(sentence: string, serverMessage: string): string {
  return serverMessage === '' ? sentence : l10n.t('{0} Server response: {1}', sentence, serverMessage);
}

/** The most that is searched for secrets and markup: more than is shown, and less than a hostile server could make costly. */
const MAX_SEARCHED = 8_000;

/** The error that means "the user stopped it". */
export function cancelled(cause?: unknown): RolecallError {
  return new RolecallError('cancelled', l10n.t('Canceled.'), { cause });
}

/** True when `error` means that the work was cancelled: our error, or an `AbortError` of the platform. */
export function isCancelled(error: unknown): boolean {
  return error instanceof RolecallError
    ? error.kind === 'cancelled'
    : error instanceof Error && error.name === 'AbortError';
}

/** Any thrown value as a `RolecallError`; what is not one already is a defect of ours, or a cancellation. */
export function asRolecallError(error: unknown): RolecallError {
  if (error instanceof RolecallError) return error;
  if (isCancelled(error)) return cancelled(error);
  const message = error instanceof Error ? error.message : String(error);
  return new RolecallError('unexpected', l10n.t('An unexpected error occurred: {0}', message), { cause: error });
}

/** The `code` of a system error, such as `ENOENT`. */
export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Any failure of the secret store as a `storage` error. */
export function asStorageError(error: unknown): RolecallError {
  if (error instanceof RolecallError) return error;
  return new RolecallError(
    'storage',
    l10n.t(
      'The editor’s secret store (the system keyring) cannot be used. Unlock it and try again. You have not been signed out.',
    ),
    { cause: error },
  );
}

/** A stretch of a text, in UTF-16 code units from its start. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A message about a range of a document that people write by hand. */
export interface DocumentProblem extends TextRange {
  readonly severity: 'error' | 'warning' | 'information';
  /** A sentence, localized. */
  readonly message: string;
  /** Stable: selects the quick fix. */
  readonly code: string;
}

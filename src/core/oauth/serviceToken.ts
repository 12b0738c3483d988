import * as l10n from '@vscode/l10n';
import type { Connection } from '../base/connection.ts';
import { RolecallError, sanitizeServerMessage, withServerMessage } from '../base/errors.ts';
import { type Fetch, sendRequest } from '../base/http.ts';
import { accountOf, firstSession, type Session } from './session.ts';

const DEADLINE_MS = 20_000;
const MAX_BYTES = 200_000;

/**
 * A pasted service token (a long-lived bearer token without a refresh token), checked for what cannot be one.
 *
 * @throws RolecallError `invalidRequest` with a sentence that says what to paste.
 */
export function readServiceToken(typed: string): string {
  const token = typed.trim().replace(/^Bearer\s+/i, '');
  if (token === '') throw new RolecallError('invalidRequest', l10n.t('Paste the service token.'));
  // What a header can carry (RFC 6750 section 2.1 allows less still, but servers are generous).
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new RolecallError(
      'invalidRequest',
      l10n.t('A service token contains no spaces, line breaks or special characters.'),
    );
  }
  return token;
}

export interface ServiceTokenDeps {
  readonly connection: Connection;
  readonly fetch: Fetch;
  /** Whether the service's API accepts the token; `undefined` if there is no API to ask. */
  readonly isTaken: (token: string, signal: AbortSignal) => Promise<boolean | undefined>;
  readonly now: () => number;
}

/**
 * Makes sure that the service accepts `token` before anything is stored. The API decides; userinfo (OpenID Connect Core
 * section 5.3) gives the name, and decides where the API has nothing to ask: it may know only tokens of a browser sign-in.
 *
 * @returns the session, and whether a call has shown that it works.
 * @throws RolecallError `invalidRequest` when it is refused; `offline`, `timeout`, `server`, … when it is unknown.
 */
export async function signInWithServiceToken(
  deps: ServiceTokenDeps,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly session: Session; readonly isChecked: boolean }> {
  const { connection, now } = deps;
  const isTaken = await deps.isTaken(token, signal);
  if (isTaken === false) throw refused(notAccepted());
  const claims = isTaken
    ? await userInfo(deps, token, signal).catch(() => undefined) // The name is optional.
    : await userInfo(deps, token, signal);
  const account = accountOf(claims, l10n.t('service token of {0}', connection.label));
  return {
    session: firstSession(connection, { accessToken: token }, account, now()),
    isChecked: isTaken === true || claims !== undefined,
  };
}

/** The claims of the userinfo endpoint, or `undefined` where there is none. */
async function userInfo(
  { connection, fetch }: ServiceTokenDeps,
  token: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const url = `${connection.identityUrl}/oauth2/v2/userinfo`;
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  const request = { method: 'GET', headers, deadlineMs: DEADLINE_MS, maxBytes: MAX_BYTES } as const;
  const { status, text } = await sendRequest(fetch, url, request, signal);
  if (status === 401)
    throw refused(
      l10n.t(
        '{0} If it is a token for the API only, add an organization to rolecall.organizations first, so that Rolecall can check it there.',
        notAccepted(),
      ),
      text,
    );
  if (status === 429 || status >= 500) {
    throw new RolecallError(
      'server',
      l10n.t(
        'The token could not be checked, because {0} returned {1}. It was not saved. Try again in a moment.',
        connection.label,
        status,
      ),
      { details: { status } },
    );
  }
  if (status !== 200) return undefined;
  try {
    const claims: unknown = JSON.parse(text);
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined; // A signed answer, or a page: the name stays unknown.
  }
}

function notAccepted(): string {
  return l10n.t('The identity service does not accept this token. It was not saved.');
}

function refused(sentence: string, body = ''): RolecallError {
  const words = sanitizeServerMessage(descriptionIn(body));
  return new RolecallError('invalidRequest', withServerMessage(sentence, words), {
    details: { status: 401, ...(words && { serverMessage: words }) },
  });
}

function descriptionIn(body: string): string {
  try {
    const { error_description } = JSON.parse(body) as { error_description?: unknown };
    return typeof error_description === 'string' ? error_description : '';
  } catch {
    return '';
  }
}

import { RolecallError } from '../base/errors.ts';
import type { PendingSignIn } from './authorizationServer.ts';

/** RFC 6749 section 10.10 asks for 128 bits at least, which is 22 characters of base64. */
const MIN_CODE_LENGTH = 20;
/** No code of these services is longer; what is longer was not meant. */
const MAX_LENGTH = 16_384;

/**
 * Reads what the user pasted while a sign-in waits: the address the browser ended on, its query alone, or the bare
 * authorization code. A bare code carries no `state`; the PKCE verifier (RFC 7636) still ties it to this very sign-in.
 *
 * @returns the callback as the listener would have received it.
 * @throws RolecallError `invalidRequest` with the sentence that says what to paste.
 */
export function readPastedCallback(typed: string, { redirectUri, state }: PendingSignIn): URL {
  const text = typed.trim().replace(/^[<"']+|[>"']+$/g, '');
  if (text === '') throw wrong('Paste the address that the browser ended on.');
  if (text.length > MAX_LENGTH) throw wrong('This is too long to be the address of a sign-in.');
  if (/\s/.test(text)) throw wrong('This holds spaces or line breaks. Paste only the address, or only the code.');
  const query = queryOf(text, redirectUri);
  if (query === undefined) {
    if (text.length < MIN_CODE_LENGTH) {
      throw wrong('This is too short to be a code. Paste the whole address of the page that your browser ended on.');
    }
    return callback(redirectUri, new URLSearchParams({ code: text, state }));
  }
  if (!query.has('code') && !query.has('error')) {
    throw wrong(
      query.has('redirect_uri')
        ? 'This is the address where the sign-in begins. If the page shows an error, check client id and redirect URI; else finish there and paste the last address.'
        : 'This address holds no code. Paste the one that the browser ended on after you signed in.',
    );
  }
  if (query.get('state') !== state) {
    throw wrong('This address belongs to another sign-in. Use the page that was opened last.');
  }
  return callback(redirectUri, query);
}

/** `undefined` when the text is a bare code. Address bars hide the scheme, and people copy only a part. */
function queryOf(text: string, redirectUri: string): URLSearchParams | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? URL.parse(text) : null;
  if (url && !url.searchParams.has('redirect_uri')) {
    // The provider sends the browser to the registered address, and to no other.
    const registered = new URL(redirectUri);
    const isRegistered =
      url.protocol === registered.protocol && url.host === registered.host && url.pathname === registered.pathname;
    if (!isRegistered)
      throw wrong(`This is not the address that the sign-in ends on, which begins with ${redirectUri}.`);
  }
  const mark = text.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? text : text.slice(mark + 1));
  return url || mark >= 0 || query.has('code') || query.has('error') || query.has('state') ? query : undefined;
}

function callback(redirectUri: string, query: URLSearchParams): URL {
  return new URL(`${redirectUri}?${query}`);
}

function wrong(sentence: string): RolecallError {
  return new RolecallError('invalidRequest', sentence);
}

import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import type { PendingSignIn } from './authorizationServer.ts';

/** RFC 6749 section 10.10 asks for 128 bits at least, which is 22 characters of base64. */
const MIN_CODE_LENGTH = 20;
/** No code of these services is longer. */
const MAX_LENGTH = 16_384;

/**
 * Reads what the user pasted while a sign-in waits: the address the browser ended on, its query alone, or the bare
 * authorization code. A bare code carries no `state`; the PKCE verifier (RFC 7636) still ties it to this very sign-in.
 *
 * @returns the callback as the listener would have received it.
 * @throws RolecallError `invalidRequest` with a sentence that says what to paste.
 */
export function readPastedCallback(typed: string, { redirectUri, state }: PendingSignIn): URL {
  const text = typed.trim().replace(/^[<"']+|[>"']+$/g, '');
  if (text === '') throw wrong(l10n.t('Paste the address of the last page in your browser.'));
  if (text.length > MAX_LENGTH) throw wrong(l10n.t('This is too long to be a redirect address.'));
  if (/\s/.test(text))
    throw wrong(l10n.t('This contains spaces or line breaks. Paste only the address, or only the code.'));
  const query = queryOf(text, redirectUri);
  if (query === undefined) {
    if (text.length < MIN_CODE_LENGTH) {
      throw wrong(l10n.t('This is too short to be a code. Paste the whole address of the last page in your browser.'));
    }
    return callback(redirectUri, new URLSearchParams({ code: text, state }));
  }
  if (!query.has('code') && !query.has('error')) {
    throw wrong(
      query.has('redirect_uri')
        ? l10n.t(
            'This is the address of the sign-in page. If it shows an error, check the client ID and the redirect URI. Otherwise, finish signing in there, then paste the address of the last page.',
          )
        : l10n.t('This address contains no code. Paste the address of the last page after you have signed in.'),
    );
  }
  if (!query.has('state')) {
    throw wrong(l10n.t('This address is not complete. Paste the whole address of the last page in your browser.'));
  }
  if (query.get('state') !== state) {
    throw wrong(l10n.t('This address belongs to another sign-in. Use the page that was opened last.'));
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
      throw wrong(
        l10n.t('Finish signing in, then paste the address of the last page. It begins with {0}.', redirectUri),
      );
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

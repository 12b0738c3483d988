import { isLoopback } from '../base/addresses.ts';
import type { Connection } from '../base/connection.ts';

export type SignInMethodId = 'loopback' | 'editorLink' | 'paste' | 'serviceToken';

/** A way to sign in. */
export interface SignInMethod {
  readonly id: SignInMethodId;
  /** The user signs in on the provider's page. */
  readonly usesBrowser: boolean;
}

/** Every way to sign in, the most common one first. */
export const SIGN_IN_METHODS: readonly SignInMethod[] = [
  { id: 'loopback', usesBrowser: true },
  { id: 'editorLink', usesBrowser: true },
  { id: 'paste', usesBrowser: true },
  { id: 'serviceToken', usesBrowser: false },
];

/** What the available methods depend on. */
export interface SignInContext {
  readonly connection: Pick<Connection, 'clientId' | 'redirectUri'>;
  /** Scheme of links to this editor, such as `vscode`. */
  readonly uriScheme: string;
  /** The editor is a page in a browser, which links cannot reach. */
  readonly isWeb: boolean;
}

/** Why a method is not available. */
export type UnavailableReason = 'noClient' | 'redirectUriIsNoLoopback' | 'redirectUriIsNoLink' | 'linksDoNotArrive';

/** Where an editor receives links to Rolecall. */
export function editorLinkUri(uriScheme: string): string {
  return `${uriScheme}://rolecall.rolecall/callback`;
}

/** @returns `undefined` when `method` is available. */
export function unavailableReason(
  { id }: SignInMethod,
  { connection, uriScheme, isWeb }: SignInContext,
): UnavailableReason | undefined {
  if (id === 'serviceToken') return undefined;
  if (connection.clientId === '') return 'noClient';
  const { redirectUri } = connection;
  if (id === 'loopback') {
    return redirectUri.startsWith('http:') && isLoopback(redirectUri) ? undefined : 'redirectUriIsNoLoopback';
  }
  if (id === 'editorLink') {
    if (redirectUri !== editorLinkUri(uriScheme)) return 'redirectUriIsNoLink';
    return isWeb ? 'linksDoNotArrive' : undefined;
  }
  return undefined; // Whatever the redirect URI is, the browser's last address can be pasted.
}

/** The available methods, the default one first. */
export function availableMethods(context: SignInContext): readonly SignInMethod[] {
  return SIGN_IN_METHODS.filter((method) => unavailableReason(method, context) === undefined);
}

import net from 'node:net';
import * as l10n from '@vscode/l10n';
import { RolecallError } from './errors.ts';

/** http without TLS is for this machine only. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
}

/**
 * @param as Its name for the user, if it is not a setting.
 * @returns the origin.
 * @throws RolecallError `configuration` with a sentence that says what to enter.
 */
export function checkIdentityUrl(typed: string, as?: string): string {
  const wrong = problemOf(as);
  const url = parse(typed, 'identity.url', 'https://identity.example.com', wrong);
  if (url.pathname !== '/' || url.search || url.hash) {
    throw wrong(
      'identity.url',
      (name) => l10n.t('{0} must contain only a scheme and a host, such as {1}.', name, url.origin),
      url.origin,
    );
  }
  return url.origin;
}

/** Like {@link checkIdentityUrl}. @returns the base address without a trailing slash; a path prefix is kept. */
export function checkInferenceUrl(typed: string, as?: string): string {
  const wrong = problemOf(as);
  const url = parse(typed, 'inference.url', 'https://inference.example.com', wrong);
  if (/[?#]/.test(typed))
    throw wrong(
      'inference.url',
      (name) => l10n.t('{0} must not contain a query or fragment.', name),
      typed.replace(/[?#].*$/, ''),
    );
  const base = url.href.replace(/\/+$/, '');
  const suggestion = base.replace(/\/+v1$/, '');
  if (suggestion !== base) {
    throw wrong(
      'inference.url',
      (name) => l10n.t('{0} must not end in /v1, because Rolecall adds it. Use {1}.', name, suggestion),
      suggestion,
    );
  }
  return base;
}

/** @returns the URI as typed: the server compares it as a plain string. */
export function checkRedirectUri(typed: string): string {
  const wrong = problemOf(undefined);
  if (/\s/.test(typed) || !URL.canParse(typed))
    throw wrong('identity.redirectUri', (name) => needsAddress(name, 'http://127.0.0.1:18155/callback'));
  // Also a `?` at the end, which a URL object drops: the server would add its own after it.
  if (/[?#]/.test(typed)) {
    throw wrong('identity.redirectUri', (name) =>
      l10n.t('{0} must not contain a query or fragment, because the server adds its own.', name),
    );
  }
  return typed;
}

function parse(typed: string, setting: string, example: string, wrong: Problem): URL {
  const url = /\s/.test(typed) ? null : URL.parse(typed);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw wrong(setting, (name) => needsAddress(name, example));
  }
  if (url.protocol === 'http:' && !isLoopback(url.href)) {
    throw wrong(setting, (name) =>
      l10n.t('{0} must begin with https://, because tokens are sent there. Use http:// only for this machine.', name),
    );
  }
  if (url.username || url.password)
    throw wrong(setting, (name) => l10n.t('{0} must not contain a user name or password.', name));
  return url;
}

function needsAddress(name: string, example: string): string {
  return l10n.t('{0} must be an address such as {1}.', name, example);
}

type Problem = (setting: string, sentence: (name: string) => string, value?: string) => RolecallError;

/** Creates the error about a setting, or about what takes its place. */
function problemOf(as: string | undefined): Problem {
  return (setting, sentence, value) =>
    new RolecallError('configuration', sentence(as ?? `rolecall.${setting}`), {
      remedy: { kind: 'changeSetting', setting, ...(value !== undefined && { value }) },
    });
}

/** The name that the listener of a sign-in gives, so that a window or a diagnosis can tell it from another program. */
export const LISTENER_NAME = 'Rolecall';

/** A browser may resolve `localhost` to either family (RFC 8252 section 8.3 advises against the name for that reason). */
export const LOOPBACK_HOSTS: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.1': ['127.0.0.1'],
  '[::1]': ['::1'],
  localhost: ['127.0.0.1', '::1'],
};

const MAX_HEAD = 16_384;

/**
 * Which program listens at a loopback port, by the name it gives in the `Server` header (RFC 9110 section 10.2.4). Uses
 * a bare socket, because an editor may redirect requests of `node:http`; sends only a plain GET of `/`.
 *
 * @returns `silent` when a program accepts connections but has not answered in HTTP when `signal` aborts.
 */
export function identifyListener(
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<{ readonly name: string } | 'silent' | 'nobody'> {
  return new Promise((resolve) => {
    let text = '';
    let isConnected = false;
    const socket = net.connect({ host, port });
    const end = () => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    socket.setEncoding('latin1');
    socket.once('connect', () => {
      isConnected = true;
      socket.write(
        `GET / HTTP/1.1\r\nHost: ${net.isIPv6(host) ? `[${host}]` : host}:${port}\r\nConnection: close\r\n\r\n`,
      );
    });
    socket.on('data', (piece: string) => {
      text += piece;
      if (text.includes('\r\n\r\n') || text.length > MAX_HEAD) end();
    });
    socket.on('error', () => {}); // `close` follows.
    socket.on('close', () => {
      signal.removeEventListener('abort', end);
      const isHttp = text.startsWith('HTTP/');
      if (isHttp) resolve({ name: /^server:[ \t]*([^\r\n]{0,100})/im.exec(text)?.[1]?.trim() ?? '' });
      else resolve(isConnected ? 'silent' : 'nobody');
    });
  });
}

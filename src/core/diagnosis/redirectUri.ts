import net from 'node:net';
import { identifyListener, LISTENER_NAME, LOOPBACK_HOSTS } from '../base/loopback.ts';
import type { RedirectFact } from './facts.ts';

/** Longest wait for a greeting, in milliseconds. */
const ANSWER_MS = 1500;

/**
 * Which program would receive the answer of a sign-in. Nothing is sent but a plain GET of `/` to a loopback port on which a
 * program listens already.
 *
 * @param editorScheme The scheme of this editor's links, such as `vscode`.
 */
export async function inspectRedirectUri(
  uri: string,
  editorScheme: string,
  signal: AbortSignal,
): Promise<RedirectFact> {
  const url = URL.parse(uri);
  const hosts = url && Object.hasOwn(LOOPBACK_HOSTS, url.hostname) ? LOOPBACK_HOSTS[url.hostname] : undefined;
  if (url?.protocol === 'http:' && hosts && url.port !== '') {
    for (const host of hosts) {
      const found = await lookAt(host, Number(url.port), signal);
      if (found.kind !== 'free') return { uri, ...found };
    }
    return { uri, kind: 'free' };
  }
  const scheme = url?.protocol.slice(0, -1) ?? '';
  if (scheme === '' || scheme === 'http' || scheme === 'https') return { uri, kind: 'elsewhere' };
  return { uri, kind: 'editorLink', scheme, isThisEditor: scheme === editorScheme };
}

type Found =
  | { readonly kind: 'free' | 'ours' }
  | { readonly kind: 'taken'; readonly says?: string }
  | { readonly kind: 'refused'; readonly code: string };

async function lookAt(host: string, port: number, signal: AbortSignal): Promise<Found> {
  const answer = await identifyListener(host, port, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  if (answer === 'silent') return { kind: 'taken' };
  if (answer !== 'nobody')
    return answer.name === LISTENER_NAME ? { kind: 'ours' } : { kind: 'taken', says: answer.name };
  // Nobody answers: may we listen, too? Systems reserve ports, and not every machine has both families.
  const code = await tryToListen(host, port);
  if (code === undefined || (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'))) {
    return { kind: 'free' };
  }
  return code === 'EADDRINUSE' ? { kind: 'taken' } : { kind: 'refused', code };
}

/** @returns the system's reason why not. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

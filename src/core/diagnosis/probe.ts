import net from 'node:net';
import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { identifyListener, LISTENER_NAME, LOOPBACK_HOSTS } from '../base/addresses.ts';
import { asRolecallError, RolecallError } from '../base/errors.ts';
import { type Fetch, type HttpResponse, sendRequest } from '../base/http.ts';
import type { Discovery, IdentityFact, Probe, RedirectFact } from './facts.ts';
import { errorCodes } from './network.ts';

/** Less than the limit of the whole question, so that the report names the host that did not respond. */
const DEADLINE_MS = 8000;
const MAX_BYTES = 1_000_000;
/** The Date header counts whole seconds and is cut, not rounded. */
const HALF_A_SECOND_MS = 500;

export interface ProbeDeps {
  /** The `fetch` of the sign-in: what it cannot reach, a sign-in cannot reach. */
  readonly fetch: Fetch;
  readonly now: () => number;
}

const metadataSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.optional(z.string()),
  token_endpoint: z.optional(z.string()),
  userinfo_endpoint: z.optional(z.string()),
  jwks_uri: z.optional(z.string()),
});

/** Asks the identity service for its metadata (OpenID Connect Discovery 1.0 section 4), as a sign-in does first. */
export async function probeIdentity(deps: ProbeDeps, identityUrl: string, signal: AbortSignal): Promise<IdentityFact> {
  const { probe, answer } = await ask(deps, `${identityUrl}/.well-known/openid-configuration`, signal);
  if (probe.kind === 'unreachable') return { probe };
  return { probe, discovery: answer ? readDiscovery(answer, identityUrl) : redirected(probe.status) };
}

/** Asks the inference service for its models without a token: any status says that it can be reached. */
export async function probeInference(deps: ProbeDeps, inferenceUrl: string, signal: AbortSignal): Promise<Probe> {
  return (await ask(deps, `${inferenceUrl}/v1/models`, signal)).probe;
}

async function ask(
  { fetch, now }: ProbeDeps,
  url: string,
  signal: AbortSignal,
): Promise<{ readonly probe: Probe; readonly answer?: HttpResponse }> {
  const began = now();
  const request = {
    method: 'GET',
    headers: { accept: 'application/json' },
    deadlineMs: DEADLINE_MS,
    maxBytes: MAX_BYTES,
  } as const;
  try {
    const answer = await sendRequest(fetch, url, request, signal);
    const ended = now();
    const date = Date.parse(answer.headers.get('date') ?? '');
    const skewMs = date + HALF_A_SECOND_MS - (began + ended) / 2;
    const { status } = answer;
    const probe = { kind: 'answered', url, ms: ended - began, status, ...(!Number.isNaN(date) && { skewMs }) } as const;
    return { probe, answer };
  } catch (thrown) {
    const error = asRolecallError(thrown);
    if (error.kind === 'cancelled') throw error;
    const timing = { url, ms: now() - began };
    const { status } = error.details;
    if (status !== undefined) return { probe: { ...timing, kind: 'answered', status } };
    return { probe: { ...timing, kind: 'unreachable', message: error.message, codes: errorCodes(error) } };
  }
}

function readDiscovery({ status, text }: HttpResponse, identityUrl: string): Discovery {
  if (status >= 500)
    return { kind: 'unusable', problem: l10n.t('the service, or a proxy in front of it, returned {0}', status) };
  if (status !== 200) return { kind: 'absent', status };
  try {
    return checkMetadata(z.parse(metadataSchema, JSON.parse(text)), identityUrl);
  } catch (error) {
    if (error instanceof RolecallError) return { kind: 'unusable', problem: error.message };
    return {
      kind: 'unusable',
      problem: l10n.t('the response is not a metadata document; it may be from a proxy'),
    };
  }
}

function checkMetadata({ issuer, ...endpoints }: z.infer<typeof metadataSchema>, identityUrl: string): Discovery {
  if (URL.parse(issuer)?.href !== new URL(identityUrl).href) {
    return { kind: 'unusable', problem: l10n.t('it reports {0}, another issuer than the configured address', issuer) };
  }
  const { origin } = new URL(identityUrl);
  const foreign = Object.entries(endpoints).find(
    ([, endpoint]) => endpoint !== undefined && URL.parse(endpoint)?.origin !== origin,
  );
  if (foreign)
    return { kind: 'unusable', problem: l10n.t('its {0} is on another host, which is not allowed', foreign[0]) };
  return { kind: 'found' };
}

function redirected(status: number): Discovery {
  return { kind: 'unusable', problem: l10n.t('the response is a redirect ({0}), which is not followed', status) };
}

/** Longest wait for a greeting, in milliseconds. */
const ANSWER_MS = 1500;

/**
 * Finds the program that would receive the answer of a sign-in. Sends only a plain GET of `/`, and only to a loopback
 * port on which a program listens already.
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
      const fact = await lookAt(host, Number(url.port), signal);
      if (fact.kind !== 'free') return { uri, ...fact };
    }
    return { uri, kind: 'free' };
  }
  const scheme = url?.protocol.slice(0, -1) ?? '';
  if (scheme === '' || scheme === 'http' || scheme === 'https') return { uri, kind: 'elsewhere' };
  return { uri, kind: 'editorLink', scheme, isThisEditor: scheme === editorScheme };
}

type Found =
  | { readonly kind: 'free' | 'ours' }
  | { readonly kind: 'taken'; readonly program?: string }
  | { readonly kind: 'refused'; readonly code: string };

async function lookAt(host: string, port: number, signal: AbortSignal): Promise<Found> {
  const answer = await identifyListener(host, port, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  if (answer === 'silent') return { kind: 'taken' };
  if (answer !== 'nobody')
    return answer.name === LISTENER_NAME ? { kind: 'ours' } : { kind: 'taken', program: answer.name };
  // Nobody answers: can we listen, too? Systems reserve ports, and not every machine has both families.
  const code = await tryToListen(host, port);
  if (code === undefined || (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT'))) {
    return { kind: 'free' };
  }
  return code === 'EADDRINUSE' ? { kind: 'taken' } : { kind: 'refused', code };
}

/** @returns the system's reason if it cannot. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

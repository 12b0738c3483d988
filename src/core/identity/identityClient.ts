import * as l10n from '@vscode/l10n';
import type { TokenSource } from '../base/connection.ts';
import { RolecallError } from '../base/errors.ts';
import { type Fetch, type HttpResponse, sendRequest } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { redactValues } from '../base/redact.ts';
import { READ_RETRIES, type RetryListener, withRetries } from '../base/retry.ts';
import { identityError, readErrorBody } from './identityErrors.ts';
import { type Group, type Listing, type Role, readGroups, readOrganizations, readRoles } from './schemas.ts';

const DEADLINE_MS = 60_000;
const MAX_BYTES = 64_000_000;

/** An organization as the service lists it. */
export interface OrganizationName {
  readonly id: string;
  readonly name: string;
}

export interface IdentityClientDeps {
  readonly fetch: Fetch;
  /** `{base_url}`, an origin. */
  readonly identityUrl: string;
  readonly tokens: TokenSource;
  readonly log: Log;
  readonly now: () => number;
}

/** The operations of the identity service, one method each. Every method may throw any kind of `RolecallError`. */
export class IdentityClient {
  readonly #deps: IdentityClientDeps;

  constructor(deps: IdentityClientDeps) {
    this.#deps = deps;
  }

  /** List groups: `GET {base_url}/api/v1/organizations/{organizationID}/groups`. */
  async groups(organization: string, signal: AbortSignal, onRetry?: RetryListener): Promise<Listing<Group>> {
    const path = `/api/v1/organizations/${pathSegment(organization)}/groups`;
    return expectList(readGroups(await this.#read(path, organization, signal, onRetry)), path);
  }

  /** List roles: `GET {base_url}/api/v1/organizations/{organizationID}/roles`. */
  async roles(organization: string, signal: AbortSignal, onRetry?: RetryListener): Promise<Listing<Role>> {
    const path = `/api/v1/organizations/${pathSegment(organization)}/roles`;
    return expectList(readRoles(await this.#read(path, organization, signal, onRetry)), path);
  }

  /**
   * The caller's organizations where the service lists them (not in the specification). `undefined` where it offers no
   * such list: the address is unknown, not for this caller, or holds something else.
   */
  async organizations(signal: AbortSignal, onRetry?: RetryListener): Promise<readonly OrganizationName[] | undefined> {
    try {
      const list = readOrganizations(await this.#read('/api/v1/organizations', undefined, signal, onRetry));
      return list?.items.map(({ metadata }) => ({ id: metadata.id, name: metadata.name || metadata.id }));
    } catch (error) {
      if (!(error instanceof RolecallError) || !offersNoList(error)) throw error;
      this.#deps.log.debug(`No list of organizations: ${error.message}`);
      return undefined;
    }
  }

  async #read(
    path: string,
    organization: string | undefined,
    signal: AbortSignal,
    onRetry?: RetryListener,
  ): Promise<unknown> {
    const { log } = this.#deps;
    const answer = await withRetries(
      () => this.#send(path, organization, signal),
      READ_RETRIES,
      signal,
      (...retry) => {
        log.info(`${retry[0].message} Trying again in ${Math.round(retry[2])} ms.`);
        onRetry?.(...retry);
      },
    );
    try {
      return JSON.parse(answer.text);
    } catch (cause) {
      const isPage = /^\s*</.test(answer.text);
      throw new RolecallError(
        'protocol',
        isPage
          ? l10n.t(
              'A web page was returned instead of data. Check rolecall.identity.url. A sign-in portal or a proxy may have responded instead of the identity service.',
            )
          : l10n.t('The identity service sent a response that is not JSON.'),
        { cause, details: { status: answer.status } },
      );
    }
  }

  /** Sends a request; if the token is refused, once more with another token, and never again. */
  async #send(path: string, organization: string | undefined, signal: AbortSignal): Promise<HttpResponse> {
    const { tokens, now } = this.#deps;
    const token = await tokens.accessToken(signal);
    let sentToken = token;
    let answer = await this.#get(path, token, signal);
    if (refusesToken(answer, now())) {
      const next = await tokens.refreshAfter401(token, signal);
      if (next !== undefined) {
        sentToken = next;
        answer = await this.#get(path, next, signal);
      }
    }
    if (answer.status >= 200 && answer.status <= 299 && !holdsError(answer)) return answer;
    // A server may repeat the token, and its message is shown.
    throw identityError({ ...answer, text: redactValues(answer.text, [sentToken]) }, organization, now());
  }

  async #get(path: string, token: string, signal: AbortSignal): Promise<HttpResponse> {
    const { fetch, identityUrl, log } = this.#deps;
    const began = performance.now();
    const answer = await sendRequest(
      fetch,
      identityUrl + path,
      {
        method: 'GET',
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
        deadlineMs: DEADLINE_MS,
        maxBytes: MAX_BYTES,
      },
      signal,
    );
    log.debug(`GET ${path} → ${answer.status} in ${Math.round(performance.now() - began)} ms`);
    return answer;
  }
}

/** @throws RolecallError `configuration` for an id that is not one path segment. */
export function pathSegment(id: string): string {
  if (id === '' || id === '.' || id === '..') {
    throw new RolecallError(
      'configuration',
      l10n.t('"{0}" is not a valid organization ID. Change rolecall.organizations.', id),
    );
  }
  return encodeURIComponent(id);
}

function refusesToken(answer: HttpResponse, now: number): boolean {
  const mayRefuse = answer.status === 401 || answer.status === 400 || (answer.status <= 299 && holdsError(answer));
  return mayRefuse && identityError(answer, undefined, now).kind === 'sessionEnded';
}

/** Whether the body is an error, which some services send with a status of success. */
function holdsError({ text }: HttpResponse): boolean {
  return readErrorBody(text) !== undefined;
}

/** Failures that mean "there is no such list" rather than "the list could not be read". */
function offersNoList({ kind, details }: RolecallError): boolean {
  return kind === 'notFound' || kind === 'forbidden' || details.status === 405 || isNotJson(kind, details.status);
}

/** A page instead of a list: the service does not use this address for it. */
function isNotJson(kind: RolecallError['kind'], status: number | undefined): boolean {
  return kind === 'protocol' && status !== undefined && status >= 200 && status <= 299;
}

function expectList<T>(list: Listing<T> | undefined, path: string): Listing<T> {
  if (list) return list;
  throw new RolecallError('protocol', l10n.t('The identity service did not return a list at {0}.', path));
}

/**
 * Whether the API accepts a token. Asks for organizations, else for the groups of one.
 *
 * @param organization Any that the user knows.
 * @returns `undefined` if there is nothing to ask it for.
 * @throws RolecallError `offline`, `timeout`, `server`, … when it is unknown.
 */
export async function acceptsToken(
  deps: Omit<IdentityClientDeps, 'tokens'>,
  token: string,
  organization: string | undefined,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  let isRefused = false;
  const client = new IdentityClient({
    ...deps,
    tokens: {
      accessToken: async () => token,
      refreshAfter401: async () => {
        isRefused = true;
        return undefined;
      },
    },
  });
  const succeeds = async (ask: () => Promise<unknown>) => {
    try {
      return (await ask()) !== undefined;
    } catch (error) {
      if (isRefused) return false;
      if (hasAcceptedToken(error)) return true;
      throw error;
    }
  };
  if (await succeeds(() => client.organizations(signal))) return true;
  if (isRefused) return false;
  if (organization === undefined) return undefined;
  return succeeds(() => client.groups(organization, signal));
}

/** A service that answers "forbidden" or "not found" has accepted the token. */
function hasAcceptedToken(error: unknown): boolean {
  return error instanceof RolecallError && (error.kind === 'forbidden' || error.kind === 'notFound');
}

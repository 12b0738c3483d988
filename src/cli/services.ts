import type { KnownOrganization } from '../core/access/accessTools.ts';
import { type AccessModel, buildModel } from '../core/access/model.ts';
import { cancelled, RolecallError } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';
import type { Log } from '../core/base/log.ts';
import { redactResponse } from '../core/base/redact.ts';
import type { InferenceConnection, InferenceDeps } from '../core/completions/endpoint.ts';
import { accessListOf, Directory, wasCancelled } from '../core/identity/directory.ts';
import { acceptsToken, IdentityClient } from '../core/identity/identityClient.ts';
import { signInWithServiceToken } from '../core/oauth/serviceToken.ts';
import { type Configuration, throwMissingOption, tokenVariables } from './configuration.ts';

/** The two services for the commands, independent of where the sign-in is from. */
export interface Services {
  /** Where the sign-in is from, for messages. */
  readonly source: string;
  /** Reading these throws `configuration` if the address is not set. */
  readonly identityUrl: string;
  readonly inferenceUrl: string;
  /** The operations of the identity service. */
  readonly identity: Pick<IdentityClient, 'groups' | 'roles' | 'organizations'>;
  /** For the clients of the inference service. */
  readonly inference: InferenceDeps;
  /** The account, once the service has accepted it. @throws RolecallError when it has not. */
  account(signal: AbortSignal): Promise<string>;
  /** The organizations that the user has chosen to show, or those that the service lists. */
  organizations(signal: AbortSignal): Promise<readonly KnownOrganization[]>;
  /** The model to use unless one is named. */
  readonly defaultModel: string | undefined;
  /** Set when the sign-in was lost during an answer: the output is incomplete then. */
  readonly lost?: RolecallError | undefined;
}

export function inferenceConnection({ inferenceUrl }: Services): InferenceConnection {
  return { inferenceUrl };
}

export interface TokenServicesDeps {
  readonly configuration: Configuration & { readonly token: string };
  readonly fetch: Fetch;
  readonly log: Log;
}

/** The services with a service token of the environment. */
export function servicesOfToken({ configuration, fetch: send, log }: TokenServicesDeps): Services {
  const { token, inferenceToken = token } = configuration;
  // Answers are printed, and a server may repeat what it was sent.
  const fetch: Fetch = async (...sent) => redactResponse(await send(...sent), [token, inferenceToken]);
  const identityUrl = () => configuration.identityUrl ?? throwMissingOption('--identity-url', 'ROLECALL_IDENTITY_URL');
  const inferenceUrl = () =>
    configuration.inferenceUrl ?? throwMissingOption('--inference-url', 'ROLECALL_INFERENCE_URL');
  const client = () => {
    const tokens = { accessToken: async () => token, refreshAfter401: async () => refused(tokenVariables.token) };
    return new IdentityClient({ fetch, identityUrl: identityUrl(), tokens, log, now: Date.now });
  };
  return {
    source: tokenVariables.token,
    get identityUrl() {
      return identityUrl();
    },
    get inferenceUrl() {
      return inferenceUrl();
    },
    identity: {
      groups: async (...args) => client().groups(...args),
      roles: async (...args) => client().roles(...args),
      organizations: async (...args) => client().organizations(...args),
    },
    inference: {
      fetch,
      log,
      accessToken: async () => inferenceToken,
      refreshAfter401: async () =>
        refused(configuration.inferenceToken === undefined ? tokenVariables.token : tokenVariables.inferenceToken),
    },
    account: async (signal) => {
      const connection = {
        id: 'service',
        label: new URL(identityUrl()).host,
        identityUrl: identityUrl(),
        inferenceUrl: '',
        clientId: '',
        clientAuthentication: 'none',
        redirectUri: '',
        scope: '',
      } as const;
      const [organization] = configuration.organizations;
      const isTaken = (candidate: string, stop: AbortSignal) =>
        acceptsToken({ fetch, identityUrl: identityUrl(), log, now: Date.now }, candidate, organization, stop);
      const checked = await signInWithServiceToken({ connection, fetch, isTaken, now: Date.now }, token, signal).catch(
        (error: unknown) => {
          throw error instanceof RolecallError && error.kind === 'invalidRequest'
            ? refusal(tokenVariables.token)
            : error;
        },
      );
      return checked.session.account.label;
    },
    organizations: async (signal) => {
      if (configuration.organizations.length > 0) return configuration.organizations.map((id) => ({ id, names: [] }));
      const listed = await client().organizations(signal);
      if (listed) return listed.map(({ id, name }) => ({ id, names: [name] }));
      throw new RolecallError(
        'configuration',
        'The identity service does not list organizations. Specify one with --organization or ROLECALL_ORGANIZATION.',
      );
    },
    defaultModel: configuration.model,
  };
}

function refusal(variable: string): RolecallError {
  return new RolecallError('sessionEnded', `The service does not accept the token in ${variable}.`);
}

function refused(variable: string): never {
  throw refusal(variable);
}

/**
 * Both lists of an organization, joined.
 *
 * @throws RolecallError if neither could be read; if one could, the other is a gap of the model.
 */
export async function readOrganization(
  { identity }: Pick<Services, 'identity'>,
  organization: string,
  onRetry: (message: string) => void,
  signal: AbortSignal,
): Promise<AccessModel> {
  const directory = new Directory(identity, Date.now);
  const stop = () => directory.stop(organization);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const access = await directory.organization(organization, ({ message }) => onRetry(`${message} Trying again…`));
    const { groups, roles } = access;
    if (signal.aborted || wasCancelled(access)) throw cancelled(signal.reason);
    if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
    return buildModel({ organization, groups: accessListOf(groups), roles: accessListOf(roles) });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The one organization that a command is about. @throws RolecallError `configuration` where there are several. */
export function onlyOrganization(organizations: readonly KnownOrganization[]): string {
  const [first, ...others] = organizations;
  if (!first) throw noOrganizationError();
  if (others.length === 0) return first.id;
  const ids = organizations.map(({ id }) => id).join(', ');
  throw new RolecallError('configuration', `Choose one organization with --organization: ${ids}.`);
}

export function noOrganizationError(): RolecallError {
  return new RolecallError('configuration', 'There is no organization to read. Specify one with --organization.');
}

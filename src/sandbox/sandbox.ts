import { randomBytes, randomUUID } from 'node:crypto';
import { freePort, type Listener, LOOPBACK, listen } from './http.ts';
import { PEOPLE } from './identity/people.ts';
import { createIdentity, type Identity } from './identity/server.ts';
import { models as allModels } from './inference/models.ts';
import { createInferenceHandler } from './inference/server.ts';
import { demoPrompts } from './inference/topics.ts';
import { DEFAULTS, type SandboxOptions, UsageError } from './options.ts';
import type { Hooks, RequestHandler, SandboxClient, SandboxDescriptor, SandboxModel, Service } from './types.ts';

export interface RunningSandbox {
  descriptor: SandboxDescriptor;
  sessions: Identity['sessions'];
  /** Closes the open connections, including streams, and frees the ports. */
  close(): Promise<void>;
}

/**
 * Starts the demo cloud on 127.0.0.1: the identity service and the inference service, each on its own port.
 *
 * @throws UsageError when a model does not exist.
 * @throws Error when a port is taken.
 */
export async function startSandbox(
  options: Partial<SandboxOptions> & { log?: ((line: string) => void) | undefined } = {},
  hooks: Hooks = {},
): Promise<RunningSandbox> {
  const settings = { ...DEFAULTS, ...options };
  const models = chooseModels(settings.models);
  const listeners = await listenOnBoth(settings.identityPort, settings.inferencePort);
  const [identityListener, inferenceListener] = listeners;
  const clients = {
    loopback: makeClient(settings.redirectUri ?? `http://${LOOPBACK}:${await freePort()}/callback`),
    link: makeClient(settings.linkRedirectUri),
  };
  const { log } = options;
  const identity = createIdentity({ ...settings, issuer: identityListener.origin, clients, hooks, log });
  const { authenticate, sessions } = identity;
  const inference = createInferenceHandler({ authenticate, models, log, paceMs: settings.paceMs, hooks });
  const wrap = (service: Service, handler: RequestHandler) => hooks.around?.(service, handler) ?? handler;
  identityListener.handle(wrap('identity', identity.handler));
  inferenceListener.handle(wrap('inference', inference));
  return {
    descriptor: {
      rolecallSandbox: 1,
      identity: identityListener.origin,
      inference: inferenceListener.origin,
      clients,
      organizations: identity.organizations,
      models: models.map(describe),
      people: PEOPLE.map(({ id, name, email, about }) => ({ id, name, email, about })),
      prompts: demoPrompts,
    },
    sessions,
    close: async () => {
      await Promise.all(listeners.map((listener) => listener.close()));
    },
  };
}

/**
 * Creates a client for this run. The id is a UUID, whose dashes strict encoders turn into `%2D`, and the secret
 * contains characters that every encoder changes, so that a client that URL-encodes its Basic credentials fails.
 */
function makeClient(redirectUri: string): SandboxClient {
  return { id: randomUUID(), secret: `${randomBytes(24).toString('base64url')}+/=%&~-_.`, redirectUri };
}

function chooseModels(ids: readonly string[] | undefined): readonly SandboxModel[] {
  if (ids === undefined) return allModels;
  return ids.map((id) => {
    const model = allModels.find((candidate) => candidate.id === id);
    if (model === undefined) {
      throw new UsageError(`There is no model "${id}"; there are ${allModels.map((each) => each.id).join(', ')}.`);
    }
    return model;
  });
}

/** Picks the properties of the descriptor. The inference service stores more about each model. */
function describe({ id, label, contextLength, maxOutput, vision, reasoning, tools }: SandboxModel): SandboxModel {
  return { id, label, contextLength, maxOutput, vision, reasoning, tools };
}

/** Listens on both ports or on neither: if the second port is taken, the first one is freed again. */
async function listenOnBoth(identityPort: number, inferencePort: number): Promise<readonly [Listener, Listener]> {
  const identity = await listen(identityPort);
  try {
    return [identity, await listen(inferencePort)];
  } catch (error) {
    await identity.close();
    throw error;
  }
}

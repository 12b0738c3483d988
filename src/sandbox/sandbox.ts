import { randomBytes } from 'node:crypto';
import { BodyRecord } from './bodyRecord.ts';
import { controlHandler } from './control.ts';
import { CounterTable } from './counters.ts';
import { FaultTable } from './faults.ts';
import { freePort, type Listener, LOOPBACK, listen } from './http.ts';
import { makeClient } from './identity/clients.ts';
import { PEOPLE, personById } from './identity/people.ts';
import { routeName } from './identity/routes.ts';
import { SecretRecord } from './identity/secretRecord.ts';
import { createIdentity } from './identity/server.ts';
import { models as allModels } from './inference/models.ts';
import { createInferenceHandler } from './inference/server.ts';
import { instrument } from './instrument.ts';
import { DEFAULTS, type SandboxOptions, UsageError } from './options.ts';
import type { SandboxDescriptor, SandboxModel } from './types.ts';

export interface RunningSandbox {
  descriptor: SandboxDescriptor;
  /** Ends open connections, streams included, and frees the ports. */
  close(): Promise<void>;
}

/**
 * Starts the embedded cloud on 127.0.0.1: identity, inference and control, each on a port of its own. Throws a
 * `UsageError` for a model that does not exist, and what `listen` throws when a port is taken.
 */
export async function startSandbox(
  options: Partial<SandboxOptions> & { log?: ((line: string) => void) | undefined } = {},
): Promise<RunningSandbox> {
  const settings = { ...DEFAULTS, ...options };
  const models = chooseModels(settings.models);
  const listeners = await listenOnAll([settings.identityPort, settings.inferencePort, settings.controlPort]);
  const [identityListener, inferenceListener, controlListener] = listeners;
  const clients = {
    loopback: makeClient(settings.redirectUri ?? `http://${LOOPBACK}:${await freePort()}/callback`),
    link: makeClient(settings.linkRedirectUri),
  };
  const counters = new CounterTable();
  const faults = new FaultTable();
  const secrets = new SecretRecord();
  const bodies = new BodyRecord();
  const { log } = options;
  const identity = createIdentity({ ...settings, issuer: identityListener.origin, clients, counters, secrets, log });
  const inference = createInferenceHandler({
    authenticate: identity.authenticate,
    counters,
    models,
    log,
    paceMs: settings.paceMs,
    onBody: (body) => bodies.add(body),
  });
  const key = randomBytes(24).toString('base64url');
  identityListener.handle(instrument('identity', identity.handler, { counters, faults, routeName, log }));
  inferenceListener.handle(instrument('inference', inference, { counters, faults, log }));
  controlListener.handle(
    controlHandler(key, {
      faults,
      counters,
      secrets,
      bodies,
      endSessions: identity.endSessions,
      issueServiceToken: (person, seconds) =>
        personById(person) === undefined ? undefined : identity.issueServiceToken(person, seconds),
    }),
  );
  return {
    descriptor: {
      rolecallSandbox: 1,
      identity: identityListener.origin,
      inference: inferenceListener.origin,
      control: `${controlListener.origin}/${key}`,
      clients,
      organizations: identity.organizations,
      models: models.map(describe),
      people: PEOPLE.map(({ id, name, email, about }) => ({ id, name, email, about })),
    },
    close: async () => {
      await Promise.all(listeners.map((listener) => listener.close()));
    },
  };
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

/** Only what the descriptor tells: the inference half keeps more about a model than that. */
function describe({ id, label, contextLength, maxOutput, vision, reasoning, tools }: SandboxModel): SandboxModel {
  return { id, label, contextLength, maxOutput, vision, reasoning, tools };
}

type Three<T> = readonly [T, T, T];

/** All three or none: when a port is taken, the others are freed again. */
async function listenOnAll(ports: Three<number>): Promise<Three<Listener>> {
  const results = await Promise.allSettled(ports.map(listen));
  const listeners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(listeners.map((listener) => listener.close()));
    throw failed.reason;
  }
  return listeners as unknown as Three<Listener>;
}

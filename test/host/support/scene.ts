import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Connection } from '../../../src/core/base/connection.ts';
import type { Fetch } from '../../../src/core/base/http.ts';
import { ModelObservations } from '../../../src/core/completions/modelObservations.ts';
import type { SessionStore } from '../../../src/core/oauth/rotation/sessionSecretStore.ts';
import { firstSession, type Session } from '../../../src/core/oauth/session.ts';
import { Cloud } from '../../../src/host/cloud.ts';
import { Clouds } from '../../../src/host/clouds.ts';
import { ModelCatalog } from '../../../src/host/modelCatalog.ts';
import type { RequestDeps } from '../../../src/host/modelRequest.ts';
import { TokenUsage } from '../../../src/host/tokenUsage.ts';
import { PATIENT } from '../../unit/core/oauth/rotation/fixture.ts';
import { signIn as walkIn } from '../../unit/sandbox/walk.ts';
import { FakeLog, FakeMemento, FakeSecrets, FakeSettings } from './fakes.ts';
import { connectionTo, descriptor, type PersonName, people, person, serviceToken } from './sandbox.ts';

/** A second set of the extension's objects, beside those of the running extension, talking to the real sandbox. */
export class Scene {
  readonly log = new FakeLog();
  /** What the redactor was told to hide. */
  readonly learned: string[] = [];
  readonly addSecret = (secret: string | undefined) => {
    if (secret !== undefined) this.learned.push(secret);
  };
  readonly settings = new FakeSettings();
  readonly memory = new ModelObservations();
  readonly usage = new TokenUsage();
  /** What the editor keeps for the extension. */
  readonly storage = new FakeMemento();
  /** SecretStorage, for what is asked of it directly. */
  readonly secrets: FakeSecrets;
  readonly clouds: Clouds;
  /** What is stored for each connection, by its id; kept when the connection is made anew. */
  readonly stores: Map<string, SessionStore>;
  /** Where its windows agree. */
  readonly state: string;
  /** Every address that was asked for, in order. */
  readonly asked: string[] = [];
  /** Stands in for the network where a test sets it. */
  network: Fetch = (...request) => fetch(...request);
  readonly fetch: Fetch = (input, init) => {
    this.asked.push(String(input));
    return this.network(input, init);
  };
  readonly #isFirst: boolean;
  readonly #disposables: { dispose(): unknown }[] = [];

  /** @param first a window of the same editor and user. */
  constructor(first?: Scene) {
    this.secrets = first?.secrets ?? new FakeSecrets();
    this.stores = first?.stores ?? new Map();
    this.state = first?.state ?? mkdtempSync(path.join(os.tmpdir(), 'rolecall-scene-'));
    this.#isFirst = first === undefined;
    this.clouds = new Clouds(this.settings, (connection) => this.makeCloud(connection));
    this.#disposables.push(this.clouds);
  }

  makeCloud(connection: Connection): Cloud {
    const store = this.stores.get(connection.id) ?? memoryStore();
    this.stores.set(connection.id, store);
    return new Cloud({
      connection,
      storage: { store, state: this.state, storeName: connection.id, timeouts: PATIENT, dispose: () => {} },
      clientSecret: async () => descriptor.clients.link.secret,
      fetch: this.fetch,
      log: this.log,
      addSecret: () => {},
    });
  }

  /** The configured services, read from the settings as at activation. */
  async startService(): Promise<Cloud> {
    this.settings.connection = connectionTo('service');
    await this.clouds.start();
    return this.clouds.require();
  }

  /** A second window of the same editor; it ends with this one. */
  beside(): Scene {
    return this.own(new Scene(this));
  }

  enterSandbox(): Cloud {
    return this.clouds.enterSandbox(connectionTo('sandbox'));
  }

  /** What everybody who asks a model is given. */
  request(): RequestDeps {
    const { settings, memory: observations, usage, fetch, log } = this;
    return { settings, observations, usage, fetch, log };
  }

  catalog(): ModelCatalog {
    const { clouds, settings, fetch, log } = this;
    return this.own(new ModelCatalog({ clouds, settings, fetch, log }));
  }

  own<T extends { dispose(): unknown }>(disposable: T): T {
    this.#disposables.push(disposable);
    return disposable;
  }

  dispose(): void {
    for (const disposable of this.#disposables.splice(0).reverse()) disposable.dispose();
    if (this.#isFirst) void rm(this.state, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What SecretStorage does for one session, in memory. */
export function memoryStore(): SessionStore {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
  };
}

/** A scene of its own for each test of the `describe` that calls this. */
export function useScene(): () => Scene {
  let scene: Scene | undefined;
  beforeEach(() => {
    scene = new Scene();
  });
  afterEach(() => scene?.dispose());
  return () => {
    if (!scene) throw new Error('There is no scene outside of a test.');
    return scene;
  };
}

/** Signs `cloud` in as one of the sandbox's people with a token that nobody else's sign-in ends. */
export async function signInAs(cloud: Cloud, name: PersonName): Promise<Session> {
  const session = sessionOf(cloud, name, { accessToken: await serviceToken(name) });
  await cloud.tokenManager.signIn(session);
  return session;
}

/** Signs `cloud` in the long way, with a refresh token; ends whatever session the same person had as this client. */
export async function signInWithRefreshToken(cloud: Cloud, name: PersonName): Promise<Session> {
  const tokens = await walkIn(descriptor, { person: people[name], client: 'link' });
  const grant = {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    expiresInSeconds: tokens.expires_in,
  };
  const session = sessionOf(cloud, name, grant);
  await cloud.tokenManager.signIn(session);
  return session;
}

export function sessionOf(
  { connection }: Pick<Cloud, 'connection'>,
  name: PersonName,
  grant: Parameters<typeof firstSession>[1],
): Session {
  const { id, email } = person(name);
  return firstSession(connection, grant, { id, label: email }, Date.now());
}

import fs from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import type { TokenSource } from '../../base/connection.ts';
import { cancelled, type ErrorKind, RolecallError, systemErrorCode } from '../../base/errors.ts';
import type { Fetch } from '../../base/http.ts';
import { parseJson } from '../../base/json.ts';
import { readIfAny } from '../rotation/files.ts';
import { FolderKey } from '../rotation/folderKey.ts';
import { handshakeAsClient } from '../rotation/handshake.ts';
import { statusOfConnectError } from '../rotation/holderConnection.ts';
import { removeDeadSocket } from '../rotation/ipcServer.ts';
import { LineSocket } from '../rotation/lineSocket.ts';
import { PROTOCOL, type Protocol, parseJsonAs, protocolShape } from '../rotation/protocol.ts';
import { collect, errorOf, receiveFrames, sendFrames } from './frames.ts';
import {
  aboutSchema,
  challengeSchema,
  handleSchema,
  type Joined,
  joinedSchema,
  joiningFolder,
  type Question,
  replySchema,
  SILENCE_MS,
  type WindowAbout,
} from './messages.ts';
import { operationOf, type ServiceName } from './operations.ts';
import { ProgramKey } from './programKey.ts';

export interface JoinOptions {
  /** The folder of this user's shared state. */
  readonly state: string;
  readonly protocol?: Protocol;
  /** See {@link SILENCE_MS}. */
  readonly silenceMs?: number;
}

/** Of an answer, in bytes: the clients of both services have limits of their own below it. */
const MAX_ANSWER = 128_000_000;

const registrationSchema = z.object({ ...protocolShape, address: z.string().check(z.minLength(1)) });

interface Place extends JoinOptions {
  readonly address: string;
  readonly key: Buffer;
}

/** Who waits for programs. */
export interface FoundWindows {
  /** The newest first. */
  readonly windows: readonly FoundWindow[];
  /** Windows that are there and did not answer: stopped, very busy, or of another version. */
  readonly silent: number;
}

/**
 * The windows that wait for programs; what those left behind that were killed is removed.
 *
 * @throws RolecallError `storage`; `cancelled`.
 */
export async function findWindows(options: JoinOptions, signal: AbortSignal): Promise<FoundWindows> {
  const folder = joiningFolder(options.state);
  const windows = path.join(folder, 'windows');
  const names = await namesIn(windows);
  const key = names.length === 0 ? Buffer.alloc(0) : await new FolderKey(folder).get();
  const found = await Promise.all(
    names.map(async (name) => {
      const file = path.join(windows, name);
      const registration = parseJsonAs(registrationSchema, (await readIfAny(file))?.toString() ?? '');
      if (!registration) return 'gone';
      const place = { ...options, address: registration.address, key };
      const stat = await fs.stat(file).catch(() => undefined); // Closed meanwhile.
      const about = await aboutOf(place, file, signal);
      return typeof about === 'string' ? about : { window: new FoundWindow(place, about), at: stat?.mtimeMs ?? 0 };
    }),
  );
  if (signal.aborted) throw cancelled(signal.reason);
  return {
    windows: found
      .filter((each) => typeof each !== 'string')
      .sort((one, other) => other.at - one.at)
      .map(({ window }) => window),
    silent: found.filter((each) => each === 'silent').length,
  };
}

/** `gone` also for a window whose user has signed out. */
async function aboutOf(place: Place, file: string, signal: AbortSignal): Promise<WindowAbout | 'gone' | 'silent'> {
  const limit = new AbortController();
  try {
    const asked = exchange(place, () => ({ ask: 'about' }), undefined, AbortSignal.any([signal, limit.signal]));
    const reply = await withTimeout(
      asked.then(({ body }) => collect(body)),
      place.silenceMs ?? SILENCE_MS,
      signal,
    );
    return parseJsonAs(aboutSchema, reply?.toString() ?? '') ?? 'silent';
  } catch (error) {
    if (!(error instanceof UnreachableError)) return 'gone';
    if (statusOfConnectError(error.code) !== 'gone') return 'silent';
    await fs.rm(file, { force: true });
    await removeDeadSocket(place.address);
    return 'gone';
  } finally {
    limit.abort();
  }
}

/** A window that answers. */
export class FoundWindow {
  readonly about: WindowAbout;
  readonly #place: Place;

  constructor(place: Place, about: WindowAbout) {
    this.#place = place;
    this.about = about;
  }

  /** Where it listens. */
  get address(): string {
    return this.#place.address;
  }

  /**
   * Joins its sign-in, once its user has allowed it.
   *
   * @param onAsking The user is being asked now.
   * @throws RolecallError `forbidden`, `signedOut`, `offline`, `cancelled`.
   */
  async join(onAsking: () => void, signal: AbortSignal): Promise<JoinedWindow> {
    const key = await ProgramKey.open(joiningFolder(this.#place.state));
    const prove = (challenge: string) => key.prove(this.#place.address, challenge);
    const { body } = await exchange(
      this.#place,
      (challenge) => ({ ask: 'join', ...prove(challenge) }),
      undefined,
      signal,
      onAsking,
    );
    const joined = parseJsonAs(joinedSchema, (await collect(body)).toString());
    if (!joined) throw new RolecallError('protocol', l10n.t('The window answered something that is not understood.'));
    return new JoinedWindow(this.#place, this.about, joined, prove);
  }
}

type Prove = (challenge: string) => { readonly publicKey: string; readonly signature: string };

/** A window whose user has allowed this program to use the sign-in. */
export class JoinedWindow {
  readonly joined: Joined;
  readonly #place: Place;
  readonly #urls: Readonly<Record<ServiceName, string>>;
  readonly #prove: Prove;
  #lost: RolecallError | undefined;

  constructor(place: Place, about: WindowAbout, joined: Joined, prove: Prove) {
    this.#place = place;
    this.#urls = { identity: about.identityUrl, inference: about.inferenceUrl };
    this.joined = joined;
    this.#prove = prove;
  }

  /** Set when the window closed, or its sign-in is over: what was read last may not be whole, and nothing more can be. */
  get lost(): RolecallError | undefined {
    return this.#lost;
  }

  /** Names of the window's tokens, in place of the tokens. */
  tokens(service: ServiceName): TokenSource {
    return {
      accessToken: async (signal) => {
        const { handle } = await this.#askJson({ ask: 'token', service }, handleSchema, signal);
        return handle ?? raise(new RolecallError('signedOut', l10n.t('Nobody is signed in to this window.')));
      },
      refreshAfter401: async (handle, signal) =>
        (await this.#askJson({ ask: 'refresh', service, handle }, handleSchema, signal)).handle,
    };
  }

  /** The clients' requests, sent by the window. The token in them is the name of one. */
  readonly fetch: Fetch = async (input, init) => {
    const url = String(input);
    const { method = 'GET', signal } = init ?? {};
    const operation = this.#operationOf(url, method);
    const headers = new Headers(init?.headers);
    const [accept, contentType] = [headers.get('accept'), headers.get('content-type')];
    const question = {
      ask: 'fetch',
      operation: operation.name,
      ...(operation.organization !== undefined && { organization: operation.organization }),
      handle: (headers.get('authorization') ?? '').replace(/^Bearer /, ''),
      ...(accept !== null && { accept }),
      ...(contentType !== null && { contentType }),
    } as const;
    const body = typeof init?.body === 'string' ? Buffer.from(init.body) : undefined;
    const reply = await this.#ask(question, body, signal ?? new AbortController().signal);
    const { status = 502 } = reply;
    const frames = reply.body[Symbol.asyncIterator]();
    // Pulled: what nobody reads stays with the window, and with the service.
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await frames.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: () => reply.cancel(),
      },
      { highWaterMark: 0 },
    );
    const isEmpty = [204, 205, 304].includes(status);
    return new Response(isEmpty ? null : stream, { status, ...(reply.headers && { headers: reply.headers }) });
  };

  /** Something else that the window does, with one value and one answer. */
  async call(name: string, input: unknown, signal: AbortSignal, onAsking?: () => void): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(input ?? null));
    const reply = await this.#ask({ ask: 'call', name }, body, signal, onAsking);
    return parseJson((await collect(reply.body)).toString());
  }

  async #askJson<T extends z.ZodMiniType>(question: Unsigned, schema: T, signal: AbortSignal): Promise<z.infer<T>> {
    const { body } = await this.#ask(question, undefined, signal);
    const answer = parseJsonAs(schema, (await collect(body)).toString());
    return (
      answer ?? raise(new RolecallError('protocol', l10n.t('The window answered something that is not understood.')))
    );
  }

  async #ask(question: Unsigned, body: Buffer | undefined, signal: AbortSignal, onAsking?: () => void): Promise<Reply> {
    const { session } = this.joined;
    const signed = (challenge: string) => ({ ...question, session, ...this.#prove(challenge) }) as Question;
    try {
      return await exchange(this.#place, signed, body, signal, onAsking, (lost) => {
        this.#lost ??= lost;
      });
    } catch (error) {
      const isGone = error instanceof UnreachableError;
      const known = isGone ? closedError() : error;
      if (known instanceof RolecallError && (isGone || OVER.includes(known.kind))) this.#lost ??= known;
      throw known;
    }
  }

  #operationOf(url: string, method: string) {
    for (const service of ['identity', 'inference'] as const) {
      const base = this.#urls[service];
      const found = url.startsWith(base) ? operationOf(service, method, url.slice(base.length)) : undefined;
      if (found) return found;
    }
    throw new RolecallError('unsupported', 'No window requests this for a program.');
  }
}

/** What a window says when its sign-in is of no use to this program any more. */
const OVER: readonly ErrorKind[] = ['sessionEnded', 'signedOut', 'forbidden'];

/** A question without the proof and the session, which are added to each. */
type Unsigned = Question extends infer Q
  ? Q extends Question
    ? Omit<Q, 'publicKey' | 'signature' | 'session'>
    : never
  : never;

interface Reply {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  readonly cancel: () => void;
}

/** The window could not be connected to, or is not a window of ours. */
class UnreachableError extends Error {
  readonly code: string | undefined;

  constructor(code?: string) {
    super('unreachable');
    this.code = code;
  }
}

/** One question on one connection. Leaving the body, or the signal, closes it. */
async function exchange(
  { address, key, protocol = PROTOCOL, silenceMs = SILENCE_MS }: Place,
  question: (challenge: string) => Question | { ask: 'about' },
  body: Buffer | undefined,
  signal: AbortSignal,
  onAsking?: () => void,
  onLost?: (error: RolecallError) => void,
): Promise<Reply> {
  if (signal.aborted) throw cancelled(signal.reason);
  const line = LineSocket.connect(address);
  const stop = () => line.close();
  signal.addEventListener('abort', stop, { once: true });
  const release = () => {
    signal.removeEventListener('abort', stop);
    line.close();
  };
  const closed = () => {
    if (signal.aborted) return cancelled(signal.reason);
    const error = closedError();
    onLost?.(error);
    return error;
  };
  try {
    const params = { role: 'joined', address, key, protocol } as const;
    const result = await withTimeout(handshakeAsClient(line, params), silenceMs, signal);
    if (result !== 'proven') {
      line.close();
      throw new UnreachableError(line.connected ? undefined : await line.closed);
    }
    const greeting = parseJsonAs(challengeSchema, (await line.next()) ?? raise(closed()));
    if (!greeting) throw new RolecallError('rateLimited', l10n.t('The window is too busy. Run the command again.'));
    line.send(question(greeting.challenge));
    await sendFrames(line, body ? [body] : []);
    for (;;) {
      const text = await line.next();
      if (text === undefined) throw closed();
      const reply = parseJsonAs(replySchema, text);
      if (!reply) throw new RolecallError('protocol', l10n.t('The window answered something that is not understood.'));
      if (reply.error) throw errorOf(reply.error);
      if (reply.asking) onAsking?.();
      else
        return {
          ...reply,
          body: untilReleased(receiveFrames(line, { maxBytes: MAX_ANSWER }, closed), release),
          cancel: release,
        };
    }
  } catch (error) {
    release();
    throw error;
  }
}

async function* untilReleased(frames: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* frames;
  } finally {
    release();
  }
}

function closedError(): RolecallError {
  return new RolecallError(
    'offline',
    l10n.t('The window of the editor closed before it had answered. Run the command again.'),
  );
}

function raise(error: RolecallError): never {
  throw error;
}

/** Whether `folder` is `open`, or below it. */
export function isWithin(folder: string, open: string): boolean {
  const way = path.relative(open, folder);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await fs.readdir(folder)).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

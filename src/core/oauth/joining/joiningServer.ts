import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import * as l10n from '@vscode/l10n';
import { withTimeout } from '../../base/abort.ts';
import type { TokenSource } from '../../base/connection.ts';
import { asRolecallError, RolecallError, systemErrorCode } from '../../base/errors.ts';
import { abortableFetch, type Fetch, networkError } from '../../base/http.ts';
import { parseJson, parseJsonAs } from '../../base/json.ts';
import type { Log } from '../../base/log.ts';
import { redactStream, redactValues } from '../../base/redact.ts';
import { createFileAtomically, ensurePrivateFolder, removeAbandonedFiles } from '../rotation/files.ts';
import { FolderKey, handshakeAsServer } from '../rotation/handshake.ts';
import type { LineSocket } from '../rotation/ipc.ts';
import { type IpcServer, startIpcServer } from '../rotation/ipc.ts';
import { PROTOCOL, type Protocol, protocolFields } from '../rotation/protocol.ts';
import { readFrames, receiveFrames, sendError, sendFrames } from './exchange.ts';
import {
  type AllowedRequest,
  type Claim,
  type Joined,
  joiningFolder,
  operations,
  pathOf,
  type ServiceName,
  SILENCE_TIMEOUT_MS,
  type WindowAbout,
  type WindowRequest,
  windowRequestSchema,
} from './messages.ts';
import { AllowedPrograms, verifyProgram } from './programs.ts';

/** The sign-in of a window, which programs can use. */
export interface SharedSignIn extends Pick<Joined, 'session'> {
  readonly urls: Readonly<Record<ServiceName, string>>;
  readonly tokens: Readonly<Record<ServiceName, TokenSource>>;
  /** Sent with every request to the inference service; their values may be secrets, see `readExtraHeaders`. */
  readonly inferenceHeaders: Readonly<Record<string, string>>;
  describe(signal: AbortSignal): Promise<Omit<Joined, 'session'>>;
}

export interface JoiningServerDeps {
  /** The folder of this user's shared state. */
  readonly state: string;
  readonly about: () => Pick<WindowAbout, 'editor' | 'folders'>;
  /** `undefined` while nobody is signed in. */
  readonly signIn: () => SharedSignIn | undefined;
  /** Asks the user whether a program may use the sign-in. */
  readonly ask: (signIn: SharedSignIn, claim: Claim, signal: AbortSignal) => Promise<boolean>;
  /** What else programs can ask for, by name, with one value. @throws RolecallError */
  readonly calls: Readonly<Record<string, (input: unknown, signal: AbortSignal) => Promise<unknown>>>;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly protocol?: Protocol;
}

/** The largest body of a request, in bytes: it is held in memory until it is whole. */
const MAX_REQUEST = 8_000_000;
/** The most that is passed on of an error's body, in bytes. */
const MAX_ERROR = 64_000;
/** Programs that are served at once. */
const MAX_CONNECTIONS = 16;
/** Names of tokens that are remembered. */
const MAX_HANDLES = 16;
/** How long the next frame of a request, or the reading of an answer's end, may take; in milliseconds. */
const FRAME_SILENCE_MS = 30_000;

/**
 * Listens for programs outside the editor that want to use the window's sign-in. The window sends their requests with
 * its own token; they get the answers. README.md beside this file says what that protects.
 */
export class JoiningServer {
  readonly allowed: AllowedPrograms;
  readonly #deps: JoiningServerDeps;
  readonly #folder: string;
  readonly #key: FolderKey;
  readonly #handles = new Map<string, string>();
  #server: IpcServer | undefined;
  #registration: string | undefined;
  #connections = 0;

  constructor(deps: JoiningServerDeps) {
    this.#deps = deps;
    this.#folder = joiningFolder(deps.state);
    this.#key = new FolderKey(this.#folder);
    this.allowed = new AllowedPrograms(this.#folder);
  }

  /** The address at which programs reach it; `undefined` while they cannot. */
  get address(): string | undefined {
    return this.#server?.address;
  }

  /** From now on programs find this window. @throws RolecallError `storage` when the folder cannot be used. */
  async open(): Promise<void> {
    if (this.#server) return;
    const windows = path.join(this.#folder, 'windows');
    for (const folder of [this.#deps.state, this.#folder, windows]) await ensurePrivateFolder(folder);
    for (const folder of [this.#folder, windows]) await removeAbandonedFiles(folder);
    const server = await startIpcServer((line, address) => this.#serve(line, address));
    this.#server = server;
    this.#registration = path.join(windows, `${randomBytes(8).toString('hex')}.json`);
    const fields = protocolFields(this.#deps.protocol ?? PROTOCOL);
    await createFileAtomically(
      this.#registration,
      JSON.stringify({ ...fields, address: server.address, pid: process.pid }),
      false,
    );
  }

  /** Ends the answers in progress too. */
  async close(): Promise<void> {
    const [server, registration] = [this.#server, this.#registration];
    this.#server = undefined;
    this.#registration = undefined;
    if (registration) await fs.rm(registration, { force: true });
    await server?.close();
  }

  async #serve(line: LineSocket, address: string): Promise<void> {
    const { log, protocol = PROTOCOL } = this.#deps;
    const disconnection = new AbortController();
    void line.closed.then(() => disconnection.abort()); // Never rejects.
    this.#connections += 1;
    try {
      const params = { role: 'joined', address, key: await this.#key.get(), protocol } as const;
      const result = await withTimeout(handshakeAsServer(line, params), SILENCE_TIMEOUT_MS);
      if (result !== 'proven') return this.#key.forget(); // Ours may be the old key.
      if (this.#connections > MAX_CONNECTIONS) throw busy();
      const challenge = randomBytes(24).toString('base64url');
      line.send({ challenge });
      const requestText = await withTimeout(line.next(), SILENCE_TIMEOUT_MS);
      const request = parseJsonAs(windowRequestSchema, requestText ?? '');
      if (!request) throw new RolecallError('protocol', 'The request could not be understood.');
      const limits = { maxBytes: MAX_REQUEST, silenceMs: FRAME_SILENCE_MS };
      const body = await readFrames(receiveFrames(line, limits, cutOff));
      // Programs of ours say nothing before they are asked.
      void line.next().then((more) => (more === undefined ? undefined : line.close())); // Never rejects.
      await this.#answer(line, request, { body, address, challenge }, disconnection.signal);
    } catch (error) {
      const rolecallError = asRolecallError(error);
      log.debug(`A program was not served: ${systemErrorCode(error) ?? rolecallError.message}`);
      sendError(line, rolecallError);
    } finally {
      line.end();
      await withTimeout(line.closed, FRAME_SILENCE_MS); // What was sent is read, or the program is stopped.
      this.#connections -= 1;
    }
  }

  async #answer(
    line: LineSocket,
    request: WindowRequest,
    sent: { readonly body: Buffer; readonly address: string; readonly challenge: string },
    signal: AbortSignal,
  ): Promise<void> {
    const signIn = this.#deps.signIn();
    if (!signIn) throw new RolecallError('signedOut', l10n.t('This window is not signed in.'));
    if (request.ask === 'about') {
      const { identity, inference } = signIn.urls;
      return sendJson(line, { ...this.#deps.about(), identityUrl: identity, inferenceUrl: inference });
    }
    const program = verifyProgram(request, sent.address, sent.challenge);
    if (program === undefined) throw notAllowed();
    if (request.ask === 'join') {
      await this.#permit(line, { program, claim: request.claim ?? {} }, signIn, signal);
      return sendJson(line, { ...(await signIn.describe(signal)), session: signIn.session });
    }
    if (request.session !== signIn.session) throw anotherAccount();
    if (!(await this.allowed.has(program, signIn.session))) throw notAllowed();
    return this.#serveAllowed(line, request, sent.body, signIn, signal);
  }

  async #permit(
    line: LineSocket,
    { program, claim }: { readonly program: string; readonly claim: Claim },
    signIn: SharedSignIn,
    signal: AbortSignal,
  ): Promise<void> {
    if (await this.allowed.has(program, signIn.session)) return;
    line.send({ asking: true });
    const isAllowed = await this.#deps.ask(signIn, claim, signal);
    if (signal.aborted || !isAllowed) throw notAllowed();
    // Meanwhile, because the user took time to answer.
    if (this.#deps.signIn()?.session !== signIn.session) throw anotherAccount();
    await this.allowed.add(program, signIn.session);
    this.#deps.log.info('A program outside of the editor may use this sign-in from now on.');
  }

  async #serveAllowed(
    line: LineSocket,
    request: AllowedRequest,
    body: Buffer,
    signIn: SharedSignIn,
    signal: AbortSignal,
  ): Promise<void> {
    switch (request.ask) {
      case 'token':
        return sendJson(line, { handle: this.#handleOf(await signIn.tokens[request.service].accessToken(signal)) });
      case 'refresh': {
        const { tokens } = signIn;
        const refusedToken = this.#handles.get(request.handle) ?? (await tokens[request.service].accessToken(signal));
        const next = await tokens[request.service].refreshAfter401(refusedToken, signal);
        return sendJson(line, next === undefined ? {} : { handle: this.#handleOf(next) });
      }
      case 'fetch':
        return this.#forward(line, request, body, signIn, signal);
      case 'call': {
        const call = Object.hasOwn(this.#deps.calls, request.name) ? this.#deps.calls[request.name] : undefined;
        if (!call) throw new RolecallError('unsupported', 'This window does not offer that call.');
        return sendJson(line, (await call(parseJson(body.toString()), signal)) ?? null);
      }
    }
  }

  /** Sends one request with the token and headers of this window, and answers without the token. */
  async #forward(
    line: LineSocket,
    { operation, organization, handle, accept, contentType }: Extract<AllowedRequest, { ask: 'fetch' }>,
    body: Buffer,
    { urls, tokens, inferenceHeaders }: SharedSignIn,
    signal: AbortSignal,
  ): Promise<void> {
    const { service, method } = operations[operation];
    const url = urls[service] + pathOf(operation, organization);
    const token = this.#handles.get(handle) ?? (await tokens[service].accessToken(signal));
    const extra = service === 'inference' ? inferenceHeaders : {};
    const headers = {
      ...extra,
      authorization: `Bearer ${token}`,
      ...(accept !== undefined && { accept }),
      ...(contentType !== undefined && { 'content-type': contentType }),
    };
    const init = { method, headers, ...(method === 'POST' && { body: body.toString('utf8') }) };
    const { fetch, log } = this.#deps;
    const response = await abortableFetch(fetch, url, { ...init, redirect: 'manual', signal }).catch(
      (error: unknown) => {
        throw error instanceof RolecallError ? error : networkError(error, url);
      },
    );
    log.debug(`${method} ${pathOf(operation, organization)} for a program → ${response.status}`);
    line.send({ status: response.type === 'opaqueredirect' ? 302 : response.status, headers: headersOf(response) });
    try {
      await sendFrames(
        line,
        response.ok
          ? redactStream(response.body ?? [], [token])
          : errorBody(response, [token, ...Object.values(extra)]),
      );
    } catch (error) {
      throw error instanceof RolecallError ? error : networkError(error, url);
    }
  }

  #handleOf(token: string): string {
    for (const [handle, storedToken] of this.#handles) if (storedToken === token) return handle;
    const handle = `window-${randomBytes(12).toString('base64url')}`;
    this.#handles.set(handle, token);
    const [oldest] = this.#handles.keys();
    if (this.#handles.size > MAX_HANDLES && oldest !== undefined) this.#handles.delete(oldest);
    return handle;
  }
}

async function sendJson(line: LineSocket, value: unknown): Promise<void> {
  line.send({ status: 200 });
  await sendFrames(line, [Buffer.from(JSON.stringify(value))]);
}

/** The headers that the clients of both services read. */
function headersOf({ headers }: Response): Record<string, string> {
  const names = ['content-type', 'retry-after'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value.slice(0, 500)]];
    }),
  );
}

/** The beginning of an error's body, without the secrets in any encoding. */
async function* errorBody({ body }: Response, secrets: readonly string[]): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size > MAX_ERROR) break;
  }
  yield Buffer.from(redactValues(Buffer.concat(pieces).subarray(0, MAX_ERROR).toString('utf8'), secrets));
}

function notAllowed(): RolecallError {
  return new RolecallError('forbidden', l10n.t('You did not allow this program to use your sign-in.'));
}

function anotherAccount(): RolecallError {
  return new RolecallError(
    'sessionEnded',
    l10n.t('The window is now signed in with another account. Run the command again.'),
  );
}

function busy(): RolecallError {
  return new RolecallError('rateLimited', l10n.t('Too many programs are using this window.'));
}

function cutOff(): RolecallError {
  return new RolecallError('cancelled', 'The program has gone.');
}

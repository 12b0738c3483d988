import * as l10n from '@vscode/l10n';
import type * as z from 'zod/mini';
import type { TokenSource } from '../../base/connection.ts';
import { type ErrorKind, RolecallError } from '../../base/errors.ts';
import type { Fetch } from '../../base/http.ts';
import { parseJson, parseJsonAs } from '../../base/json.ts';
import {
  exchange,
  type Reply,
  readFrames,
  UnreachableError,
  unexpectedResponse,
  type WindowAddress,
} from './exchange.ts';
import {
  type AllowedRequest,
  handleSchema,
  type Joined,
  operationOf,
  type ServiceName,
  type WindowAbout,
} from './messages.ts';
import type { ProgramProof } from './programs.ts';

type Prove = (challenge: string) => ProgramProof;

/** A window whose user has allowed this program to use the sign-in. */
export class JoinedWindow {
  readonly joined: Joined;
  readonly #place: WindowAddress;
  readonly #urls: Readonly<Record<ServiceName, string>>;
  readonly #prove: Prove;
  #lost: RolecallError | undefined;

  constructor(place: WindowAddress, about: WindowAbout, joined: Joined, prove: Prove) {
    this.#place = place;
    this.#urls = { identity: about.identityUrl, inference: about.inferenceUrl };
    this.joined = joined;
    this.#prove = prove;
  }

  /**
   * Set when the window has closed or its sign-in is over: the last answer may be incomplete, and there will be no
   * other.
   */
  get lost(): RolecallError | undefined {
    return this.#lost;
  }

  /** A token source that gives names of the window's tokens instead of the tokens. */
  tokens(service: ServiceName): TokenSource {
    return {
      accessToken: async (signal) => {
        const { handle } = await this.#askJson({ ask: 'token', service }, handleSchema, signal);
        if (handle === undefined) throw new RolecallError('signedOut', l10n.t('This window is not signed in.'));
        return handle;
      },
      refreshAfter401: async (handle, signal) =>
        (await this.#askJson({ ask: 'refresh', service, handle }, handleSchema, signal)).handle,
    };
  }

  /** Lets the window send the clients' requests. The token in them is only the name of one. */
  readonly fetch: Fetch = async (input, init) => {
    const url = String(input);
    const { method = 'GET', signal } = init ?? {};
    const operation = this.#operationOf(url, method);
    const headers = new Headers(init?.headers);
    const [accept, contentType] = [headers.get('accept'), headers.get('content-type')];
    const request = {
      ask: 'fetch',
      operation: operation.name,
      ...(operation.organization !== undefined && { organization: operation.organization }),
      handle: (headers.get('authorization') ?? '').replace(/^Bearer /, ''),
      ...(accept !== null && { accept }),
      ...(contentType !== null && { contentType }),
    } as const;
    const body = typeof init?.body === 'string' ? Buffer.from(init.body) : undefined;
    const reply = await this.#ask(request, body, signal ?? new AbortController().signal);
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

  /** Calls something else that the window offers, with one value and one answer. */
  async call(name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(input ?? null));
    const reply = await this.#ask({ ask: 'call', name }, body, signal);
    return parseJson((await readFrames(reply.body)).toString());
  }

  async #askJson<T extends z.ZodMiniType>(request: Unsigned, schema: T, signal: AbortSignal): Promise<z.infer<T>> {
    const { body } = await this.#ask(request, undefined, signal);
    const answer = parseJsonAs(schema, (await readFrames(body)).toString());
    if (answer === undefined) throw unexpectedResponse();
    return answer;
  }

  async #ask(unsigned: Unsigned, body: Buffer | undefined, signal: AbortSignal): Promise<Reply> {
    const { session } = this.joined;
    const request = (challenge: string) => ({ ...unsigned, session, ...this.#prove(challenge) }) as AllowedRequest;
    const onLost = (error: RolecallError) => {
      this.#lost ??= error;
    };
    try {
      return await exchange(this.#place, { request, body, onLost }, signal);
    } catch (error) {
      const isOver = error instanceof RolecallError && OVER.includes(error.kind);
      if (isOver || error instanceof UnreachableError) onLost(error);
      throw error;
    }
  }

  #operationOf(url: string, method: string) {
    for (const service of ['identity', 'inference'] as const) {
      const base = this.#urls[service];
      const operation = url.startsWith(base) ? operationOf(service, method, url.slice(base.length)) : undefined;
      if (operation) return operation;
    }
    throw new RolecallError('unsupported', 'Windows do not forward this request.');
  }
}

/** The window's errors after which its sign-in is of no use to this program. */
const OVER: readonly ErrorKind[] = ['sessionEnded', 'signedOut', 'forbidden'];

/** A request without the proof and the session, which are added to each. */
type Unsigned = AllowedRequest extends infer Q
  ? Q extends AllowedRequest
    ? Omit<Q, keyof ProgramProof | 'session'>
    : never
  : never;

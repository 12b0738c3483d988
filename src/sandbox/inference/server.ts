import type { IncomingMessage, ServerResponse } from 'node:http';
import { target } from '../http.ts';
import type { Authenticate, Hooks, RequestHandler, SandboxModel } from '../types.ts';
import { deliver, prepareCompletion } from './completion.ts';
import {
  httpError,
  internalError,
  invalidRequest,
  invalidToken,
  modelNotFound,
  noCredit,
  overloaded,
  RequestError,
  rateLimited,
  sendJson,
  sendRequestError,
} from './errors.ts';
import { type Engine, trainEngine } from './languageModel.ts';
import { magicModels, type ServedModel, servedModels } from './models.ts';
import type { ChatRequest } from './request.ts';
import { validateRequest } from './validate.ts';

export interface InferenceOptions {
  authenticate: Authenticate;
  hooks: Hooks;
  /** The available models (`--models a,b`); all models by default. */
  models?: readonly SandboxModel[] | undefined;
  /** Milliseconds between two tokens of a streamed choice (`--pace-ms`); 5 by default, 0 for maximum speed. */
  paceMs?: number | undefined;
  log?: ((line: string) => void) | undefined;
}

const defaultPaceMs = 5;

/**
 * Creates the inference service: `POST /v1/chat/completions`, `GET /v1/models` and `GET /v1/models/{id}`. Requests are
 * checked in this order, and the first failed check determines the answer: path (404), method (405), token (401),
 * content type (415), size (413), JSON and fields (400), model (404), capabilities of the model (400), context length
 * (400).
 *
 * Counts `completions`, `completions.aborted` (the client disconnected early, which stops the model) and the gauge
 * `completions.open`.
 */
export function createInferenceHandler(options: InferenceOptions): RequestHandler {
  const offered = servedModels.filter(({ id }) => options.models?.some((model) => model.id === id) ?? true);
  const startedAt = Math.floor(Date.now() / 1000);
  let trainedEngine: Engine | undefined;
  const engine = (): Engine => {
    trainedEngine ??= trainEngine();
    return trainedEngine;
  };

  const authenticate = (req: IncomingMessage): void => {
    const { authorization } = req.headers;
    if (!options.authenticate(authorization)) throw invalidToken(authorization !== undefined);
  };

  const complete = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    authenticate(req);
    const body = await readJsonBody(req);
    options.hooks.onCompletion?.(body);
    const request = validateRequest(body, engine().tokenizer.size);
    const completion = prepareCompletion(engine(), findModel(request, offered), request);
    await deliver(res, request, completion, { hooks: options.hooks, paceMs: options.paceMs ?? defaultPaceMs });
  };

  const listModels = (req: IncomingMessage, res: ServerResponse): void => {
    authenticate(req);
    sendJson(res, 200, { object: 'list', data: offered.map((model) => modelEntry(model, startedAt)) });
  };

  const showModel = (req: IncomingMessage, res: ServerResponse, segment: string): void => {
    authenticate(req);
    const id = decodeSegment(segment);
    const model = offered.find((candidate) => candidate.id === id);
    if (!model) throw modelNotFound(id);
    sendJson(res, 200, modelEntry(model, startedAt));
  };

  const route = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { path } = target(req);
    // Ids contain a slash, which some clients encode and others do not.
    const model = /^\/v1\/models\/(.+)$/.exec(path)?.[1];
    if (model !== undefined) {
      requireMethod(req, 'GET');
      return showModel(req, res, model);
    }
    switch (path) {
      case '/v1/chat/completions':
        requireMethod(req, 'POST');
        return complete(req, res);
      case '/v1/models':
        requireMethod(req, 'GET');
        return listModels(req, res);
      default:
        throw httpError(
          404,
          'There is nothing at this address: the service has POST /v1/chat/completions and GET /v1/models.',
        );
    }
  };

  return (req, res) => {
    route(req, res).catch((error: unknown) => {
      if (!(error instanceof RequestError))
        options.log?.(`inference: ${error instanceof Error ? error.stack : String(error)}`);
      // Discard the rest of the body, so that the client can finish sending it and then read the answer.
      req.resume();
      if (res.headersSent) res.destroy();
      else sendRequestError(res, error instanceof RequestError ? error : internalError());
    });
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // The percent-encoding is invalid, so no model has this id.
  }
}

function requireMethod(req: IncomingMessage, method: string): void {
  if (req.method !== method) throw httpError(405, `Use ${method} here.`, { Allow: method });
}

function findModel({ model }: ChatRequest, offered: readonly ServedModel[]): ServedModel {
  const refusals = { noCredit, rateLimited, internalError, overloaded };
  const error = Object.entries(magicModels).find(([id]) => id === model)?.[1];
  if (error) throw refusals[error]();
  const served = offered.find(({ id }) => id === model);
  if (!served) throw modelNotFound(model);
  return served;
}

function modelEntry({ id, contextLength }: SandboxModel, created: number): object {
  return { id, object: 'model', created, owned_by: 'rolecall-sandbox', max_model_len: contextLength };
}

/** The maximum size of a request body, in bytes. Bodies can contain images as data URLs. */
const maxBodyBytes = 8 * 1024 * 1024;

/**
 * Reads the JSON value of a request body.
 *
 * @throws RequestError 415 or 413, or 400 when the body is not UTF-8 or not JSON.
 */
async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  if (!isJson(req.headers['content-type']))
    throw httpError(415, 'The Content-Type must be application/json; charset=utf-8.');
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLong();
  const bytes = await readBytes(req);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalidRequest('', `The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Uses events because leaving a `for await` loop over a request destroys the connection before the answer is sent. */
function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) reject(tooLong());
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', reject);
  });
}

const tooLong = (): Error => httpError(413, `The body is longer than ${maxBodyBytes} bytes.`);

function isJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return type === 'application/json' && (charset === undefined || /^"?utf-?8"?$/.test(charset));
}

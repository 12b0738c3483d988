import type { IncomingMessage, ServerResponse } from 'node:http';
import { target } from '../http.ts';
import type { InferenceOptions, RequestHandler, SandboxModel } from '../types.ts';
import { readJsonBody } from './body.ts';
import { prepareCompletion } from './completion.ts';
import { deliver } from './deliver.ts';
import { type Engine, trainEngine } from './engine.ts';
import {
  httpRefusal,
  internalError,
  invalidToken,
  modelNotFound,
  noCredit,
  overloaded,
  Refusal,
  rateLimited,
  sendJson,
  sendRefusal,
} from './errors.ts';
import { magicModels, type ServedModel, servedModels } from './models.ts';
import type { ChatRequest } from './request.ts';
import { validateRequest } from './validate.ts';

/** What the inference half needs of the frame, and its own pace. */
export interface InferenceHandlerOptions
  extends Pick<InferenceOptions, 'authenticate' | 'counters' | 'models' | 'log'> {
  /** Milliseconds between two tokens of a streamed choice: 15 unless told, 0 for as fast as possible. */
  paceMs?: number | undefined;
  /** Told the body of each request for a completion that could be read as JSON, before it is judged. */
  onBody?: ((body: unknown) => void) | undefined;
}

const defaultPaceMs = 15;

/**
 * The inference service of the sandbox: `POST /v1/chat/completions`, `GET /v1/models` and `GET /v1/models/{id}`. Each
 * request is checked in this order, the first refusal is the answer: path 404, method 405, token 401, content type 415, size 413, JSON and
 * fields 400, model 404, what the model can do 400, context length 400.
 *
 * Counts `completions`, `completions.aborted` (the client left before the end; writing stops) and the gauge
 * `completions.open`.
 */
export function createInferenceHandler(options: InferenceHandlerOptions): RequestHandler {
  const offered = servedModels.filter(({ id }) => options.models?.some((model) => model.id === id) ?? true);
  const startedAt = Math.floor(Date.now() / 1000);
  let trained: Engine | undefined;
  const engine = (): Engine => {
    trained ??= trainEngine();
    return trained;
  };

  const authenticate = (req: IncomingMessage): void => {
    const { authorization } = req.headers;
    if (!options.authenticate(authorization)) throw invalidToken(authorization !== undefined);
  };

  const complete = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    authenticate(req);
    const body = await readJsonBody(req);
    options.onBody?.(body);
    const request = validateRequest(body, engine().tokenizer.size);
    const completion = prepareCompletion(engine(), findModel(request, offered), request);
    await deliver(res, request, completion, { counters: options.counters, paceMs: options.paceMs ?? defaultPaceMs });
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
    // Ids hold a slash, which some clients encode and others do not.
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
        throw httpRefusal(
          404,
          'There is nothing at this address: the service has POST /v1/chat/completions and GET /v1/models.',
        );
    }
  };

  return (req, res) => {
    route(req, res).catch((error: unknown) => {
      if (!(error instanceof Refusal))
        options.log?.(`inference: ${error instanceof Error ? error.stack : String(error)}`);
      // What is left of the body is read and dropped, so that the client can finish sending and then read the answer.
      req.resume();
      if (res.headersSent) res.destroy();
      else sendRefusal(res, error instanceof Refusal ? error : internalError());
    });
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // A stray percent sign: no model has that id.
  }
}

function requireMethod(req: IncomingMessage, method: string): void {
  if (req.method !== method) throw httpRefusal(405, `Use ${method} here.`, { Allow: method });
}

function findModel({ model }: ChatRequest, offered: readonly ServedModel[]): ServedModel {
  const refusals = { noCredit, rateLimited, internalError, overloaded };
  const magic = Object.entries(magicModels).find(([id]) => id === model)?.[1];
  if (magic) throw refusals[magic]();
  const found = offered.find(({ id }) => id === model);
  if (!found) throw modelNotFound(model);
  return found;
}

function modelEntry({ id, contextLength }: SandboxModel, created: number): object {
  return { id, object: 'model', created, owned_by: 'rolecall-sandbox', max_model_len: contextLength };
}

import * as l10n from '@vscode/l10n';
import { asRolecallError } from '../base/errors.ts';
import { isJsonObject, parseJson } from '../base/json.ts';
import { DeadlineSignal, timeoutError } from './deadlineSignal.ts';
import {
  accessToken,
  authorizationHeader,
  endpointUrl,
  type InferenceConnection,
  type InferenceDeps,
  readText,
  sendInferenceRequest,
  tokenAfter401,
  withoutSecrets,
} from './endpoint.ts';
import { readErrorObject } from './errorBody.ts';
import { errorOfResponse } from './errors.ts';

/** A model that the service lists. The list may contain models that do not chat (embeddings, images). */
export interface ListedModel {
  /** Case sensitive, may contain `/`. */
  readonly id: string;
  /** Tokens of prompt and answer together (`max_model_len`, `context_length`), if the service reports them. */
  readonly contextLength?: number;
}

const DEADLINE_MS = 15_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The status of services without this operation, which is not in the specification. */
const notOffered = [403, 404, 405, 501];

/**
 * `GET {inference_url}/v1/models`: the models, without duplicates, in the service's order; `undefined` when the service
 * does not offer a list. Not in the specification, so the caller treats every failure as "not offered" and relies on
 * the user's own list.
 *
 * @throws RolecallError `signedOut`, `offline`, `timeout`, `server`, … ; never for a service that has no list.
 */
export async function listModels(
  deps: InferenceDeps,
  connection: InferenceConnection,
  signal: AbortSignal,
): Promise<ListedModel[] | undefined> {
  const url = endpointUrl(connection, '/v1/models');
  const token = await accessToken(deps, signal);
  try {
    return await list(deps, url, token, signal);
  } catch (thrown) {
    const error = asRolecallError(thrown);
    const newer = error.kind === 'signedOut' ? await tokenAfter401(deps, token, signal) : undefined;
    return newer === undefined ? absent(error) : await list(deps, url, newer, signal).catch(absent);
  }
}

/** @throws `thrown`, unless it means that the service has no list. */
function absent(thrown: unknown): undefined {
  const { status } = asRolecallError(thrown).details;
  if (status === undefined || !notOffered.includes(status)) throw thrown;
}

async function list(
  deps: InferenceDeps,
  url: string,
  token: string,
  signal: AbortSignal,
): Promise<ListedModel[] | undefined> {
  const deadline = new DeadlineSignal(signal);
  try {
    deadline.arm({
      ms: DEADLINE_MS,
      reason: () => timeoutError(l10n.t('The inference service took too long to list its models.')),
    });
    const headers = { Authorization: authorizationHeader(token), Accept: 'application/json' };
    const response = await sendInferenceRequest(deps, url, { method: 'GET', headers }, deadline);
    const pieces: string[] = [];
    for await (const text of readText(response, deadline, url, MAX_BYTES)) pieces.push(text);
    const body = parseJson(pieces.join(''));
    const errorBody = isJsonObject(body) ? readErrorObject(body) : undefined;
    const refusal = errorBody && errorOfResponse({ body: errorBody });
    if (refusal?.kind === 'signedOut') throw refusal;
    return readModels(body);
  } catch (thrown) {
    throw withoutSecrets(asRolecallError(thrown), token, deps);
  } finally {
    deadline.dispose();
  }
}

/** `{"object": "list", "data": [{"id", …}]}`; anything else, such as the start page of a site, is not a list. */
function readModels(body: unknown): ListedModel[] | undefined {
  const data = isJsonObject(body) ? body.data : body;
  if (!Array.isArray(data)) return undefined;
  const models = new Map<string, ListedModel>();
  for (const entry of data) {
    if (!isJsonObject(entry) || typeof entry.id !== 'string' || entry.id === '' || models.has(entry.id)) continue;
    const length = [entry.max_model_len, entry.context_length].find(isTokenCount);
    models.set(entry.id, length === undefined ? { id: entry.id } : { id: entry.id, contextLength: length });
  }
  return [...models.values()];
}

function isTokenCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}

import type { ServerResponse } from 'node:http';

/**
 * The seven error bodies of the operation (specification of the inference service, Errors): all of one shape,
 * `{"error":{"code","message","error_type","param"}}`, every member a string, `param` empty when no field is meant.
 *
 * | name              | HTTP | code | error_type                | when                                                  |
 * |-------------------|------|------|---------------------------|-------------------------------------------------------|
 * | invalidRequest    | 400  | 400  | INVALID_REQUEST           | a field is missing, of a wrong type or out of bounds; |
 * |                   |      |      |                           | the prompt is longer than the model's context         |
 * | invalidToken      | 401  | 401  | INVALID_TOKEN             | no bearer token, or one that is not valid now         |
 * | modelNotFound     | 404  | 404  | MODEL_NOT_FOUND           | no model has this id (ids are case-sensitive)         |
 * | unsupportedParams | 400  | 422  | UNSUPPORTED_OPENAI_PARAMS | the model lacks what the fields ask for; `code`       |
 * |                   |      |      |                           | differs from the status, `param` is a list            |
 * | noCredit          | 429  | 429  | INSUFFICIENT_CREDIT       | `sandbox/no-credit`; waiting does not help            |
 * | internalError     | 500  | 500  | INTERNAL_ERROR            | `sandbox/broken`, or a defect of the sandbox          |
 * | overloaded        | 503  | 503  | OVERLOADED                | `sandbox/overloaded`; `Retry-After` in seconds        |
 *
 * Refusals of HTTP itself (unknown path 404, method 405, size 413, content type 415) have the same shape with the
 * status as `code`; `sandbox/rate-limited` answers 429 RATE_LIMITED with `Retry-After`.
 */
export class RequestError extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly errorType: string;
  readonly param: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    errorType: string,
    message: string,
    extra: { code?: string; param?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = extra.code ?? String(status);
    this.errorType = errorType;
    this.param = extra.param ?? '';
    this.headers = extra.headers ?? {};
  }
}

export const invalidRequest = (param: string, message: string): RequestError =>
  new RequestError(400, 'INVALID_REQUEST', message, { param });

export const invalidToken = (present: boolean): RequestError =>
  new RequestError(
    401,
    'INVALID_TOKEN',
    present
      ? 'The access token is not valid or no longer valid.'
      : 'The Authorization header with a bearer token is missing.',
    { headers: { 'WWW-Authenticate': present ? 'Bearer error="invalid_token"' : 'Bearer' } },
  );

export const modelNotFound = (id: string): RequestError =>
  new RequestError(404, 'MODEL_NOT_FOUND', `The model \`${id}\` does not exist.`, { param: 'model' });

export const unsupportedParams = (params: readonly string[]): RequestError =>
  new RequestError(
    400,
    'UNSUPPORTED_OPENAI_PARAMS',
    `The following parameters are not supported for this model: ${params.join(', ')}`,
    { code: '422', param: params.join(', ') },
  );

export const noCredit = (): RequestError =>
  new RequestError(429, 'INSUFFICIENT_CREDIT', 'The account has no credit left for this model.');

export const rateLimited = (): RequestError =>
  new RequestError(429, 'RATE_LIMITED', 'Too many requests for this model. Try again in 1 second.', {
    headers: { 'Retry-After': '1' },
  });

export const internalError = (): RequestError =>
  new RequestError(500, 'INTERNAL_ERROR', 'The inference service failed while it worked on this request.');

export const overloaded = (): RequestError =>
  new RequestError(503, 'OVERLOADED', 'The model has no free capacity now. Try again in 1 second.', {
    headers: { 'Retry-After': '1' },
  });

/** A refusal of HTTP itself, before the operation is reached. */
export const httpError = (status: 400 | 404 | 405 | 413 | 415, message: string, headers = {}): RequestError =>
  new RequestError(
    status,
    {
      400: 'INVALID_REQUEST',
      404: 'NOT_FOUND',
      405: 'METHOD_NOT_ALLOWED',
      413: 'PAYLOAD_TOO_LARGE',
      415: 'UNSUPPORTED_MEDIA_TYPE',
    }[status],
    message,
    { headers },
  );

export function errorBody(refusal: RequestError): object {
  return {
    error: {
      code: refusal.code,
      message: refusal.message,
      error_type: refusal.errorType,
      param: refusal.param,
    },
  };
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  res.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(bytes.length),
    ...headers,
  });
  res.end(bytes);
}

export function sendRequestError(res: ServerResponse, refusal: RequestError): void {
  sendJson(res, refusal.status, errorBody(refusal), refusal.headers);
}

import type { ServerResponse } from 'node:http';

/**
 * An error of the chat completion operation (inference specification, "Errors"). The bodies of all errors have the form
 * `{"error":{"code","message","error_type","param"}}`. All properties are strings. `param` is empty if the error is not
 * about a field.
 *
 * | name              | HTTP | code | error_type                | when                                               |
 * |-------------------|------|------|---------------------------|----------------------------------------------------|
 * | invalidRequest    | 400  | 400  | INVALID_REQUEST           | a field is missing, of the wrong type or           |
 * |                   |      |      |                           | out of bounds; the prompt is too long              |
 * | invalidToken      | 401  | 401  | INVALID_TOKEN             | the bearer token is missing or not valid           |
 * | modelNotFound     | 404  | 404  | MODEL_NOT_FOUND           | no model has this id (ids are case-sensitive)      |
 * | unsupportedParams | 400  | 422  | UNSUPPORTED_OPENAI_PARAMS | the model does not support some fields;            |
 * |                   |      |      |                           | `code` is not the status, `param` lists them       |
 * | noCredit          | 429  | 429  | INSUFFICIENT_CREDIT       | model `sandbox/no-credit`; waiting does not help   |
 * | internalError     | 500  | 500  | INTERNAL_ERROR            | model `sandbox/broken`, or a defect of the sandbox |
 * | overloaded        | 503  | 503  | OVERLOADED                | model `sandbox/overloaded`; has `Retry-After`      |
 *
 * HTTP errors (unknown path 404, method 405, size 413, content type 415) have the same form, with the status as `code`.
 * Model `sandbox/rate-limited` is answered with 429 RATE_LIMITED and `Retry-After`.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
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

export const invalidToken = (isPresent: boolean): RequestError =>
  new RequestError(
    401,
    'INVALID_TOKEN',
    isPresent
      ? 'The access token is not valid or no longer valid.'
      : 'The Authorization header with a bearer token is missing.',
    { headers: { 'WWW-Authenticate': isPresent ? 'Bearer error="invalid_token"' : 'Bearer' } },
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

/** An HTTP error, before the request reaches the operation. */
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

export function errorBody(error: RequestError): object {
  return {
    error: {
      code: error.code,
      message: error.message,
      error_type: error.errorType,
      param: error.param,
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

export function sendRequestError(res: ServerResponse, error: RequestError): void {
  sendJson(res, error.status, errorBody(error), error.headers);
}

import type { ServerResponse } from 'node:http';
import { sendJson } from '../http.ts';

/** The values of `error` in the identity specification's "Errors" that the sandbox uses for its own answers. */
export type ApiError =
  | 'invalid_request'
  | 'server_error'
  | 'access_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'forbidden';

const STATUS: Record<ApiError, number> = {
  invalid_request: 400,
  access_denied: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  server_error: 500,
};

/** Answers with the error object of the specification; both members are always there. */
export function sendError(
  res: ServerResponse,
  error: ApiError,
  description: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(res, STATUS[error], { error, error_description: description }, { 'Cache-Control': 'no-store', ...headers });
}

/** The bearer token of an `Authorization` header (RFC 6750 section 2.1); `undefined` where there is none. */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1];
}

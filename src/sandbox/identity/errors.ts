import type { ServerResponse } from 'node:http';
import { sendJson } from '../http.ts';

/** The values of `error` in the specification of the identity service "Errors" that the sandbox uses for its own answers. */
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

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { sendBody, sendJson } from './http.ts';
import type { Fault, Service } from './types.ts';

/** Identity errors by status; the pairs of the specification of the identity service "Errors" first. */
const IDENTITY_ERRORS: Record<number, string> = {
  401: 'access_denied',
  403: 'forbidden',
  500: 'server_error',
  400: 'invalid_request',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'request_entity_too_large',
  415: 'unsupported_media_type',
};

/** The error body a service gives with a status; each half's own shape (spec "Errors" of both services). */
export function errorBody(service: Service, status: number, message?: string): object {
  const text = message ?? `Injected by the sandbox: ${STATUS_CODES[status] ?? status}.`;
  if (service === 'identity') return { error: IDENTITY_ERRORS[status] ?? 'server_error', error_description: text };
  const error_type = (STATUS_CODES[status] ?? 'ERROR').toUpperCase().replace(/[^A-Z]+/g, '_');
  return { error: { code: String(status), message: text, error_type, param: '' } };
}

/** Answers instead of the service, for the kinds `status` and `html`. The request's body is read and dropped. */
export function answerWithFault(fault: Fault, service: Service, req: IncomingMessage, res: ServerResponse): void {
  req.resume();
  const headers = fault.headers ?? {};
  if (fault.kind === 'html') {
    const status = fault.status ?? 502;
    const title = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
    const page = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>sandbox proxy</center>\r\n</body>\r\n</html>\r\n`;
    sendBody(res, status, Buffer.from(typeof fault.body === 'string' ? fault.body : page), 'text/html', headers);
    return;
  }
  const status = fault.status ?? 500;
  if (typeof fault.body === 'string') sendBody(res, status, Buffer.from(fault.body), 'text/plain', headers);
  else sendJson(res, status, fault.body ?? errorBody(service, status), headers);
}

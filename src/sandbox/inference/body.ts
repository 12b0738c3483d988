import type { IncomingMessage } from 'node:http';
import { httpRefusal, invalidRequest } from './errors.ts';

/** Bytes a request body may have: images come inside it as data URLs. */
export const longestBody = 8 * 1024 * 1024;

/** The JSON value of a request body. Throws a Refusal: 415, 413, or 400 for what is not UTF-8 or not JSON. */
export async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  if (!isJson(req.headers['content-type']))
    throw httpRefusal(415, 'The Content-Type must be application/json; charset=utf-8.');
  if (Number(req.headers['content-length'] ?? 0) > longestBody) throw tooLong();
  const bytes = await readBytes(req);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalidRequest('', `The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Events rather than iteration: leaving a loop over a request destroys it, and the answer with it. */
function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > longestBody) reject(tooLong());
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', reject);
  });
}

const tooLong = (): Error => httpRefusal(413, `The body is longer than ${longestBody} bytes.`);

function isJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return type === 'application/json' && (charset === undefined || /^"?utf-?8"?$/.test(charset));
}

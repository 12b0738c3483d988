import { error, type Finding } from './finding.ts';
import { jsonFindings, undeclared } from './jsonTemplate.ts';
import type { ToolShape } from './toolSchema.ts';
import { parseUrlTemplate } from './urlTemplate.ts';

/** Set by the protocol, not by a tool (Fetch standard, forbidden request-headers). */
const protocolHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|keep-alive|origin|referer|via|proxy-.*|sec-.*)$/i;

/** The file belongs to everybody who reads the repository. */
const secretHeaders = /^(?:cookie2?|set-cookie|.*(?:auth|token|secret|password|credential|api-?key|session).*)$/i;

/** What is wrong with a tool of the kind `http`. */
export function httpFindings(
  { method, url, headers, body }: Extract<ToolShape['run'], { kind: 'http' }>,
  isDeclared: (name: string) => boolean,
): Finding[] {
  const findings: Finding[] = [];
  const parsed = parseUrlTemplate(url);
  if (parsed.kind === 'invalid') findings.push(error(['run', 'url'], `The address ${parsed.message}.`));
  else {
    for (const part of [...parsed.segments, ...parsed.pairs].flat()) {
      if (part.kind !== 'parameter' || isDeclared(part.name)) continue;
      findings.push(error(['run', 'url'], undeclared(part.name)));
    }
  }
  for (const name of Object.keys(headers)) {
    const path = ['run', 'headers', name];
    if (protocolHeaders.test(name)) findings.push(error(path, `The header "${name}" is not a tool's to set.`));
    else if (secretHeaders.test(name)) {
      findings.push(
        error(
          path,
          `The header "${name}" holds a secret, which has no place in a file of the workspace; nothing is sent for it.`,
        ),
      );
    }
  }
  if (body === undefined) return findings;
  if (method === 'GET' || method === 'HEAD') {
    return [...findings, error(['run', 'body'], `A ${method} request has no body; use another method.`)];
  }
  return [...findings, ...jsonFindings(body, ['run', 'body'], isDeclared)];
}

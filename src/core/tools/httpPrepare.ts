import { RolecallError } from '../base/errors.ts';
import { hostEntry, isAllowedHost } from './allowedHosts.ts';
import type { HttpRun } from './definition.ts';
import { fillJson } from './jsonTemplate.ts';
import { fillUrl } from './urlTemplate.ts';

/** Exactly what will be sent: what consent shows is what `runHttp` sends. */
export interface HttpSpec {
  readonly method: HttpRun['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly outputLimit: number;
}

/**
 * Turns a definition and checked arguments into what will be sent. Sends nothing.
 *
 * @param allowedHosts what the user allowed, never the workspace (see `allowedHosts.ts`).
 * @throws {RolecallError} kind `tool` when a value is refused; `configuration` when the host is not allowed.
 */
export function prepareHttp(
  run: HttpRun,
  args: Readonly<Record<string, unknown>>,
  allowedHosts: readonly string[],
): HttpSpec {
  const url = fillUrl(run.url, args);
  if (!isAllowedHost(url, allowedHosts)) {
    throw new RolecallError(
      'configuration',
      `Tools may not send requests to "${hostEntry(url)}" until the user allows that host in the setting "rolecall.tools.allowedHosts".`,
      { remedy: { kind: 'changeSetting', setting: 'tools.allowedHosts' } },
    );
  }
  const body = run.body === undefined ? undefined : JSON.stringify(fillJson(run.body, args) ?? null);
  const headers = Object.fromEntries(Object.entries(run.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method: run.method,
    url: url.href,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body,
    timeoutMs: run.timeoutSeconds * 1000,
    outputLimit: run.outputLimit,
  };
}

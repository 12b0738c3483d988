import { parseArgs } from 'node:util';

export interface SandboxOptions {
  /** Groups and roles of the generated organization. */
  groups: number;
  roles: number;
  /** Lifetimes in seconds. */
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  /** The redirect URI registered for the `loopback` client; without it a free port of 127.0.0.1 and `/callback`. */
  redirectUri?: string | undefined;
  /** The redirect URI registered for the `link` client. */
  linkRedirectUri: string;
  /** Whether `/.well-known/openid-configuration` and `/api/v1/organizations` are there. */
  discovery: boolean;
  organizationList: boolean;
  /** 0 takes a free port. */
  identityPort: number;
  inferencePort: number;
  /** Ids of the models on offer; all of them when absent. */
  models?: readonly string[] | undefined;
  /** Milliseconds between two tokens of a streamed answer; the inference half's own pace when absent. */
  paceMs?: number | undefined;
}

export const DEFAULTS: SandboxOptions = {
  groups: 2000,
  roles: 50,
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 90 * 24 * 3600,
  linkRedirectUri: 'vscode://rolecall.rolecall/callback',
  discovery: true,
  organizationList: true,
  identityPort: 0,
  inferencePort: 0,
};

/** The command line was not understood; the message is a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** How long a shared sandbox waits for a window to come back from a reload, in seconds. */
const LINGER_SECONDS = 60;

export interface ParsedOptions {
  options: SandboxOptions;
  /** Whether it goes on when standard input closes. */
  keep: boolean;
  /** The folder whose windows share it, where there is one. */
  shared?: { folder: string; lingerSeconds: number };
}

/** Reads the command line of `sandbox.js`. Throws a `UsageError`. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  const values = parse(args);
  return {
    options: {
      groups: number('groups', values.groups, DEFAULTS.groups, 0, 1_000_000),
      roles: number('roles', values.roles, DEFAULTS.roles, 0, 100_000),
      accessTokenSeconds: seconds('access-token-seconds', values['access-token-seconds'], DEFAULTS.accessTokenSeconds),
      refreshTokenSeconds: seconds(
        'refresh-token-seconds',
        values['refresh-token-seconds'],
        DEFAULTS.refreshTokenSeconds,
      ),
      redirectUri: uri('redirect-uri', values['redirect-uri']),
      linkRedirectUri: uri('link-redirect-uri', values['link-redirect-uri']) ?? DEFAULTS.linkRedirectUri,
      discovery: values['no-discovery'] !== true,
      organizationList: values['no-organization-list'] !== true,
      identityPort: port('identity-port', values['identity-port']),
      inferencePort: port('inference-port', values['inference-port']),
      paceMs: values['pace-ms'] === undefined ? undefined : number('pace-ms', values['pace-ms'], 0, 0, 60_000),
      models: values.models?.split(',').map((id) => id.trim()),
    },
    keep: values.keep === true,
    ...(values.shared !== undefined && {
      shared: {
        folder: values.shared,
        lingerSeconds: number('linger-seconds', values['linger-seconds'], LINGER_SECONDS, 0, 3600),
      },
    }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        groups: text,
        roles: text,
        'access-token-seconds': text,
        'refresh-token-seconds': text,
        'redirect-uri': text,
        'link-redirect-uri': text,
        'no-discovery': flag,
        'no-organization-list': flag,
        'identity-port': text,
        'inference-port': text,
        models: text,
        'pace-ms': text,
        keep: flag,
        shared: text,
        'linger-seconds': text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, value: string | undefined, fallback: number, least: number, most: number): number {
  if (value === undefined) return fallback;
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < least || parsed > most) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${value}".`);
  }
  return parsed;
}

function seconds(name: string, value: string | undefined, fallback: number): number {
  return number(name, value, fallback, 1, 10 * 365 * 24 * 3600);
}

function port(name: string, value: string | undefined): number {
  return number(name, value, 0, 0, 65_535);
}

function uri(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const parsed = URL.parse(value);
  if (parsed === null || parsed.search !== '' || parsed.hash !== '') {
    throw new UsageError(`--${name} must be an absolute URI without query and fragment, not "${value}".`);
  }
  return value;
}

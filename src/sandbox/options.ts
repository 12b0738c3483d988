import { parseArgs } from 'node:util';

export interface SandboxOptions {
  /** Number of groups and roles in the generated organization. */
  groups: number;
  roles: number;
  /** Lifetimes in seconds. */
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  /** The redirect URI of the `loopback` client; by default `/callback` on a free port of 127.0.0.1. */
  redirectUri?: string | undefined;
  /** The redirect URI of the `link` client. */
  linkRedirectUri: string;
  /** Whether `/.well-known/openid-configuration` and `/api/v1/organizations` exist. */
  discovery: boolean;
  organizationList: boolean;
  /** 0 means any free port. */
  identityPort: number;
  inferencePort: number;
  /** Ids of the available models; all models by default. */
  models?: readonly string[] | undefined;
  /** Milliseconds between two tokens of a streamed answer; the inference service has a default. */
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

/** The command line is invalid. The message is written for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/** How many seconds a shared sandbox waits by default for a window to reconnect after a reload. */
const LINGER_SECONDS = 60;

export interface ParsedOptions {
  options: SandboxOptions;
  /** Whether the program keeps running when standard input closes. */
  keep: boolean;
  /** Set if the windows that use this folder share the sandbox. */
  shared?: { folder: string; lingerSeconds: number };
}

/** Parses the command line of `sandbox.js`. @throws UsageError when it is invalid. */
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

function number(name: string, value: string | undefined, fallback: number, minimum: number, maximum: number): number {
  if (value === undefined) return fallback;
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < minimum || parsed > maximum) {
    throw new UsageError(`--${name} must be a whole number from ${minimum} to ${maximum}, not "${value}".`);
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

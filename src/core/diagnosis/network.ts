import fs from 'node:fs/promises';
import type { NetworkFact } from './facts.ts';

const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

/** What the environment says about proxies and certificates. */
export async function inspectEnvironment(env: NodeJS.ProcessEnv): Promise<Omit<NetworkFact, 'settings'>> {
  const variables: Record<string, string> = {};
  for (const name of VARIABLES.flatMap((upper) => [upper, upper.toLowerCase()])) {
    const value = env[name];
    // On Windows both spellings are one variable.
    if (value && !(process.platform === 'win32' && name !== name.toUpperCase())) variables[name] = value;
  }
  const path = env.NODE_EXTRA_CA_CERTS;
  return {
    variables,
    ...(path && { extraCertificates: { path, state: await readCertificates(path) } }),
    isUnchecked: env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
  };
}

async function readCertificates(path: string): Promise<'read' | 'unreadable' | 'no certificate'> {
  try {
    return (await fs.readFile(path, 'utf8')).includes('-----BEGIN CERTIFICATE-----') ? 'read' : 'no certificate';
  } catch {
    return 'unreadable'; // Which is the finding.
  }
}

/**
 * A proxy's address without user name, password and path. Passwords that should have been encoded are not taken apart:
 * whatever stands before the last `@` goes, and all of it where a query or fragment makes that uncertain.
 */
export function withoutCredentials(address: string): string {
  const [, scheme = '', rest = ''] = /^\s*([a-z][a-z0-9+.-]*:\/\/)?(.*)$/is.exec(address) ?? [];
  const at = rest.lastIndexOf('@');
  if (at < 0) return scheme + rest.replace(/[/?#\s].*$/s, '');
  return `${scheme}‹hidden›${/[?#]/.test(rest) ? '' : `@${rest.slice(at + 1).replace(/[/\s].*$/s, '')}`}`;
}

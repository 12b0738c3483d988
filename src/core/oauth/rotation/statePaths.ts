import { createHash } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';

/** What the location of the shared state depends on. It excludes the environment, which differs between windows. */
export interface MachineInfo {
  readonly platform: NodeJS.Platform;
  /** The home folder as the user database knows it, whatever `$HOME` says. */
  readonly homedir: string;
  readonly hostname: string;
}

export function thisMachine(): MachineInfo {
  return { platform: process.platform, homedir: homeOfUser(), hostname: os.hostname() };
}

/**
 * Where the windows of one operating-system user share their state. On Linux a home folder may be mounted on several
 * machines, or in containers, whose sockets do not reach each other: each has a folder of its own.
 */
export function stateRoot({ platform, homedir, hostname }: MachineInfo): string {
  if (platform === 'win32') return path.win32.join(homedir, 'AppData', 'Local', 'Rolecall');
  if (platform === 'darwin') return path.posix.join(homedir, 'Library', 'Application Support', 'Rolecall');
  return path.posix.join(homedir, '.local', 'state', 'rolecall', fileName(hostname));
}

/** The folder's name for one identity service and client, which does not reveal them. */
export function connectionFolderName(identityUrl: string, clientId: string): string {
  return createHash('sha256').update(`${identityUrl}|${clientId}`).digest('hex').slice(0, 32);
}

/** Longest path of a Unix socket that every system takes, in bytes (`sun_path` holds 104 with its zero on macOS). */
export const MAX_SOCKET_PATH = 100;

/** A host name as one path segment. */
function fileName(hostname: string): string {
  const safe = hostname
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 64);
  return safe === '' ? 'localhost' : safe;
}

/** The home folder that the user database names. */
export function homeOfUser(): string {
  try {
    return os.userInfo().homedir;
  } catch {
    return os.homedir(); // A container may run as a user id that has no entry in the user database.
  }
}

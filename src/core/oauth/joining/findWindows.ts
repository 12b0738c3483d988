import fs from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod/mini';
import { withTimeout } from '../../base/abort.ts';
import { cancelled, systemErrorCode } from '../../base/errors.ts';
import { parseJsonAs } from '../../base/json.ts';
import { readFileIfExists } from '../rotation/files.ts';
import { FolderKey } from '../rotation/handshake.ts';
import { statusOfConnectError } from '../rotation/holderConnection.ts';
import { removeDeadSocket } from '../rotation/ipc.ts';
import { protocolShape } from '../rotation/protocol.ts';
import { exchange, readFrames, UnreachableError, unexpectedResponse, type WindowAddress } from './exchange.ts';
import { JoinedWindow } from './joinedWindow.ts';
import {
  aboutSchema,
  type Claim,
  joinedSchema,
  joiningFolder,
  SILENCE_TIMEOUT_MS,
  type WindowAbout,
} from './messages.ts';
import { ProgramKey } from './programs.ts';

const registrationSchema = z.object({ ...protocolShape, address: z.string().check(z.minLength(1)) });

export type FindOptions = Omit<WindowAddress, 'address' | 'key'>;

/** The windows that programs can join. */
export interface FoundWindows {
  /** The newest first. */
  readonly windows: readonly FoundWindow[];
  /** Windows that are registered and did not answer: stopped, very busy, or of another version. */
  readonly silent: number;
}

/**
 * Finds the windows that programs can join, and removes what killed windows left behind.
 *
 * @throws RolecallError `storage`; `cancelled`.
 */
export async function findWindows(options: FindOptions, signal: AbortSignal): Promise<FoundWindows> {
  const folder = joiningFolder(options.state);
  const windows = path.join(folder, 'windows');
  const names = await namesIn(windows);
  const key = names.length === 0 ? Buffer.alloc(0) : await new FolderKey(folder).get();
  const results = await Promise.all(
    names.map(async (name) => {
      const file = path.join(windows, name);
      const registration = parseJsonAs(registrationSchema, (await readFileIfExists(file))?.toString() ?? '');
      if (!registration) return 'gone';
      const place = { ...options, address: registration.address, key };
      const stat = await fs.stat(file).catch(() => undefined); // Closed meanwhile.
      const about = await aboutOf(place, file, signal);
      return typeof about === 'string' ? about : { window: new FoundWindow(place, about), at: stat?.mtimeMs ?? 0 };
    }),
  );
  if (signal.aborted) throw cancelled(signal.reason);
  return {
    windows: results
      .filter((each) => typeof each !== 'string')
      .sort((one, other) => other.at - one.at)
      .map(({ window }) => window),
    silent: results.filter((each) => each === 'silent').length,
  };
}

/** `gone` also means that the window's user has signed out. */
async function aboutOf(
  place: WindowAddress,
  file: string,
  signal: AbortSignal,
): Promise<WindowAbout | 'gone' | 'silent'> {
  const limit = new AbortController();
  try {
    const request = () => ({ ask: 'about' }) as const;
    const response = exchange(place, { request }, AbortSignal.any([signal, limit.signal]));
    const reply = await withTimeout(
      response.then(({ body }) => readFrames(body)),
      place.silenceMs ?? SILENCE_TIMEOUT_MS,
      signal,
    );
    return parseJsonAs(aboutSchema, reply?.toString() ?? '') ?? 'silent';
  } catch (error) {
    if (!(error instanceof UnreachableError)) return 'gone';
    if (statusOfConnectError(error.code) !== 'gone') return 'silent';
    await fs.rm(file, { force: true });
    await removeDeadSocket(place.address);
    return 'gone';
  } finally {
    limit.abort();
  }
}

/** A window that has answered. */
export class FoundWindow {
  readonly about: WindowAbout;
  readonly #place: WindowAddress;

  constructor(place: WindowAddress, about: WindowAbout) {
    this.#place = place;
    this.about = about;
  }

  /** The address at which it listens. */
  get address(): string {
    return this.#place.address;
  }

  /**
   * Joins its sign-in, once its user has allowed it.
   *
   * @param claim What the program says of itself: the user is told.
   * @param onAsking The user is being asked now.
   * @throws RolecallError `forbidden`, `signedOut`, `offline`, `cancelled`.
   */
  async join(claim: Claim, onAsking: () => void, signal: AbortSignal): Promise<JoinedWindow> {
    const key = await ProgramKey.open(joiningFolder(this.#place.state));
    const prove = (challenge: string) => key.prove(this.#place.address, challenge);
    const request = (challenge: string) => ({ ask: 'join', claim, ...prove(challenge) }) as const;
    const { body } = await exchange(this.#place, { request, onAsking }, signal);
    const reply = parseJsonAs(joinedSchema, (await readFrames(body)).toString());
    if (!reply) throw unexpectedResponse();
    return new JoinedWindow(this.#place, this.about, reply, prove);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await fs.readdir(folder)).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

import { asRolecallError, cancelled } from '../base/errors.ts';
import type { Diagnosis, Gathered } from './facts.ts';

/** What a question about the network may take, in milliseconds; the others are asked on this machine. */
export const NETWORK_MS = 10_000;
export const LOCAL_MS = 4000;

type Questions = Omit<Diagnosis, 'at'>;
type Value<G> = G extends Gathered<infer T> ? T : never;

/**
 * Answers one question each; may fail, hang and take its time. `undefined` says that there is nothing to ask about, as
 * while no services are configured. None may open a browser, send a token or change a session.
 */
export type DiagnosisSources = {
  readonly [Name in keyof Questions]: (
    signal: AbortSignal,
  ) => Value<Questions[Name]> | undefined | Promise<Value<Questions[Name]> | undefined>;
};

const LIMITS: Readonly<Record<keyof Questions, number>> = {
  versions: LOCAL_MS,
  connection: LOCAL_MS,
  clientSecret: LOCAL_MS,
  identity: NETWORK_MS,
  inference: NETWORK_MS,
  redirect: LOCAL_MS,
  network: LOCAL_MS,
  store: LOCAL_MS,
  session: LOCAL_MS,
  shared: LOCAL_MS,
  problems: LOCAL_MS,
};

/**
 * Asks all questions at once, each within its time. What fails or hangs is told as such and takes nothing away from the
 * others.
 *
 * @throws RolecallError `cancelled` when `signal` says so.
 */
export async function diagnose(
  sources: DiagnosisSources,
  now: () => number,
  signal: AbortSignal,
  limits: Readonly<Record<keyof Questions, number>> = LIMITS,
): Promise<Diagnosis> {
  const ask = <Name extends keyof Questions>(name: Name) => {
    // The compiler does not see that both are indexed by the same name.
    const source = sources[name] as (signal: AbortSignal) => unknown;
    return gather(source, limits[name], signal) as Promise<Questions[Name]>;
  };
  const [versions, connection, clientSecret, identity, inference, redirect, network, store, session, shared, problems] =
    await Promise.all([
      ask('versions'),
      ask('connection'),
      ask('clientSecret'),
      ask('identity'),
      ask('inference'),
      ask('redirect'),
      ask('network'),
      ask('store'),
      ask('session'),
      ask('shared'),
      ask('problems'),
    ]);
  if (signal.aborted) throw cancelled(signal.reason);
  return {
    at: now(),
    versions,
    connection,
    clientSecret,
    identity,
    inference,
    redirect,
    network,
    store,
    session,
    shared,
    problems,
  };
}

/** Never rejects, and resolves within `limitMs`, or when `signal` aborts. */
async function gather(
  source: (signal: AbortSignal) => unknown,
  limitMs: number,
  signal: AbortSignal,
): Promise<Gathered<unknown>> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const late = new Promise<Gathered<unknown>>((resolve) => {
    const end = (problem: string) => {
      resolve({ kind: 'failed', problem });
      stop.abort();
    };
    timer = setTimeout(() => end(`no answer within ${limitMs / 1000} seconds`), limitMs);
    onAbort = () => end('stopped');
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([answer(source, stop.signal), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function answer(source: (signal: AbortSignal) => unknown, signal: AbortSignal): Promise<Gathered<unknown>> {
  try {
    const value = await source(signal);
    return value === undefined
      ? { kind: 'skipped', why: 'there is nothing to ask about yet' }
      : { kind: 'known', value };
  } catch (error) {
    return { kind: 'failed', problem: asRolecallError(error).message };
  }
}

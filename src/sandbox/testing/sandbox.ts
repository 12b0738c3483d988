import { randomBytes } from 'node:crypto';
import { listen } from '../http.ts';
import { personById } from '../identity/people.ts';
import type { SandboxOptions } from '../options.ts';
import { startSandbox } from '../sandbox.ts';
import type { SandboxDescriptor } from '../types.ts';
import { CounterTable, controlHandler, RequestLog, SecretLog } from './control.ts';
import { FaultTable } from './faults.ts';
import { instrument } from './instrument.ts';

/** What the test build prints, as one line of JSON, when it is ready. */
export interface TestDescriptor extends SandboxDescriptor {
  /** Base address of the control server, with its random key and without a trailing slash. */
  control: string;
}

export interface RunningTestSandbox {
  descriptor: TestDescriptor;
  close(): Promise<void>;
}

/** Starts the sandbox and, on another port, the server that lets tests control it (`control.ts`). */
export async function startTestSandbox(
  options: Partial<SandboxOptions> & { log?: ((line: string) => void) | undefined } = {},
): Promise<RunningTestSandbox> {
  const counters = new CounterTable();
  const faults = new FaultTable();
  const secrets = new SecretLog();
  const bodies = new RequestLog();
  const { log } = options;
  const { descriptor, sessions, close } = await startSandbox(options, {
    around: (service, handler) => instrument(service, handler, { counters, faults, log }),
    count: counters.count,
    onSecret: (value) => secrets.add(value),
    onCompletion: (body) => bodies.add(body),
  });
  const listener = await listen(0);
  const key = randomBytes(24).toString('base64url');
  listener.handle(
    controlHandler(key, {
      faults,
      counters,
      secrets,
      bodies,
      endSessions: () => sessions.endAll(),
      issueServiceToken: (person, seconds) =>
        personById(person) === undefined ? undefined : sessions.issueServiceToken(person, seconds),
    }),
  );
  return {
    descriptor: { ...descriptor, control: `${listener.origin}/${key}` },
    close: async () => {
      await Promise.all([close(), listener.close()]);
    },
  };
}

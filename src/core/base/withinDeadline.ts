import { createContext, Script } from 'node:vm';
import { RolecallError } from './errors.ts';

const script = new Script('work()');
const stopwatch = createContext({ work() {} });
/** How often work is started again when the machine, busy or asleep, gave it no CPU time. */
const maxAttempts = 5;

/**
 * Interrupts synchronous work after `ms` milliseconds, if this process had at least half of them as CPU time; otherwise
 * starts it again.
 *
 * A regular expression of a schema or a prompt file can backtrack for hours on a short string, and neither a limit on
 * the length of the string nor a list of allowed constructs excludes that. V8 polls for termination while it
 * backtracks, so the time-out of `vm` ends any pattern; this is no sandbox, only a stop-watch.
 *
 * @throws {RolecallError} kind `timeout` when the deadline passed; whatever `work` throws otherwise.
 */
export function withinDeadline<T>(ms: number, work: () => T): T {
  let result: { value: T } | undefined;
  stopwatch.work = () => {
    result = { value: work() };
  };
  for (let attempt = 1; ; attempt += 1) {
    const before = process.cpuUsage();
    try {
      script.runInContext(stopwatch, { timeout: ms });
      break;
    } catch (error) {
      // The error belongs to the other context: it is no instance of this one's `Error`.
      if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const { user, system } = process.cpuUsage(before); // Microseconds.
      if ((user + system) / 1000 < ms / 2 && attempt < maxAttempts) continue;
      throw new RolecallError('timeout', `The check took longer than ${ms} milliseconds.`, { cause: error });
    }
  }
  if (result === undefined) throw new RolecallError('unexpected', 'The check ended without a result.');
  return result.value;
}

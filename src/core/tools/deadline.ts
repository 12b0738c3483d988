import { Script } from 'node:vm';
import { RolecallError } from '../base/errors.ts';

const script = new Script('work()');

/**
 * Runs synchronous work that may be interrupted after `ms` milliseconds of wall time.
 *
 * A regular expression of a schema can backtrack for hours on a short string, and neither a limit on the length of the
 * string nor a list of allowed constructs excludes that. V8 polls for termination while it backtracks, so the time-out
 * of `vm` ends any pattern; this is no sandbox, only a stop-watch.
 *
 * @throws {RolecallError} kind `timeout` when the deadline passed; whatever `work` throws otherwise.
 */
export function withinDeadline<T>(ms: number, work: () => T): T {
  let result: { value: T } | undefined;
  try {
    script.runInNewContext(
      {
        work: () => {
          result = { value: work() };
        },
      },
      { timeout: ms },
    );
  } catch (error) {
    // The error belongs to the other context: it is no instance of this one's `Error`.
    if (Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new RolecallError('timeout', `The check took longer than ${ms} milliseconds.`, { cause: error });
    }
    throw error;
  }
  if (result === undefined) throw new RolecallError('unexpected', 'The check ended without a result.');
  return result.value;
}

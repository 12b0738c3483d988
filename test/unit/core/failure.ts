import assert from 'node:assert/strict';
import { RolecallError } from '../../../src/core/base/errors.ts';

/** The error of ours that `promise` rejects with. */
export async function failure(promise: Promise<unknown>): Promise<RolecallError> {
  const error = await promise.then(
    (value) => assert.fail(`nothing was thrown but given: ${String(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RolecallError, String(error));
  return error;
}

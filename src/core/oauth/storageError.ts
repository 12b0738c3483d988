import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';

/** Any failure of the secret store as a `storage` error. */
export function asStorageError(error: unknown): RolecallError {
  if (error instanceof RolecallError) return error;
  return new RolecallError(
    'storage',
    l10n.t(
      'The editor’s secret store (the system keyring) cannot be used. Unlock it and try again. You have not been signed out.',
    ),
    { cause: error },
  );
}

import * as l10n from '@vscode/l10n';
import { RolecallError } from './errors.ts';

/**
 * What `import()` becomes in the bundle (see esbuild.mjs): a module of features.cjs.
 *
 * @throws RolecallError when that file is missing, cut or of another version, as in the middle of an update.
 */
export function loadFeature(load: () => unknown): unknown {
  try {
    return load();
  } catch (cause) {
    const message = l10n.t('A part of Rolecall could not be loaded. Reload the window to finish updating it.');
    throw new RolecallError('unexpected', message, { cause, remedy: { kind: 'reloadWindow' } });
  }
}

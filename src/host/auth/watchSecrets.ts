import type * as vscode from 'vscode';
import { connectionKey } from '../../core/base/connection.ts';
import { secrets } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import type { InferenceTokens } from './inferenceTokens.ts';

/**
 * Reads what other windows have stored, where VS Code reports it (on the desktop, not in a browser). Sessions also reach
 * the windows directly; a token of the inference service arrives only in this way.
 */
export function watchSecrets(
  storage: vscode.SecretStorage,
  clouds: Clouds,
  inferenceTokens: InferenceTokens,
): vscode.Disposable {
  return storage.onDidChange(({ key }) => {
    for (const cloud of clouds.all) {
      if (key === secrets.session + connectionKey(cloud.connection)) void cloud.tokenManager.load(); // Never rejects.
      if (inferenceTokens.concerns(key, cloud.connection)) void cloud.readInferenceToken(); // Never rejects.
    }
  });
}

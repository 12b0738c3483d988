import type * as vscode from 'vscode';
import { connectionKey } from '../../core/base/connection.ts';
import { secrets } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import type { InferenceTokens } from './inferenceTokens.ts';

/**
 * Takes what other windows have stored, where VS Code tells of it (the desktop does; a browser does not). Sessions reach
 * the windows by themselves; this is the net below, and the only way for a token of the inference service.
 */
export function watchSecrets(
  storage: vscode.SecretStorage,
  clouds: Clouds,
  inferenceTokens: InferenceTokens,
): vscode.Disposable {
  return storage.onDidChange(({ key }) => {
    for (const cloud of clouds.all) {
      if (key === secrets.session + connectionKey(cloud.connection)) void cloud.tokenManager.load(); // Its state tells.
      if (inferenceTokens.concerns(key, cloud.connection)) void cloud.readInferenceToken(); // Never rejects.
    }
  });
}

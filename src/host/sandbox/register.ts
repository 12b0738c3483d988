import * as vscode from 'vscode';
import { Lazy } from '../../core/base/lazy.ts';
import { commands } from '../../ids.ts';
import { registerCommand } from '../commands.ts';
import type { SandboxDeps } from './trySandbox.ts';

/** Try the Sandbox and Leave the Sandbox. */
export function registerSandbox(deps: SandboxDeps): vscode.Disposable {
  const sandbox = new Lazy(async () => {
    const { Sandbox } = await import('./trySandbox.ts');
    return new Sandbox(deps);
  });
  return vscode.Disposable.from(
    sandbox,
    registerCommand(commands.trySandbox, deps.log, async () => (await sandbox.get()).enter()),
    registerCommand(commands.leaveSandbox, deps.log, async () => (await sandbox.get()).leave()),
  );
}

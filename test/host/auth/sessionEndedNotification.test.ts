import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ClaimFiles } from '../../../src/core/oauth/rotation/claimFiles.ts';
import { SessionEndedNotification } from '../../../src/host/auth/notifications.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import { commands } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { signInWithRefreshToken, useScene } from '../support/scene.ts';
import { until } from '../support/wait.ts';

const { signal } = new AbortController();

describe('that a session is over', () => {
  const scene = useScene();
  const patches = usePatches();
  let told: { message: string; buttons: string[] }[];
  let executed: string[];
  let press: string | undefined;

  beforeEach(() => {
    told = [];
    executed = [];
    press = undefined;
    patches.set(vscode.window, 'state', { focused: true, active: true });
    patches.set(vscode.window, 'showWarningMessage', async (message: string, ...buttons: string[]) => {
      told.push({ message, buttons });
      return press;
    });
    patches.set(vscode.commands, 'executeCommand', async (command: string) => {
      executed.push(command);
    });
    patches.set(vscode.env, 'openExternal', () => assert.fail('a browser was opened'));
  });

  async function end(cloud: Cloud): Promise<void> {
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await cloud.tokenManager.signIn({ ...session, refreshToken: 'spent', expiresAt: Date.now() - 1 });
    await assert.rejects(cloud.tokenManager.accessToken(signal));
    // A slow machine lets the caller go before the answer is there.
    await until('the end', () => cloud.tokenManager.state.kind === 'ended');
  }

  it('is told once, with why and the ways out, whatever happens afterwards', async () => {
    const cloud = await scene().startService();
    scene().own(new SessionEndedNotification(scene().clouds, scene().log));
    await end(cloud);
    await until('the notice', () => told.length > 0);
    assert.match(told[0]?.message ?? '', /ada.* is no longer signed in\./);
    assert.equal(told[0]?.buttons[0], 'Sign In');
    await assert.rejects(cloud.tokenManager.accessToken(signal));
    scene().settings.change();
    assert.equal(told.length, 1);
    assert.ok(!executed.includes(commands.signIn));
  });

  /** The session is over in two windows, and both notice. @returns the second. */
  async function endInTwoWindows() {
    const cloud = await scene().startService();
    const beside = scene().beside();
    await beside.startService();
    await beside.clouds.active?.load();
    scene().own(new SessionEndedNotification(scene().clouds, scene().log));
    beside.own(new SessionEndedNotification(beside.clouds, beside.log));
    await end(cloud);
    return beside;
  }

  it('is told by one window of several', async () => {
    let asked = 0;
    const { take } = ClaimFiles.prototype;
    patches.set(ClaimFiles.prototype, 'take', async function (this: ClaimFiles, what: string) {
      const isFirst = await take.call(this, what);
      asked += 1;
      return isFirst;
    });
    const other = await endInTwoWindows();
    await until('the notice', () => told.length > 0);
    await until('the other window', () => other.clouds.active?.tokenManager.state.kind === 'ended');
    await until('both to have asked', () => asked === 2);
    assert.equal(told.length, 1);
  });

  it('is told by a window that is there, not by one whose page is gone', async () => {
    const looked: (() => void)[] = [];
    patches.set(
      vscode.commands,
      'getCommands',
      () => new Promise<string[]>((resolve) => looked.push(() => resolve([]))),
    );
    const claimed: string[] = [];
    const { take } = ClaimFiles.prototype;
    patches.set(ClaimFiles.prototype, 'take', function (this: ClaimFiles, what: string) {
      claimed.push(what);
      return take.call(this, what);
    });
    await endInTwoWindows();
    await until('both to have looked', () => looked.length === 2);
    looked[1]?.();
    await until('the notice', () => told.length > 0);
    assert.equal(claimed.length, 1);
  });

  it('waits until the user looks at the window', async () => {
    const focus = new vscode.EventEmitter<vscode.WindowState>();
    patches.set(vscode.window, 'state', { focused: false, active: false });
    patches.set(vscode.window, 'onDidChangeWindowState', focus.event);
    const cloud = await scene().startService();
    scene().own(new SessionEndedNotification(scene().clouds, scene().log));
    await end(cloud);
    assert.equal(told.length, 0);
    patches.set(vscode.window, 'state', { focused: true, active: true });
    focus.fire({ focused: true, active: true });
    await until('the notice', () => told.length === 1);
  });

  it('leads to signing in when the button is pressed', async () => {
    press = 'Sign In';
    const cloud = await scene().startService();
    scene().own(new SessionEndedNotification(scene().clouds, scene().log));
    await end(cloud);
    await until('the command', () => executed.includes(commands.signIn));
  });
});

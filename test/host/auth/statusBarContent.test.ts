import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import type { SessionState } from '../../../src/core/oauth/rotation/windowSession.ts';
import { showSessionMenu, statusBarContent } from '../../../src/host/auth/statusBar.ts';
import type { Clouds } from '../../../src/host/clouds.ts';
import { commands } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { connectionTo } from '../support/sandbox.ts';

const account = { id: 'u', label: 'ada@example.com' };
const error = new RolecallError('offline', 'Why it is so.');

function cloudsIn(
  state: SessionState | undefined,
  problem?: RolecallError,
  of: 'service' | 'sandbox' = 'service',
): Clouds {
  const active = state && { tokenManager: { state }, connection: { ...connectionTo(of), label: 'id.example.com' } };
  return { active, problem, ...(of === 'sandbox' && { sandbox: active }) } as unknown as Clouds;
}

describe('the state of the session in the status bar', () => {
  const patches = usePatches();
  type Row = [state: SessionState, text: RegExp, tooltip: RegExp, command: string, colour: string | undefined];
  const rows: readonly Row[] = [
    [{ kind: 'signedOut' }, /sign-in\) Rolecall: sign in$/, /Not signed in to id\.example/, commands.signIn, undefined],
    [{ kind: 'signingIn' }, /waiting for the browser/, /Select for more options/, commands.showSession, undefined],
    [
      { kind: 'signedIn', account },
      /ada@example\.com$/,
      /signed in to id\.example\.com as ada/,
      commands.showSession,
      undefined,
    ],
    [{ kind: 'refreshing', account }, /sync~spin\) ada/, /refreshing the session/, commands.showSession, undefined],
    [
      { kind: 'offline', account, error },
      /ada.* \(offline\)/,
      /still signed in.*Why it is so\./,
      commands.showSession,
      'warning',
    ],
    [
      { kind: 'ended', account, reason: 'elsewhere', error },
      /sign in again/,
      /Why it is so\./,
      commands.signIn,
      'warning',
    ],
    [{ kind: 'storeUnavailable', error }, /keyring/, /Why it is so\./, commands.showSession, 'error'],
  ];
  for (const [state, text, tooltip, command, colour] of rows) {
    it(state.kind, () => {
      const words = statusBarContent(cloudsIn(state)) ?? assert.fail();
      assert.match(words.text, text);
      assert.match(words.tooltip, tooltip);
      assert.deepEqual([words.command, words.colour], [command, colour]);
    });
  }

  it('says whether it is about the sandbox', () => {
    const textOf = (state: SessionState) => statusBarContent(cloudsIn(state, undefined, 'sandbox'))?.text;
    assert.equal(textOf({ kind: 'signedIn', account }), '$(account) ada@example.com (sandbox)');
    assert.equal(textOf({ kind: 'refreshing', account }), '$(sync~spin) ada@example.com (sandbox)');
    const signedOut = statusBarContent(cloudsIn({ kind: 'signedOut' }, undefined, 'sandbox'));
    // Signs in, and opens the chat with the first prompt.
    assert.deepEqual([signedOut?.text, signedOut?.command], ['$(sign-in) Sandbox: sign in', commands.trySandbox]);
  });

  it('nothing while nothing is known or configured, and what is wrong with the settings', () => {
    assert.equal(statusBarContent(cloudsIn({ kind: 'starting' })), undefined);
    assert.equal(statusBarContent(cloudsIn(undefined)), undefined);
    assert.match(statusBarContent(cloudsIn(undefined, error))?.text ?? '', /settings/);
  });

  const offers: readonly [SessionState, readonly string[]][] = [
    [{ kind: 'signedOut' }, [commands.signIn, commands.signInWith, commands.diagnoseSignIn, commands.showLog]],
    [
      { kind: 'signingIn' },
      [
        commands.pasteSignInAddress,
        commands.copySignInAddress,
        commands.cancelSignIn,
        commands.diagnoseSignIn,
        commands.showLog,
      ],
    ],
    [{ kind: 'signedIn', account }, [commands.signOut, commands.signInWith, commands.diagnoseSignIn, commands.showLog]],
    [
      { kind: 'ended', account, reason: 'expired', error },
      [commands.signIn, commands.signInWith, commands.signOut, commands.diagnoseSignIn, commands.showLog],
    ],
    [
      { kind: 'storeUnavailable', error },
      [
        commands.refresh,
        'workbench.action.reloadWindow',
        commands.signIn,
        commands.signOut,
        commands.diagnoseSignIn,
        commands.showLog,
      ],
    ],
  ];
  for (const [state, wanted] of offers) {
    it(`${state.kind}: the menu offers what helps`, async () => {
      let items: readonly { command: string }[] = [];
      patches.set(vscode.window, 'showQuickPick', async (given: readonly { command: string }[]) => {
        items = given;
      });
      await showSessionMenu(cloudsIn(state), false);
      assert.deepEqual(
        items.map(({ command }) => command),
        wanted,
      );
    });
  }

  it('offers to leave the sandbox', async () => {
    let labels: readonly string[] = [];
    patches.set(vscode.window, 'showQuickPick', async (items: readonly { label: string }[]) => {
      labels = items.map(({ label }) => label);
    });
    await showSessionMenu(cloudsIn({ kind: 'signedOut' }, undefined, 'sandbox'), false);
    assert.equal(labels.at(-1), 'Leave the Sandbox');
  });
});

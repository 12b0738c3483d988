import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { registerStatusBar } from '../../../src/host/auth/statusBar.ts';
import type { Clouds } from '../../../src/host/clouds.ts';
import { TokenUsage } from '../../../src/host/tokenUsage.ts';
import { usePatches } from '../support/patches.ts';
import { connectionTo } from '../support/sandbox.ts';

describe('the status bar item', () => {
  const patches = usePatches();

  it('tells in its tooltip the tokens of this window by model, once there are any, and what they cost where a price is set', () => {
    const item = { show: () => {}, hide: () => {}, dispose: () => {}, tooltip: '' };
    patches.set(vscode.window, 'createStatusBarItem', () => item);
    const changed = new vscode.EventEmitter<void>();
    const state = { kind: 'signedIn', account: { id: 'u', label: 'ada@example.com' } };
    const connection = { ...connectionTo('service'), label: 'id.example.com' };
    const clouds = { active: { tokenManager: { state }, connection }, onDidChange: changed.event } as unknown as Clouds;
    const usage = new TokenUsage();
    const shown = registerStatusBar(clouds, usage);
    const signedIn = 'Rolecall: signed in to id.example.com as ada@example.com.';
    assert.equal(item.tooltip, signedIn);
    usage.add({ id: 's', label: 'small' }, { promptTokens: 5, completionTokens: 2 });
    usage.add(
      { id: 'l', label: 'large', price: { input: 2, output: 10, currency: 'EUR' } },
      { promptTokens: 1000, completionTokens: 20 },
    );
    usage.add({ id: 's', label: 'small' }, { promptTokens: 1 });
    usage.add({ id: 'another', label: 'small' }, { promptTokens: 3 });
    assert.deepEqual(item.tooltip.split('\n'), [
      signedIn,
      '',
      'Tokens used in this window:',
      'large: 1,000 input, 20 output tokens · about €0.0022',
      'small: 6 input, 2 output tokens',
      'small: 3 input, 0 output tokens',
    ]);
    changed.fire();
    assert.match(item.tooltip, /small: 6 input/);
    shown.dispose();
    usage.dispose();
  });
});

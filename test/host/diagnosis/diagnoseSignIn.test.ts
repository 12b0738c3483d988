import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../../src/ids.ts';
import { SecretSearch } from '../../harness/secretSearch.ts';
import { usePanels } from '../support/pages.ts';
import { usePatches } from '../support/patches.ts';
import { accounts, servicesOfTheSandbox, signInRunning, signOutRunning } from '../support/running.ts';
import { descriptor, person } from '../support/sandbox.ts';
import { until } from '../support/wait.ts';
import { userSettings } from '../support/workspace.ts';

describe('Rolecall: Diagnose Sign-In', function () {
  this.timeout(20_000);
  const patches = usePatches();
  const panels = usePanels(patches);
  const user = userSettings({ keep: true });
  let errors: string[];
  let told: string[];

  before(() => user.write(servicesOfTheSandbox));
  after(async () => {
    if ((await accounts()).length > 0) await signOutRunning();
    await user.clear();
  });
  beforeEach(() => {
    errors = [];
    told = [];
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
    patches.set(vscode.window, 'showInformationMessage', async (message: string) => void told.push(message));
    patches.set(vscode.env, 'openExternal', async () => assert.fail('a browser is never opened'));
  });
  /** Where nothing renders Markdown, as in these tests, a page shows it as it is. */
  const shown = () => panels.at(-1)?.text ?? '';

  /** Runs the command, and gives the report when it is shown. */
  async function report(): Promise<string> {
    await vscode.commands.executeCommand(commands.diagnoseSignIn);
    assert.deepEqual(errors, []);
    return until('the report', () => (shown() === '' ? undefined : shown()));
  }

  it('opens a page that tells everything a sign-in needs', async () => {
    const text = await report();
    for (const line of [
      /^# Sign-in diagnosis$/m,
      /^- \*\*Rolecall:\*\* `\d+\.\d+\.\d+`$/m,
      /^- \*\*Identity specification:\*\* `1\.11\.0`$/m,
      new RegExp(`^- \\*\\*Identity service:\\*\\* \`${descriptor.identity}\`$`, 'm'),
      new RegExp(`^- \\*\\*Client ID:\\*\\* \`${descriptor.clients.loopback.id}\`$`, 'm'),
      /^- \*\*Identity service:\*\* returned 200 after \d+ ms$/m,
      /^- \*\*Discovery:\*\* found/m,
      /^- \*\*Clock:\*\* this machine and the service agree/m,
      /^- \*\*Inference service:\*\* returned \d+/m,
      /^- \*\*Redirect listener:\*\* free/m,
      /^- \*\*http\.proxySupport:\*\* /m,
      /^- \*\*Secret store:\*\* (readable and writable|readable; writing was not tested)/m,
      /^- \*\*Session:\*\* signed out$/m,
      /^- \*\*Shared folder:\*\* `/m,
    ]) {
      assert.match(text, line);
    }
    assert.deepEqual(told, [], 'the page says it all');
  });

  it('tells of the session without its tokens, in the page that is open already', async () => {
    await report();
    assert.equal((await signInRunning('administrator')).askedForSecret, true);
    assert.deepEqual(await accounts(), [person('administrator').email]);
    const known = (await (await fetch(`${descriptor.control}/secrets`)).json()) as string[];
    assert.ok(known.length > 3);
    const search = new SecretSearch(known);
    assert.equal(search.inText('planted', `x ${known[0]} y`).length > 0, true, 'what is planted is found');
    await vscode.commands.executeCommand(commands.diagnoseSignIn);
    const text = await until('the new report', () => (/\*\* signed in/.test(shown()) ? shown() : undefined));
    assert.equal(panels.length, 1);
    assert.match(text, /^- \*\*Generation:\*\* \d+$/m);
    assert.match(text, /^- \*\*Access token:\*\* valid until \d{4}-\d\d-\d\d .* UTC \(in \d+ minutes\)$/m);
    assert.match(text, /^- \*\*Client secret:\*\* in the secret store$/m);
    assert.deepEqual(search.inText('report', text), []);
  });

  it('tells of the last error', async () => {
    const open = vscode.window.createWebviewPanel;
    patches.set(vscode.window, 'createWebviewPanel', () => {
      throw new Error('Nothing can be opened today.');
    });
    await vscode.commands.executeCommand(commands.diagnoseSignIn);
    await until('the message', () => errors.some((each) => each.includes('Nothing can be opened today.')));
    errors = [];
    patches.set(vscode.window, 'createWebviewPanel', open);
    await vscode.commands.executeCommand(commands.diagnoseSignIn);
    await until('the error', () => /UTC, error:\*\* `\[unexpected\] .*Nothing can be opened today\./.test(shown()));
  });
});

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../src/ids.ts';
import { usePanels } from './support/pages.ts';
import { usePatches } from './support/patches.ts';
import { accounts, offeredModel, servicesOfTheSandbox, signInRunning, signOutRunning } from './support/running.ts';
import { counter, descriptor, growth, person } from './support/sandbox.ts';
import { until } from './support/wait.ts';
import { userSettings } from './support/workspace.ts';

const ada = person('administrator').email;
const tokenRequests = 'identity POST /oauth2/v2/token';

describe('the running extension, configured for a cloud', () => {
  const patches = usePatches();
  const panels = usePanels(patches);
  const user = userSettings({ keep: true });

  before(() => user.write(servicesOfTheSandbox));
  after(async () => {
    await signOutRunning();
    await user.clear();
  });

  /** So that each test can be run alone. */
  async function signedIn(): Promise<void> {
    if ((await accounts()).length === 0) await signInRunning('administrator');
  }

  async function refused() {
    const errors: string[] = [];
    patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
    const { lastPage } = await signInRunning('administrator', 'cancel');
    return { lastPage, message: await until('the message', () => errors[0]) };
  }

  it('has no account and asks the services nothing by itself', async () => {
    const before = await counter('requests.identity');
    assert.deepEqual(await accounts(), []);
    assert.equal(await counter('requests.identity'), before);
  });

  it('says that the sign-in was refused when it was, and stays signed out', async () => {
    const { lastPage, message } = await refused();
    assert.match(message, /denied or canceled/);
    assert.match(lastPage, /Not signed in/);
    assert.deepEqual(await accounts(), []);
  });

  it('signs in through the browser and offers account and models to VS Code', async () => {
    await refused(); // The secret is asked for at least there.
    const { opened, lastPage, askedForSecret } = await signInRunning('administrator');
    assert.match(lastPage, /Signed in/);
    assert.equal(askedForSecret, false, 'the secret that was given before is kept');
    // What VS Code opens holds nothing that an editor could re-encode, and no secret.
    assert.match(opened[0] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]+$/);
    assert.deepEqual(await accounts(), [ada]);
    for (const { id } of descriptor.models) await offeredModel(id);
  });

  it('asks nothing of VS Code’s own models or of a GitHub account to answer', async () => {
    await signedIn();
    const model = await offeredModel('sandbox/guide');
    const response = await model.sendRequest([vscode.LanguageModelChatMessage.User('say: hello')]);
    let text = '';
    for await (const piece of response.text) text += piece;
    assert.equal(text, 'hello');
  });

  it('finds its session again in the system’s secret store', async () => {
    await signedIn();
    // Another inference address is another connection object, which knows only what SecretStorage holds.
    const renewed = await growth(tokenRequests, async () => {
      await user.write({ 'inference.url': `${descriptor.inference}/` });
      await user.write({ 'inference.url': 'http://127.0.0.1:9' });
      await until('the session', async () => (await accounts()).includes(ada));
      await user.write({ 'inference.url': descriptor.inference });
    });
    assert.equal(renewed, 0);
    assert.deepEqual(await accounts(), [ada]);
  });

  it('knows no session for another client, and the first again when it is back', async () => {
    await signedIn();
    await user.write({ 'identity.clientId': 'another-client' });
    assert.deepEqual(await accounts(), []);
    await user.write({ 'identity.clientId': descriptor.clients.loopback.id });
    await until('the session', async () => (await accounts()).includes(ada));
  });

  it('asks before it signs out, and forgets the session in the secret store too', async () => {
    await signedIn();
    patches.set(vscode.window, 'showInformationMessage', async () => undefined);
    await vscode.commands.executeCommand(commands.signOut);
    patches.restore();
    assert.deepEqual(await accounts(), [ada]);
    await signOutRunning();
    await user.write({ 'inference.url': 'http://127.0.0.1:9' });
    await user.write({ 'inference.url': descriptor.inference });
    assert.deepEqual(await accounts(), []);
  });

  describe('answers a question about a selection', () => {
    before(signedIn);
    afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

    let errors: string[];
    beforeEach(() => {
      errors = [];
      patches.set(vscode.window, 'showErrorMessage', async (message: string) => void errors.push(message));
    });

    async function select(text: string, selected = text): Promise<void> {
      const document = await vscode.workspace.openTextDocument({ content: text, language: 'plaintext' });
      const editor = await vscode.window.showTextDocument(document);
      const start = text.indexOf(selected);
      const range = [document.positionAt(start), document.positionAt(start + selected.length)] as const;
      editor.selection = new vscode.Selection(...range);
    }

    const answers = () => panels.map(({ text }) => text);

    it('into a page beside, with question, model and lines', async () => {
      await offeredModel('sandbox/guide');
      await select('first line\nsecond line\nthird line', 'second line\nthird');
      patches.set(vscode.window, 'showInputBox', async () => 'count to 12');
      await vscode.commands.executeCommand(commands.askAboutSelection);
      const answer = await until('the answer', () => answers().find((text) => /11, 12/.test(text)));
      assert.match(answer, /^count to 12\nsandbox\/guide · Untitled-\d+ \(2–3\)\n1, 2, 3/);
      assert.deepEqual(errors, []);
    });

    it('or about the whole file, and says what is missing where none is open', async () => {
      await select('some text', '');
      patches.set(vscode.window, 'showInputBox', async () => 'count to 9');
      await vscode.commands.executeCommand(commands.askAboutSelection);
      const answer = await until('the answer', () => answers().find((text) => /8, 9/.test(text)));
      assert.match(answer, /· Untitled-\d+\n/);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand(commands.askAboutSelection);
      assert.match(errors[0] ?? '', /Open a file and select some text first/);
    });

    it('and leaves nothing behind when no question is typed', async () => {
      await select('text');
      patches.set(vscode.window, 'showInputBox', async () => undefined);
      await vscode.commands.executeCommand(commands.askAboutSelection);
      assert.deepEqual([answers(), errors], [[], []]);
    });

    it('and says in it why it ended, when it did not simply end', async () => {
      await select('text');
      patches.set(vscode.window, 'showInputBox', async () => 'say nothing');
      await vscode.commands.executeCommand(commands.askAboutSelection);
      await until('the line', () => answers().some((text) => /own: The model returned an empty answer\./.test(text)));
    });
  });
});

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { accessToolRegistry } from '../../../src/host/access/accessTools.ts';
import { accessBriefing } from '../../../src/host/access/briefing.ts';
import { ownAccessToolNames } from '../../../src/host/ownAccessTools.ts';
import { extensionId } from '../../../src/ids.ts';
import { chatRequest } from '../support/chat.ts';
import { FakeLog } from '../support/fakes.ts';
import { useChat } from '../support/participant.ts';
import { descriptor } from '../support/sandbox.ts';
import { useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { workspaceFile } from '../support/workspace.ts';

describe('the prompts that the sandbox names', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const chat = useChat(scene);
  const file = workspaceFile('three.py');
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const { languageModelTools } = vscode.extensions.getExtension(extensionId)?.packageJSON.contributes ?? {};

  /** Asks as a person types it, with the access tools and what `/access` tells the model. */
  async function ask(typed: string): Promise<string> {
    const [, command, prompt = ''] = /^(?:\/(\w+) ?)?(.*)$/.exec(typed) ?? [];
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    const { data } = tree();
    chat().briefing = await accessBriefing(data, true, new AbortController().signal);
    if (command === 'access')
      chat().toolRegistry = await accessToolRegistry(data, languageModelTools, new FakeLog(), ownAccessToolNames);
    const { errorDetails } = await chat().ask(chatRequest(prompt, { command }));
    assert.equal(errorDetails, undefined);
    return chat().read();
  }

  const answers: Readonly<Record<string, RegExp>> = {
    '/access who can administer meridian?': /administrator in meridian: 2 subjects, 2 user IDs[\s\S]*\n- ada\.moreau@/,
    '/access what can dora.haddad reach?': /dora\.haddad@[\s\S]*in meridian: \d+ roles[\s\S]*secrets-auditor/,
    '/access who is in break-glass?': /break-glass: (?:0|no) members/,
    '/explain': /`three\.py` has 3 lines of `python`, 1 blank/,
  };
  for (const [prompt, answer] of Object.entries(answers)) {
    it(`"${prompt}" is answered`, async () => {
      await file.write('x = 1\n\ny = 2\n');
      await vscode.window.showTextDocument(file.uri());
      assert.match(await ask(prompt), answer);
    });
  }

  it('are exactly these, and "what can you do?" names them', async () => {
    assert.deepEqual(descriptor.prompts, Object.keys(answers));
    const said = await ask('what can you do?');
    for (const prompt of descriptor.prompts) assert.ok(said.includes(`\`${prompt}\``), prompt);
  });

  it('asked without /access, are sent there', async () => {
    assert.match(
      await ask('who can administer meridian?'),
      /ask:\n\n- `@rolecall \/access who can administer meridian\?`/,
    );
  });

  it('tell the members of a group, which no tool lists', async () => {
    assert.match(await ask('/access who is in finance?'), /Members of finance:[\s\S]*ines\.carvalho@meridian\.example/);
  });
});

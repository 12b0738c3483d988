import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { Commands } from './support/commands.ts';
import { usePatches } from './support/patches.ts';
import { servicesOfTheSandbox, signInRunning, signOutRunning } from './support/running.ts';
import { until } from './support/wait.ts';
import { userSettings } from './support/workspace.ts';

describe('the tools of Rolecall for agents that see only MCP servers', () => {
  const patches = usePatches();
  const user = userSettings({ keep: true });

  before(async () => {
    await user.write({ ...servicesOfTheSandbox, organizations: ['meridian'] });
    await signInRunning('administrator');
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.mcp.stopServer', '*');
    await signOutRunning();
    await user.clear();
  });

  const toolOf = (name: string) =>
    vscode.lm.tools.find((tool) => tool.name.startsWith('mcp_') && tool.name.endsWith(name));

  it('are those of a server that the editor starts when they are wanted, and that asks here', async () => {
    const given = new Commands(patches);
    given.press = /^Allow$|Until This Window Closes/;
    assert.equal(toolOf('who_has_role'), undefined, 'not started before');
    // As the editor does when a chat wants them.
    await vscode.commands.executeCommand('workbench.mcp.startServer', '*', {
      autoTrustChanges: true,
      waitForLiveTools: true,
    });
    const tool = await until('the tool', () => toolOf('who_has_role'));
    const result = await vscode.lm.invokeTool(tool.name, {
      input: { role: 'administrator' },
      toolInvocationToken: undefined,
    });
    const text = result.content
      .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''))
      .join('');
    assert.match(text, /ada\.moreau@meridian\.example/);
    assert.ok(given.told.some((told) => /^Allow the command line "rolecall" to use your sign-in as /.test(told)));
    assert.ok(given.told.some((told) => /^Share who can do what in "meridian" with the MCP client "/.test(told)));
  });
});

import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { readFinishReason } from '../../../src/core/completions/completion.ts';
import type { AgentLoopResult } from '../../../src/core/tools/agentLoop.ts';
import { followUpOf, followUpProvider } from '../../../src/host/chat/followUps.ts';
import { chatCommands } from '../../../src/ids.ts';

const offered = (followUp: string | undefined) => {
  const result = { metadata: { session: 's', history: [], followUp } };
  return followUpProvider.provideFollowups(result, undefined as never, undefined as never) as vscode.ChatFollowup[];
};
const asked = (command: string | undefined, prompt = 'x') => ({ command, prompt });
const end = (reason: AgentLoopResult['reason'], finishReason = 'stop'): AgentLoopResult => ({
  reason,
  history: [],
  rounds: 1,
  turn: {
    text: 'x',
    reasoning: '',
    toolCalls: [],
    finishReason,
    ending: readFinishReason(finishReason),
    complete: true,
  },
  error: undefined,
});

describe('suggestions after an answer', () => {
  it('go on where it is not whole', () => {
    for (const cut of [end('incomplete'), end('roundLimit'), end('answered', 'length')]) {
      assert.deepEqual(
        offered(followUpOf(asked('fix'), cut)).map(({ label }) => label),
        ['Continue'],
      );
    }
  });

  it('follow from the command', () => {
    assert.equal(followUpOf(asked('fix'), end('answered')), 'fix');
    assert.deepEqual(
      offered(chatCommands.explain).map(({ command }) => command),
      [chatCommands.fix, chatCommands.tests],
    );
    for (const command of [chatCommands.fix, chatCommands.tests, chatCommands.access]) {
      assert.ok(offered(command).length > 0, command);
    }
  });

  it('are not the question that was just asked', () => {
    const [suggested] = offered(chatCommands.access);
    assert.equal(followUpOf(asked(chatCommands.access, suggested?.prompt), end('answered')), undefined);
  });

  it('are none for a plain question, and none for what somebody else left', () => {
    assert.deepEqual(offered(followUpOf(asked(undefined), end('answered'))), []);
    const theirs = { metadata: { followUp: 'continue' } };
    assert.deepEqual(followUpProvider.provideFollowups(theirs, undefined as never, undefined as never), []);
  });
});

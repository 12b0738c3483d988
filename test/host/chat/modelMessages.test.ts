import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../../src/core/base/errors.ts';
import type { ChatMessage } from '../../../src/core/completions/request.ts';
import { estimateMessageTokens, toChatMessages, toFunctionTools } from '../../../src/host/chat/modelMessages.ts';

const { User, Assistant } = vscode.LanguageModelChatMessageRole;
/** Instructions: sent by VS Code, not declared in the stable API. */
const System = 3 as vscode.LanguageModelChatMessageRole;

const message = (
  role: vscode.LanguageModelChatMessageRole,
  ...content: unknown[]
): vscode.LanguageModelChatRequestMessage => ({ role, content, name: undefined });

const text = (value: string) => new vscode.LanguageModelTextPart(value);
const bytes = (mimeType: string, ...data: number[]) => new vscode.LanguageModelDataPart(new Uint8Array(data), mimeType);
const result = (callId: string, ...content: unknown[]) => new vscode.LanguageModelToolResultPart(callId, content);

describe('messages of VS Code', () => {
  const rows: readonly (readonly [string, vscode.LanguageModelChatRequestMessage, ChatMessage[]])[] = [
    ['text of the user', message(User, text('Who '), text('am I?')), [{ role: 'user', content: 'Who am I?' }]],
    ['text of the model', message(Assistant, text('You.')), [{ role: 'assistant', content: 'You.' }]],
    ['instructions', message(System, text('Be brief.')), [{ role: 'system', content: 'Be brief.' }]],
    ['nothing at all', message(User), []],
    ['nothing of the model', message(Assistant, text('')), []],
    [
      'tool calls',
      message(
        Assistant,
        text('Let me see.'),
        new vscode.LanguageModelToolCallPart('c1', 'find', { what: 'a "b"', deep: [1] }),
        new vscode.LanguageModelToolCallPart('c2', 'now', undefined as never),
      ),
      [
        {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"what":"a \\"b\\"","deep":[1]}' } },
            { id: 'c2', type: 'function', function: { name: 'now', arguments: '{}' } },
          ],
        },
      ],
    ],
    [
      'results before what the user says',
      message(User, text('Go on.'), result('c1', text('one '), text('two')), result('c2')),
      [
        { role: 'tool', tool_call_id: 'c1', content: 'one two' },
        { role: 'tool', tool_call_id: 'c2', content: '' },
        { role: 'user', content: 'Go on.' },
      ],
    ],
    [
      'results that are structured, text data, or no text',
      message(
        User,
        result(
          'c1',
          new vscode.LanguageModelPromptTsxPart({ node: 1 }),
          vscode.LanguageModelDataPart.text('!', 'text/plain'),
        ),
        result(
          'c2',
          vscode.LanguageModelDataPart.text('{"a":1}', 'application/json'),
          bytes('image/png', 1, 2, 3),
          bytes('cache_control'),
        ),
      ),
      [
        { role: 'tool', tool_call_id: 'c1', content: '{"node":1}!' },
        {
          role: 'tool',
          tool_call_id: 'c2',
          content: '{"a":1}[image/png of 3 bytes, which cannot be sent as the result of a tool]',
        },
      ],
    ],
    [
      'an image with words',
      message(User, bytes('image/png', 0, 255, 16), text('What is it?')),
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AP8Q' } },
          ],
        },
      ],
    ],
    [
      'results before an image',
      message(User, bytes('image/png', 1), result('c1', text('one'))),
      [
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AQ==' } }] },
      ],
    ],
    [
      'an image alone',
      message(User, bytes('image/jpeg', 1)),
      [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AQ==' } }] }],
    ],
    [
      'text that travels as data',
      message(User, text('See: '), vscode.LanguageModelDataPart.text('é', 'text/markdown')),
      [{ role: 'user', content: 'See: é' }],
    ],
    [
      'marks of the editor, which mean nothing to the service',
      message(User, text('Hi'), bytes('cache_control', 1), bytes('usage', 1), bytes('stateful_marker', 1), {
        thinking: '',
      }),
      [{ role: 'user', content: 'Hi' }],
    ],
  ];
  for (const [title, given, expected] of rows) {
    it(`become ours: ${title}`, () => {
      assert.deepEqual(toChatMessages([given]), expected);
    });
  }

  it('keep their order', () => {
    const given = [message(System, text('s')), message(User, text('u')), message(Assistant, text('a'))];
    assert.deepEqual(
      toChatMessages(given).map(({ role }) => role),
      ['system', 'user', 'assistant'],
    );
  });

  it('are refused with the reason when they hold what the service does not take', () => {
    assert.throws(
      () => toChatMessages([message(User, bytes('application/pdf', 1))]),
      (error) =>
        error instanceof RolecallError && error.kind === 'invalidRequest' && /application\/pdf/.test(error.message),
    );
  });

  it('have a length, in which an image counts little whatever its size', () => {
    const nothing = estimateMessageTokens(message(User));
    assert.equal(estimateMessageTokens(message(User, text('12345678'), text('1234'))), nothing + 3);
    assert.ok(estimateMessageTokens(message(User, result('c', text('x'.repeat(400))))) >= nothing + 100);
    assert.ok(
      estimateMessageTokens(message(Assistant, new vscode.LanguageModelToolCallPart('c', 'find', { a: 'b' }))) >
        nothing + 2,
    );
    const large = new vscode.LanguageModelDataPart(new Uint8Array(2_000_000), 'image/png');
    assert.equal(
      estimateMessageTokens(message(User, large)),
      estimateMessageTokens(message(User, bytes('image/png', 1))),
    );
    assert.ok(estimateMessageTokens(message(User, large)) < 5_000);
    assert.equal(estimateMessageTokens(message(User, bytes('application/pdf', 1))), nothing);
  });
});

describe('tools of VS Code', () => {
  it('become functions with an object schema, also those that take nothing', () => {
    const inputSchema = { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], $defs: {} };
    assert.deepEqual(
      toFunctionTools([
        { name: 'read', description: 'Reads.', inputSchema },
        { name: 'now', description: 'Now.', inputSchema: undefined },
      ]),
      [
        { type: 'function', function: { name: 'read', description: 'Reads.', parameters: inputSchema } },
        {
          type: 'function',
          function: { name: 'now', description: 'Now.', parameters: { type: 'object', properties: {} } },
        },
      ],
    );
  });
});

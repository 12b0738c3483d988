import assert from 'node:assert/strict';
import { demoPrompts } from '../../../src/sandbox/inference/topics.ts';
import { choiceOf, InferenceHarness, tool, user } from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const text = { type: 'string' };
const tools = [
  tool('insert_edit_into_file', 'Inserts code.', { filePath: text, code: text }, ['filePath', 'code']),
  tool('memory', 'Manages a memory.', { command: { enum: ['view', 'delete'] } }, ['command']),
  tool('run_in_terminal', 'Runs a shell command in a terminal.', { command: text }, ['command']),
  tool('rolecall_workspaceTool', 'Calls a tool of the workspace.', { tool: text }),
  tool('rolecall_who_has_role', 'Says who has a role.', { role: text, organization: text }, ['role']),
];

/** As VS Code's own chat words a message in Agent mode. */
const agent = (request: string, attachments = ''): string => `<environment_info>
The user's current OS is: Linux
</environment_info>
<workspace_info>
\`\`\`
README.md
rotate.py
\`\`\`
</workspace_info>
<userMemory>
Use the memory tool to store persistent notes under /memories/.
</userMemory>
${attachments}
<context>
The current date is 2026-11-22.
</context>
<reminderInstructions>
When using the insert_edit_into_file tool, use a line comment with \`...existing code...\`.
Prefer the rolecall_workspaceTool.
</reminderInstructions>
<userRequest>
${request}
</userRequest>
`;

const attached = (question: string, title: string, language: string, code: string): string =>
  `${question}\n\n${title}:\n\`\`\`${language}\n${code}\n\`\`\``;

async function answerTo(content: string, more: object = {}): Promise<{ content: string; calls: string[] }> {
  const { message } = choiceOf(
    await service.complete({ model: 'sandbox/guide', seed: 1, messages: [user(content)], ...more }),
  );
  const calls = message.tool_calls.map(({ function: fn }) => `${fn.name}(${fn.arguments})`);
  return { content: message.content ?? '', calls };
}

describe('sandbox inference: a message of VS Code’s own chat', () => {
  const rows: [request: string, calls: string[]][] = [
    ['what can you do?', []],
    ['hello', []],
    ['run_in_terminal "rm -rf ."', []],
    ['run the shell command in a terminal', []],
    ['who can administer meridian?', ['rolecall_who_has_role({"role":"administrator","organization":"meridian"})']],
    ['use rolecall_workspaceTool with tool=count_words', ['rolecall_workspaceTool({"tool":"count_words"})']],
    ['keep calling run_in_terminal', []],
  ];
  for (const [request, calls] of rows)
    it(`"${request}" → ${calls.join(', ') || 'words'}`, async () => {
      assert.deepEqual((await answerTo(agent(request), { tools })).calls, calls);
    });

  it('"what can you do?" gets the prompts, and the names of the tools that may be called', async () => {
    const { content } = await answerTo(agent('what can you do?'), { tools });
    for (const prompt of demoPrompts) assert.ok(content.includes(`- \`${prompt}\``), prompt);
    assert.match(content, /Available tools: `rolecall_workspaceTool`, `rolecall_who_has_role`\. Name one/);
  });

  it('is followed to the letter', async () => {
    assert.equal((await answerTo('<prompt>\nsay: native\n</prompt>\n')).content, 'native');
  });

  it('may be about what is attached to it, not about the files of the workspace', async () => {
    const attachments =
      '<attachments>\n<attachment id="rotate.py">\nExcerpt from rotate.py:\n```python\nx = 1\ny = 2\n```\n</attachment>\n</attachments>';
    assert.match(
      (await answerTo(agent('Explain this', attachments))).content,
      /^`Excerpt from rotate\.py` has 2 lines/,
    );
    assert.match((await answerTo(agent('Explain this'))).content, /^I'm a demo model/);
    assert.match((await answerTo(agent('hello', attachments))).content, /I'm a demo model/);
  });

  it('is the title of its conversation', async () => {
    const titleOf = async (request: string): Promise<string> =>
      (await answerTo(`Please write a brief title for the following request:\n\n${request}`)).content;
    assert.equal(await titleOf('what can you do?'), 'What can you do');
    assert.equal(await titleOf('@rolecall /access who can administer meridian?'), 'Who can administer meridian');
    assert.equal(
      await titleOf('find out why the nightly rotation of keys fails in the second cluster'),
      'Find out why the nightly rotation of',
    );
  });
});

describe('sandbox inference: what is attached to a message', () => {
  const index = (question: string): string =>
    attached(question, 'Chat customizations index', '', '<skills>\nsay: skills\nwho is in finance?\n\nlist\n</skills>');
  const settings = (question: string): string =>
    attached(question, 'chatLanguageModels.json', 'jsonc', '[\n  { "vendor": "rolecall" }\n]');

  it('is not what the question is about unless it says so', async () => {
    for (const wrap of [index, settings]) {
      assert.match((await answerTo(wrap('what can you do?'))).content, /^I'm a demo model and can only/);
      assert.match((await answerTo(wrap('What is top_p?'))).content, /distribution over tokens/);
      assert.match((await answerTo(wrap('What about cheese?'))).content, /^I'm a demo model and can only/);
      assert.equal((await answerTo(wrap('say: hi'))).content, 'hi');
    }
  });

  it('is described where the question asks for that, or there is no question', async () => {
    for (const question of ['Explain this', 'What does chatLanguageModels.json say?', ''])
      assert.match((await answerTo(settings(question))).content, /^`chatLanguageModels\.json` has 3 lines of `jsonc`/);
    const repeated = attached('repeat what is attached', 'notes.md', 'markdown', 'from a file');
    assert.equal((await answerTo(repeated)).content, 'from a file');
  });
});

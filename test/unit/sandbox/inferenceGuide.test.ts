import assert from 'node:assert/strict';
import { demoPrompts } from '../../../src/sandbox/inference/topics.ts';
import { ask, choiceOf, contentOf, InferenceHarness, listFiles, user, wordCount } from './inferenceHarness.ts';

const service = new InferenceHarness();
before(() => service.start());
after(() => service.stop());

const say = async (text: string, more: object = {}): Promise<string> =>
  contentOf(await service.complete(ask(text, { seed: 1, ...more })));

describe('sandbox inference: what the guide says', () => {
  const topics: [text: string, answer: RegExp][] = [
    ['Explain roles.', /three layers/],
    ['What is top_p?', /distribution over tokens/],
    ['How do I use a tool?', /Name one of them|Say which one you want/],
    ['What is this sandbox?', /on your own machine/],
  ];
  for (const [text, answer] of topics)
    it(`"${text}" → ${answer.source}`, async () => {
      assert.match(await say(text), answer);
    });

  for (const text of ['What can you do?', 'Hello!', 'help', 'Who are you?', 'What about cheese?', ''])
    it(`"${text}" → prompts that work`, async () => {
      const content = await say(text);
      assert.match(content, /I'm a demo model and can only answer prompts like these:\n\n- /);
      for (const prompt of demoPrompts) assert.ok(content.includes(`- \`${prompt}\``), prompt);
    });

  it('names capitals, and nothing but the name where that is wanted', async () => {
    assert.equal(await say('What is the capital of France?'), 'The capital of France is Paris.');
    assert.equal(await say('What is the capital of japan? Answer with one word.'), 'Tokyo');
    assert.match(await say('What is the capital of Atlantis?'), /I'm a demo model/);
  });

  it('grades an answer by the words that are expected, and nothing that is no judge’s request', async () => {
    const rubric = { role: 'system', content: 'You grade an answer on a scale of 1 to 5. Reply with one digit.' };
    const graded = async (text: string, instructions: object[] = [rubric]) =>
      contentOf(await service.complete({ model: 'sandbox/guide', seed: 1, messages: [...instructions, user(text)] }));
    const rows: readonly [completion: string, expected: string, grade: string][] = [
      ['Paris', '<expected>\nParis\n</expected>', '5'],
      ['It is Buenos Aires.', '<expected>Buenos Aires</expected>', '5'],
      ['Buenos días', '<expected>Buenos Aires</expected>', '3'],
      ['London', '<expected>Paris</expected>', '1'],
      ['count to 5', '', '4'],
      ['', '', '1'],
    ];
    for (const [completion, expected, grade] of rows) {
      assert.equal(await graded(`${expected}<completion>\n${completion}\n</completion>`), grade, completion);
    }
    assert.match(await graded('<completion>x</completion>', []), /I'm a demo model/);
  });

  it('without tools names prompts that work without them, and where the access tools are', async () => {
    const content = await say('What can you do?');
    const [here = '', elsewhere = ''] = content.split('The access tools are not offered here.');
    const prompts = [...here.matchAll(/^- `([^`]+)`/gm)].map(([, prompt = '']) => prompt);
    assert.equal(prompts.length, 4);
    for (const prompt of prompts) {
      const code = prompt.includes('sort') ? '\n\na.txt:\n```\nb\na\n```' : '';
      assert.doesNotMatch(await say(prompt + code), /demo model and can only|not offered/, prompt);
    }
    assert.match(elsewhere, /`rolecall who-has` and `rolecall access`/);
    assert.doesNotMatch(await say('What can you do?', { tools: [wordCount] }), /not offered here/);
  });

  it('reads the last user message, not an earlier one', async () => {
    const messages = [user('roles?'), { role: 'assistant', content: 'yes' }, user('What is top_p?')];
    assert.match(contentOf(await service.complete({ model: 'sandbox/guide', messages })), /distribution over tokens/);
  });

  it('answers though there is no user message', async () => {
    const body = await service.complete({
      model: 'sandbox/guide',
      messages: [{ role: 'system', content: 'Be brief.' }],
    });
    assert.match(contentOf(body), /I'm a demo model/);
  });

  it('stays on its script at its default temperature, whatever the seed', async () => {
    for (let seed = 0; seed < 20; seed++)
      assert.equal(await say('say: The role of a group is to gather.', { seed }), 'The role of a group is to gather.');
  });

  it('leaves its script at a high temperature', async () => {
    const text = 'The role of a group is to gather people and to grant them what they need.';
    assert.notEqual(await say(`say: ${text}`, { temperature: 2, top_p: 1 }), text);
  });
});

describe('sandbox inference: phrases', () => {
  it('say: answers exactly what follows', async () => {
    const text = '  # Title\n\n- item `code` 漢字\n\n```ts\nconst a = 1;\n```';
    assert.equal(await say(`say: ${text}`), text);
    assert.equal(await say('Please\nrepeat: this'), 'this');
    assert.equal(await say('say: \ufeffmarked'), '\ufeffmarked');
  });

  it('count to', async () => {
    assert.equal(await say('count to 5'), '1, 2, 3, 4, 5');
  });

  it('say nothing: an empty content with finish_reason stop', async () => {
    const choice = choiceOf(await service.complete(ask('say nothing')));
    assert.deepEqual([choice.message.content, choice.finish_reason], ['', 'stop']);
  });

  it('only think: reasoning and an empty content', async () => {
    for (const more of [{}, { reasoning_effort: 'high' }]) {
      const { message } = choiceOf(await service.complete(ask('only think', more)));
      assert.equal(message.content, '');
      assert.ok((message.reasoning_content?.length ?? 0) > 20);
    }
  });
});

describe('sandbox inference: reasoning', () => {
  it('says true things of the request', async () => {
    const { message } = choiceOf(
      await service.complete(
        ask('Do you know four? é', {
          reasoning_effort: 'max',
          seed: 9,
          temperature: 0.5,
          tools: [wordCount, listFiles],
          stop: 'zzz',
          max_tokens: 900,
        }),
      ),
    );
    for (const fact of [
      /wrote 5 words/,
      /None of the 2 tools/,
      /has 1 message, 0 of them instructions/,
      /no tool result/,
      /asks a question/,
      /no code block/,
      /limit of 900 tokens and names 1 stop string/,
      /asks for 1 choice from the seed 9/,
      /temperature is 0\.5/,
      /does not ask for token probabilities/,
      /all at once/,
      /beyond ASCII/,
    ])
      assert.match(message.reasoning_content ?? '', fact);
  });

  it('comes before calls, too, and names them', async () => {
    const { message } = choiceOf(
      await service.complete(ask('list files', { reasoning_effort: 'low', tools: [listFiles] })),
    );
    assert.match(message.reasoning_content ?? '', /`list_files`, so I call it/);
    assert.equal(message.tool_calls.length, 1);
  });

  it('is cut by the limit with finish_reason length and no content', async () => {
    const choice = choiceOf(await service.complete(ask('hello', { reasoning_effort: 'max', max_tokens: 10 })));
    assert.equal(choice.finish_reason, 'length');
    assert.ok(choice.message.reasoning_content);
  });
});

describe('sandbox inference: code', () => {
  const block = (code: string, language = 'ts'): string => `\`\`\`${language}\n${code}\n\`\`\``;

  const rows: [request: string, code: string, language: string, answer: string][] = [
    ['rename foo to bar', 'const foo = foo2 + foo;', 'ts', 'const bar = foo2 + bar;'],
    ['rename `$x` to `$y`', '$x + $xy', 'js', '$y + $xy'],
    ['sort the lines', 'b\na\nc', 'text', 'a\nb\nc'],
    ['add a comment', '  x = 1\n  y = 2', 'python', '  # 2 lines below, counted by the demo model.\n  x = 1\n  y = 2'],
    ['document this', 'a {}', 'css', '/* 1 line below, counted by the demo model. */\na {}'],
    ['document this', '<a/>', 'html', '<!-- 1 line below, counted by the demo model. -->\n<a/>'],
    ['document this', 'SELECT 1', 'sql', '-- 1 line below, counted by the demo model.\nSELECT 1'],
    ['fix it', 'a;  \nb;\t', 'ts', 'a;\nb;'],
  ];
  for (const [request, code, language, answer] of rows)
    it(`"${request}" really changes the ${language} block`, async () => {
      const content = await say(`${request}\n${block(code, language)}`);
      assert.ok(content.endsWith(`\n\n${block(answer, language)}`), content);
    });

  it('sends only the block when only the code is asked for', async () => {
    assert.equal(await say(`Rename a to b. Reply with only the code.\n${block('a')}`), block('b'));
  });

  it('writes a commit message for a change, and nothing besides', async () => {
    const change = (...files: string[]) =>
      files.map(
        (file) => `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n+3`,
      );
    const message = (...files: string[]) =>
      say(`Write a commit message for this change.\n${block(change(...files).join('\n'), 'diff')}`);
    assert.equal(await message('a.ts'), 'Change a.ts\n\n2 lines added, 1 line removed.');
    assert.match(await message('a.ts', 'b c.ts'), /^Change a\.ts and b c\.ts\n/);
    assert.match(await message('a.ts', 'b.ts', 'c.ts'), /^Change 3 files\n\n6 lines added, 3 lines removed\.$/);
  });

  it('takes the last of several blocks', async () => {
    assert.match(await say(`sort\n${block('b\na')}\nand\n${block('d\nc')}`), /c\nd/);
  });

  it('puts a longer fence around code that has one', async () => {
    assert.match(await say('sort\n````md\n```\nb\na\n```\n````'), /````md\n```\n```\na\nb\n````$/);
  });

  it('describes a block that it is not asked to change', async () => {
    const content = await say(`What is this?\n${block('class Group {}\n\nfunction members() {}')}`);
    assert.match(content, /^The code has 3 lines of `ts`, 1 blank\. It declares `Group`, `members`\./);
    assert.match(await say(`What is this?\n${block('1 + 1', '')}`), /^The code has 1 line, .*no declarations/);
    assert.match(await say(`What is this?\n\na b.py (3–4):\n${block('x = 1', 'py')}`), /^`a b\.py \(3–4\)` has 1 line/);
  });

  for (const [what, end] of [
    ['a line end', '\n'],
    ['no line end', ''],
    ['a line end of Windows', '\r\n'],
  ] as const)
    it(`counts the lines of code that ends with ${what}`, async () => {
      const eol = end === '' ? '\n' : end;
      const code = ['a', 'b', '', 'c'].join(eol) + end;
      assert.match(await say(`What is this?\n${block(code)}`), /has 4 lines of `ts`, 1 blank/);
    });

  it('still sees the code of an earlier message when asked about it', async () => {
    const first = user(`Explain this.\n\nb.py:\n${block('def b():\n  pass  ', 'py')}`);
    const answered = { role: 'assistant', content: 'x' };
    const about = async (text: string): Promise<string> =>
      contentOf(await service.complete({ model: 'sandbox/guide', messages: [first, answered, user(text)] }));
    assert.match(await about('Look for mistakes in it'), /^`b\.py` has 2 lines/);
    assert.match(await about('Write tests for it'), /^`b\.py` has 2 lines/);
    assert.match(await about('Find what is wrong here and correct it.'), /trailing whitespace[\s\S]*pass\n```$/);
    assert.match(await about('rename b to c'), /def c\(\):/);
    assert.match(await about('What is top_p?'), /distribution over tokens/);
  });
});

describe('sandbox inference: images', () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAEklEQVR42mNk+M9QzwAFjDAGACfYAgH2z9dAAAAAAElFTkSuQmCC';
  const gif = 'R0lGODlhAQABAAAAACw=';
  const image = (url: string, more: object = {}): object => ({ type: 'image_url', image_url: { url, ...more } });
  const look = async (...parts: object[]): Promise<string> =>
    contentOf(
      await service.complete({
        model: 'sandbox/vision',
        messages: [user([{ type: 'text', text: 'What is this?' }, ...parts])],
      }),
    );

  it('are counted, with media type, size and dimensions', async () => {
    const content = await look(
      image(`data:image/png;base64,${png}`),
      image(`data:image/gif;base64,${gif}`, { detail: 'low' }),
    );
    assert.match(content, /I received 2 images/);
    assert.match(content, /1\. `image\/png`, 75 bytes, 2 × 3 pixels/);
    assert.match(content, /2\. `image\/gif`, 14 bytes, 1 × 1 pixels/);
  });

  it('of an address are named by host and not fetched', async () => {
    assert.match(
      await look(image('https://pictures.example.com/a.jpg?secret=1')),
      /at `pictures\.example\.com`, which the sandbox does not fetch/,
    );
  });

  it('of an unknown format have no dimensions', async () => {
    assert.match(await look(image('data:image/webp;base64,QUJD')), /`image\/webp`, 3 bytes\n/);
  });

  it('cost prompt tokens', async () => {
    const tokens = async (...images: object[]): Promise<number> =>
      (await service.complete({ model: 'sandbox/vision', messages: [user([{ type: 'text', text: 'x' }, ...images])] }))
        .usage.prompt_tokens;
    assert.equal((await tokens(image('https://a.test/'), image('https://a.test/'))) - (await tokens()), 170);
  });

  it('beside text of an earlier message: the last user message counts', async () => {
    const messages = [user([image('https://a.test/')]), { role: 'assistant', content: 'seen' }, user('say: text only')];
    assert.equal(contentOf(await service.complete({ model: 'sandbox/vision', messages })), 'text only');
  });
});

import assert from 'node:assert/strict';
import { allCases } from '../../../../src/core/prompts/caseFiles.ts';
import { readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import type { PromptResources } from '../../../../src/core/prompts/promptRequest.ts';
import { ReferenceChecker } from '../../../../src/core/prompts/referenceChecker.ts';
import { play, resourcesOf, says } from './harness.ts';

const { signal } = new AbortController();

/** What is said of the references of a text: the sentence, and the entry it stands at. */
async function found(text: string, resources: PromptResources): Promise<string[][]> {
  const file = readPromptFile(text);
  const references = new ReferenceChecker(resources);
  await references.look(file, signal);
  return references.problems(text, file).map(({ start, end, message }) => [text.slice(start, end), message]);
}

const prompt = (rest: string, content = 'a') => `messages: [{role: user, content: "${content}"}]\n${rest}`;

describe('what a prompt file names', () => {
  const there = resourcesOf(
    {
      'a.md': 'A',
      'cat.png': 'CAT',
      'one.png': '1',
      'a.svg': '<svg/>',
      'good.csv': 'input\nx',
      'bad.jsonl': '{"a":1}\n\n[2]\n7',
    },
    ['weather', 'search_code'],
  );
  const rows: readonly [what: string, text: string, expected: string[][]][] = [
    [
      'is there',
      prompt('rolecall: {images: [cat.png], cases: [good.csv], tools: [weather]}', 'x {{file:a.md}} {{file:./a.md}}'),
      [],
    ],
    [
      'is a text that is missing',
      prompt('', '{{file:a.md}} {{file:b/c.md}}'),
      [['{{file:b/c.md}}', 'The file "b/c.md" cannot be found.']],
    ],
    [
      'is no relative path',
      prompt('', '{{file:/etc/passwd}}'),
      [['{{file:/etc/passwd}}', '"/etc/passwd" must be a path relative to the prompt file.']],
    ],
    ['is a value of the case', prompt('testData: [{"file:x.md": y}]', '{{file:x.md}}'), []],
    [
      'is an image that is missing, or none',
      prompt('rolecall: {images: [dog.png, a.svg]}'),
      [
        ['dog.png', 'The file "dog.png" cannot be found.'],
        ['a.svg', '"a.svg" is not an image: use png, jpg, gif or webp.'],
      ],
    ],
    [
      'is an image of each case',
      prompt('testData: [{n: one}, {n: two}, {n: three}, {m: 1}]\nrolecall: {images: ["{{n}}.png"]}', '{{n}}'),
      [['"{{n}}.png"', 'The file "two.png" cannot be found.']],
    ],
    [
      'is a data file with a mistake, which is named with its line',
      prompt('rolecall:\n  cases: [good.csv, bad.jsonl, none.csv]'),
      [
        ['bad.jsonl', 'bad.jsonl:3: This line is not a JSON object.'],
        ['none.csv', 'The file "none.csv" cannot be found.'],
      ],
    ],
    [
      'is a data file without a variable of the prompt',
      prompt('testData: [{other: a}]\nrolecall: {cases: [good.csv]}', '{{inptu}} {{input}} {{other}} {{tone}}'),
      [
        ['{{inptu}}', 'No case has a value for "inptu", so it is sent as text. Did you mean "input"?'],
        ['{{tone}}', 'No case has a value for "tone", so it is sent as text.'],
      ],
    ],
    [
      'is a data file that is missing, and may have them',
      prompt('rolecall: {cases: [good.csv, none.csv]}', '{{tone}}'),
      [['none.csv', 'The file "none.csv" cannot be found.']],
    ],
    [
      'is a tool that nobody defines',
      prompt('rolecall: {tools: [wether, lights]}'),
      [
        ['wether', 'This workspace has no tool named "wether". Did you mean "weather"?'],
        ['lights', 'This workspace has no tool named "lights".'],
      ],
    ],
  ];
  for (const [what, text, expected] of rows) {
    it(what, async () => assert.deepEqual(await found(text, there), expected));
  }

  it('brings its replacement along', async () => {
    const text = prompt("rolecall: {tools: ['wether']}");
    const file = readPromptFile(text);
    const references = new ReferenceChecker(there);
    await references.look(file, signal);
    const [{ fix } = assert.fail()] = references.problems(text, file);
    assert.ok(fix);
    assert.equal(text.slice(0, fix.start) + fix.text + text.slice(fix.end), text.replace('wether', 'weather'));
  });

  it('is said by a run with the same sentence', async () => {
    for (const text of [
      prompt('testData: [{input: a}]', '{{file:b.md}} {{input}}'),
      prompt('testData: [{input: a}]\nrolecall: {images: [dog.png]}', '{{input}}'),
      prompt('testData: [{input: a}]\nrolecall: {tools: [wether]}', '{{input}}'),
    ]) {
      const [[, sentence] = assert.fail()] = await found(text, there);
      const { run, sent } = await play(text, () => says('x'), { deps: { resources: there } });
      assert.deepEqual([run.results[0]?.attempts[0]?.error?.message, sent.length], [sentence, 0]);
    }
    const text = prompt('rolecall: {cases: [none.csv]}');
    const { problems } = await allCases(readPromptFile(text), there.readText, signal);
    assert.deepEqual([['none.csv', problems[0]?.message]], await found(text, there));
  });

  it('is read once, and again after a change', async () => {
    let reads = 0;
    const files: Record<string, string> = {};
    const { readText, ...rest } = resourcesOf(files);
    const references = new ReferenceChecker({
      ...rest,
      readText: (path, stop) => {
        reads += 1;
        return readText(path, stop);
      },
    });
    const text = prompt('', '{{file:a.md}}');
    const file = readPromptFile(text);
    const look = async () => {
      await references.look(file, signal);
      return [reads, references.problems(text, file).length];
    };
    assert.deepEqual(await look(), [1, 1]);
    assert.deepEqual(await look(), [1, 1]);
    files['a.md'] = 'A';
    references.invalidate();
    assert.equal(references.problems(text, file).length, 1, 'what was found stands until it is looked at again');
    assert.deepEqual(await look(), [2, 0]);
  });
});

import assert from 'node:assert/strict';
import { allCases, caseFileProblemText, readCaseFile } from '../../../../src/core/prompts/caseFiles.ts';
import { mistypedModels, resolveModel } from '../../../../src/core/prompts/modelNames.ts';
import { readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import { resourcesOf } from './harness.ts';

const rows = (path: string, text: string) =>
  readCaseFile(path, text).rows.map(({ values }) => Object.fromEntries(values));
const problems = (path: string, text: string) =>
  readCaseFile(path, text).problems.map(({ line, message }) => [line, message]);

describe('a data file', () => {
  const table: readonly [what: string, path: string, text: string, expected: object[]][] = [
    [
      'JSON lines',
      'a.jsonl',
      '{"input":"a","n":1.5,"x":null}\n\n{"input":"b","l":[1]}\n',
      [
        { input: 'a', n: '1.5' },
        { input: 'b', l: '[1]' },
      ],
    ],
    [
      'CSV',
      'a.csv',
      '\uFEFFinput, expected\r\na,b\r\n\r\nc,\r\n',
      [
        { input: 'a', expected: 'b' },
        { input: 'c', expected: '' },
      ],
    ],
    ['quoted fields', 'a.CSV', 'input,expected\n"a,\n""b""",x\n', [{ input: 'a,\n"b"', expected: 'x' }]],
    ['a quote within a field', 'a.csv', 'input\na "b" c\n"d" e\n', [{ input: 'a "b" c' }, { input: 'd e' }]],
    ['an empty last field', 'a.csv', 'a,b\n1,', [{ a: '1', b: '' }]],
    ['nothing', 'a.jsonl', '', []],
  ];
  for (const [what, path, text, expected] of table) it(what, () => assert.deepEqual(rows(path, text), expected));

  it('names the lines that are no cases, and keeps the rest', () => {
    assert.deepEqual(problems('a.jsonl', '{"a":1}\n[1]\n{"a":'), [
      [2, 'This line is not a JSON object.'],
      [3, 'This line is not a JSON object.'],
    ]);
    assert.deepEqual(problems('a.csv', 'a,b\n"x\ny",2\n1\n'), [[4, 'This row has 1 fields, but the header has 2.']]);
    assert.deepEqual(problems('a.csv', ''), [[undefined, 'This file has no header.']]);
    assert.equal(problems('a.jsonl', 'x\n'.repeat(1000)).length, 20);
  });

  it('adds to the cases of the prompt file, with IDs of their own', async () => {
    const file = readPromptFile(
      'messages: [{role: user, content: x}]\ntestData: [{input: a}]\nrolecall: {cases: [a.jsonl, none.csv, /etc/x.csv]}',
    );
    const { readText } = resourcesOf({ 'a.jsonl': '{"input":"a"}\n{"name":"b"}' });
    const { cases, problems: found } = await allCases(file, readText, new AbortController().signal);
    assert.equal(new Set(cases.map(({ id }) => id)).size, 3);
    assert.deepEqual(
      cases.map(({ label, source }) => [label, source]),
      [
        ['a', undefined],
        ['a (2)', { path: 'a.jsonl', line: 1 }],
        ['b', { path: 'a.jsonl', line: 2 }],
      ],
    );
    assert.deepEqual(found.map(caseFileProblemText), [
      'The file "none.csv" cannot be found.',
      '"/etc/x.csv" must be a path relative to the prompt file.',
    ]);
  });
});

describe('the name of a model in a file', () => {
  const available = ['ours/gpt-4o', 'a/llama', 'b/Llama', 'small'];
  const table: readonly [name: string | undefined, expected: string | undefined][] = [
    ['small', 'small'],
    ['gpt-4o', 'ours/gpt-4o'],
    ['openai/gpt-4o', 'ours/gpt-4o'],
    ['github:openai/GPT-4o', 'ours/gpt-4o'],
    ['azureml://registries/azure-openai/models/gpt-4o/versions/2', 'ours/gpt-4o'],
    ['a/llama', 'a/llama'],
    ['meta/llama', undefined],
    ['x/grok', undefined],
    ['chosen/before', 'small'],
    ['constructor', undefined],
    ['auto', 'default'],
    [undefined, 'default'],
  ];
  for (const [name, expected] of table) {
    it(`${name} means ${expected}`, () => {
      assert.equal(
        resolveModel(name, { available, chosen: { 'chosen/before': 'small' }, fallback: 'default' }),
        expected,
      );
    });
  }
  it('is taken as it is where the service lists none', () =>
    assert.equal(resolveModel('x/y', { available: [] }), 'x/y'));

  it('may be a slip of the finger for one of ours, which is offered', () => {
    const available = ['sandbox/guide', 'sandbox/ngram', 'gpt-4.1', 'solo'];
    const said = (yaml: string, chosen = {}) => {
      const text = `messages: [{role: user, content: a}]\n${yaml}`;
      return mistypedModels(text, readPromptFile(text), { available, chosen }).map(({ start, end, message, fix }) => [
        text.slice(start, end),
        message,
        fix?.text,
      ]);
    };
    const sentence = (name: string, meant: string) =>
      `The cloud has no model named "${name}". Did you mean "${meant}"?`;
    assert.deepEqual(said('model: "sandbox/gide"\nrolecall: {models: [solo, slo], judge: ngarm}'), [
      ['"sandbox/gide"', sentence('sandbox/gide', 'sandbox/guide'), '"sandbox/guide"'],
      ['slo', sentence('slo', 'solo'), 'solo'],
      ['ngarm', sentence('ngarm', 'sandbox/ngram'), 'sandbox/ngram'],
    ]);
    for (const right of ['sandbox/guide', 'guide', 'openai/gpt-4o', 'gpt-5.1', 'auto', 'claude']) {
      assert.deepEqual(said(`model: ${right}`), [], right);
    }
    assert.deepEqual(said('model: sandbox/gide', { 'sandbox/gide': 'solo' }), []);
  });
});

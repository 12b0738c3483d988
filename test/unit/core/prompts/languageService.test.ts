import assert from 'node:assert/strict';
import fs from 'node:fs';
import fc from 'fast-check';
import { at } from '../../../../scripts/paths.ts';
import { type LanguageContext, promptCompletions, promptHover } from '../../../../src/core/prompts/languageService.ts';
import { parameterNames } from '../../../../src/core/prompts/promptFields.ts';
import { runs } from '../../runs.ts';

const words = JSON.parse(fs.readFileSync(at('package.nls.json'), 'utf8')) as Record<string, string>;
const context: LanguageContext = {
  models: ['ours/small', 'ours/large'],
  tools: ['weather'],
  files: ['a.md', 'cases.jsonl', 'cat.png'],
  describeParameter: (field) => words[`configuration.parameters.${field}`],
};

/** The text with the cursor at `^`, and without it. */
function cut(marked: string): { text: string; offset: number } {
  const offset = marked.indexOf('^');
  return { text: marked.slice(0, offset) + marked.slice(offset + 1), offset };
}

function offered(marked: string, more: Partial<LanguageContext> = {}): string[] {
  const { text, offset } = cut(marked);
  return promptCompletions(text, offset, { ...context, ...more }).map(({ label }) => label);
}

/** The text after the completion with this label. */
function completed(marked: string, label: string): string {
  const { text, offset } = cut(marked);
  const found = promptCompletions(text, offset, context).find((each) => each.label === label);
  assert.ok(found, label);
  return text.slice(0, found.range.start) + found.insertText + text.slice(found.range.end);
}

const PROMPT = "messages:\n  - role: user\n    content: 'Hi {{name}}'\ntestData:\n  - name: Ada\n    größe: 1\n";

describe('completions in a prompt file', function () {
  this.timeout(20_000);
  const rows: readonly [what: string, marked: string, includes: readonly string[], excludes?: readonly string[]][] = [
    ['keys at the top', '^', ['name', 'messages', 'testData', 'rolecall'], ['role']],
    [
      'keys at the top that are not there',
      'name: x\nmo^\nmessages: []',
      ['model', 'modelParameters'],
      ['name', 'messages'],
    ],
    ['keys of a message', 'messages:\n  - ^', ['role', 'content', 'name'], ['messages']],
    ['the other keys of a message', 'messages:\n  - role: user\n    ^', ['content'], ['role']],
    ['of a list in the column of its key', 'messages:\n- role: user\n  ^', ['content'], ['role']],
    ['keys that come later count', 'messages:\n  - ^\n    content: x\n  - role: user', ['role'], ['content']],
    ['of another item nothing counts', 'messages:\n  - role: user\n    content: x\n  - ^', ['role', 'content']],
    [
      'parameters in camel case',
      'modelParameters:\n  ^',
      ['maxTokens', 'topP', 'logitBias', 'seed'],
      ['model', 'messages'],
    ],
    ['parameters as the file spells them', 'modelParameters:\n  top_p: 1\n  ^', ['max_tokens'], ['maxTokens', 'top_p']],
    [
      'a parameter in the other spelling is there',
      'modelParameters:\n  top_p: 1\n  max_tokens: 1\n  ^',
      ['seed'],
      ['max_tokens'],
    ],
    ['values of parameters', 'modelParameters:\n  logprobs: ^', ['true', 'false']],
    ['efforts', 'modelParameters:\n  reasoningEffort: ^', ['low', 'medium', 'high']],
    ['tool choices', 'modelParameters:\n  toolChoice: ^', ['auto', 'none']],
    ['models', 'model: ou^', ['ours/small', 'ours/large'], ['name']],
    ['roles', 'messages:\n  - role: ^', ['system', 'user', 'assistant']],
    ['response formats', 'responseFormat: ^', ['text', 'json_object', 'json_schema']],
    ['evaluators', 'evaluators:\n  - ^', ['string', 'llm', 'uses', 'regex'], ['equals']],
    ['comparisons', 'evaluators:\n  - name: a\n    string:\n      ^', ['equals', 'contains'], ['name']],
    ['built-in evaluators', 'evaluators:\n  - uses: ^', ['github/similarity', 'github/fluency']],
    ['keys of a judge', 'evaluators:\n  - llm:\n      ^', ['modelId', 'prompt', 'choices']],
    ['models that judge', 'evaluators:\n  - llm:\n      modelId: ^', ['ours/small']],
    ['choices of a judge', 'evaluators:\n  - llm:\n      choices:\n        - ^', ['choice', 'score'], ['modelId']],
    ['evaluators of ours', 'rolecall:\n  evaluators:\n    - ^', ['toolCall', 'minProbability']],
    ['keys of ours', 'rolecall:\n  ^', ['models', 'repeats', 'images'], ['messages']],
    ['models of ours', 'rolecall:\n  models:\n    - ^', ['ours/small'], ['models']],
    ['tools', 'rolecall:\n  tools:\n    - we^', ['weather']],
    ['tools that are called', 'rolecall:\n  evaluators:\n    - toolCall:\n        name: ^', ['weather']],
    ['data files', 'rolecall:\n  cases:\n    - ^', ['cases.jsonl'], ['a.md', 'cat.png']],
    ['images', 'rolecall:\n  images:\n    - ^', ['cat.png'], ['cases.jsonl']],
    [
      'variables',
      `${PROMPT}  - name: Bob\nx: '{{^`,
      ['name', 'größe', 'input', 'file:a.md'],
      ['completion', 'messages'],
    ],
    [
      'variables in a block',
      `messages:\n  - role: user\n    content: |\n      Dear {{^}}\ntestData:\n  - name: x`,
      ['name'],
    ],
    [
      'the answer in what a judge is asked',
      `${PROMPT}evaluators:\n  - llm:\n      prompt: '{{^'`,
      ['completion', 'name'],
    ],
    [
      'variables of a case',
      "messages:\n  - role: user\n    content: '{{city}} {{year}}'\ntestData:\n  - city: Rome\n    ^",
      ['year', 'expected'],
      ['city'],
    ],
    ['nothing in a text of several lines', 'messages:\n  - role: user\n    content: |\n      ^', []],
    ['nothing where nothing is known', 'foo:\n  bar:\n    ^', []],
  ];
  for (const [what, marked, includes, excludes = []] of rows) {
    it(what, () => {
      const labels = offered(marked);
      if (includes.length === 0) assert.deepEqual(labels, []);
      for (const label of includes) assert.ok(labels.includes(label), `${label} in ${labels}`);
      for (const label of excludes) assert.ok(!labels.includes(label), `no ${label} in ${labels}`);
    });
  }

  it('replace what is typed, and quote what YAML would read otherwise', () => {
    assert.equal(completed('model: ours/^sma\nname: x', 'ours/large'), 'model: ours/large\nname: x');
    assert.equal(completed(`${PROMPT}x: '{{na^me}}'`, 'größe'), `${PROMPT}x: '{{größe}}'`);
    assert.equal(completed("a: '{{^'", 'input'), "a: '{{input}}'");
    const [odd] = promptCompletions('model: ', 7, { ...context, models: ['a: b #c'] });
    assert.equal(odd?.insertText, '"a: b #c"');
  });

  it('are those of ours alone beside another extension for YAML', () => {
    const beside = { besideYamlExtension: true };
    assert.deepEqual(offered('^', beside), ['rolecall']);
    assert.deepEqual(offered('modelParameters:\n  ^', beside), []);
    assert.deepEqual(offered('messages:\n  - role: ^', beside), []);
    assert.deepEqual(offered('evaluators:\n  - string:\n      ^', beside), []);
    // What the public schema lacks.
    assert.deepEqual(offered('evaluators:\n  - ^', beside).slice(0, 3), ['llm', 'uses', 'regex']);
    assert.ok(offered('evaluators:\n  - uses: ^', beside).includes('github/similarity'));
    assert.ok(offered('evaluators:\n  - llm:\n      ^', beside).includes('choices'));
    assert.deepEqual(offered('model: ^', beside), ['ours/small', 'ours/large']);
    assert.ok(offered('rolecall:\n  ^', beside).includes('repeats'));
    assert.ok(offered("x: '{{^", beside).includes('input'));
  });

  it('come with the texts of the settings, one for each field', () => {
    const { text, offset } = cut('modelParameters:\n  ^');
    const found = promptCompletions(text, offset, context);
    assert.equal(found.length, parameterNames.length);
    for (const { label, documentation } of found) {
      if (label !== 'tools') assert.match(documentation ?? '', /^`/, label);
    }
  });

  it('never throw, wherever the cursor is', () => {
    const piece = fc.constantFrom(
      'messages:',
      '\n',
      '  ',
      '- ',
      'role: ',
      '{{',
      '}}',
      '|',
      '"',
      "'",
      '#',
      '[',
      ':',
      'a',
      '\t',
      '\r\n',
      '😀',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.nat(), (pieces, place) => {
        const text = pieces.join('');
        const offset = text.length === 0 ? 0 : place % (text.length + 1);
        for (const { range } of promptCompletions(text, offset, context)) {
          assert.ok(range.start >= 0 && range.start <= offset && range.end >= offset && range.end <= text.length);
        }
        promptHover(text, offset, context);
      }),
      runs(100),
    );
  });
});

describe('names that every object has', () => {
  for (const marked of [
    'constructor:\n  ^',
    'modelParameters:\n  constructor: ^',
    'constructor: ^',
    'toString:\n  - ^',
  ]) {
    it(`have nothing to complete: ${JSON.stringify(marked)}`, () => {
      const { text, offset } = cut(marked);
      assert.deepEqual(promptCompletions(text, offset, context), []);
    });
  }
});

describe('a hover in a prompt file', () => {
  const rows: readonly [what: string, marked: string, range: string, says: RegExp][] = [
    ['a key', 'na^me: x', 'name', /The name of the prompt/],
    ['a parameter', 'modelParameters: {top^P: 1}', 'topP', /`top_p`/],
    ['a nested key', 'evaluators:\n  - string:\n      equ^als: x', 'equals', /Case-sensitive/],
    ['a key of ours', 'rolecall:\n  evaluators:\n    - minPro^bability: 0.5', 'minProbability', /product/],
    [
      'a variable',
      PROMPT.replace('{{name}}', '{{na^me}}'),
      '{{name}}',
      /^A variable\. It is replaced by the value that each case has for `name`\.\n\n1 of 1 cases have a value, for example: Ada$/,
    ],
    ['a variable without cases', "x: '{{a^}}'", '{{a}}', /\n\nThere are no cases: Run asks for a value\.$/],
    [
      'a variable no case has',
      "x: '{{a^}}'\ntestData: [{b: c}]",
      '{{a}}',
      /\n\nNo case has a value, so it is sent as text\.$/,
    ],
    [
      'a variable of data files',
      "x: '{{a^}}'\nrolecall: {cases: [a.csv]}",
      '{{a}}',
      /No case in this file has a value; the data files can have one\./,
    ],
    [
      'the answer, to a judge',
      "evaluators:\n  - llm:\n      prompt: 'Is {{comp^letion}} right?'",
      '{{completion}}',
      /^The answer that is judged\.$/,
    ],
    [
      'a variable beyond the basic plane',
      "x: '😀 {{größ^e}}'\ntestData: [{größe: '`1`'}]",
      '{{größe}}',
      /for example: \\`1\\`/,
    ],
    ['a file', "x: '{{file:a^.md}}'", '{{file:a.md}}', /text of this file/],
  ];
  for (const [what, marked, range, says] of rows) {
    it(`explains ${what}`, () => {
      const { text, offset } = cut(marked);
      const found = promptHover(text, offset, context);
      assert.ok(found);
      assert.equal(text.slice(found.range.start, found.range.end), range);
      assert.match(found.markdown, says);
    });
  }

  it('says nothing about what it does not know', () => {
    const inherited = ['constr^uctor: x', 'constructor: {na^me: x}', 'modelParameters: {to^String: x}'];
    const others = ['fo^o: x', 'name: x^y', 'testData: [{na^me: x}]', '^', "x: '{{ a^ }}'", 'x: &a [*^a]'];
    for (const marked of [...inherited, ...others]) {
      const { text, offset } = cut(marked);
      promptCompletions(text, offset, context);
      assert.equal(promptHover(text, offset, context), undefined, marked);
    }
  });
});

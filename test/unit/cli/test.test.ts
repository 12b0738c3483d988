import assert from 'node:assert/strict';
import fs from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { freshFolder } from '../../../scripts/paths.ts';
import { newPromptFile } from '../../../src/core/prompts/writePromptFile.ts';
import { loopbackServer } from '../core/base/loopbackServer.ts';
import { freePort } from '../core/base/ports.ts';
import { useSandbox } from '../sandbox/fixture.ts';
import { useCommandLine } from './harness.ts';

const ESC = '\u001b';

/** A file of GitHub Models as it is in the wild. */
const CAPITALS = `name: Capitals
model: openai/gpt-4o
modelParameters:
  temperature: 0
messages:
  - role: system
    content: Answer with one word.
  - role: user
    content: 'Capital of {{input}}?'
testData:
  - input: France
    expected: Paris
  - input: Japan
    expected: Tokyo
evaluators:
  - name: the capital
    string:
      contains: '{{expected}}'
`;

describe('rolecall test', function () {
  this.timeout(60_000);
  const server = loopbackServer();
  const commandLine = useCommandLine();
  let folder = '';
  const env = () => ({ ROLECALL_TOKEN: 'service-token-of-a-pipeline', ROLECALL_INFERENCE_URL: server.origin });
  const json = (response: http.ServerResponse, value: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  const says = (response: http.ServerResponse, content: string) =>
    json(response, { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });
  /** What the model says to a question, by what it contains. */
  const answer = (answers: Readonly<Record<string, string>>) => {
    server.answer = ({ url }, response) => {
      const { body = '' } = server.seen.at(-1) ?? {};
      if (url === '/v1/models') return json(response, { data: [{ id: 'ours/gpt-4o' }, { id: 'small' }] });
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const question = messages.at(-1)?.content ?? '';
      const [, said = '?'] = Object.entries(answers).find(([word]) => question.includes(word)) ?? [];
      return says(response, said);
    };
  };
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    commandLine.run(['test', ...args], { env: { ...env(), ...more }, cwd: folder });
  const asked = () =>
    server.seen.filter(({ path: each }) => each === '/v1/chat/completions').map(({ body }) => JSON.parse(body));

  beforeEach(() => {
    folder = freshFolder('prompts');
    write('capitals.prompt.yml', CAPITALS);
    answer({ France: 'Paris.', Japan: 'It is Tokyo' });
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('runs a foreign file on the model of the service that has its name, and ends with 0', async () => {
    const { code, stdout, stderr } = await run([]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^capitals\.prompt\.yml \(ours\/gpt-4o\)\n {2}passed {2}France\n {2}passed {2}Japan\n {2}2 passed in \d+\.\d s\n$/,
    );
    assert.deepEqual(
      asked().map(({ model, temperature }) => [model, temperature]),
      [
        ['ours/gpt-4o', 0],
        ['ours/gpt-4o', 0],
      ],
    );
  });

  it('ends with 1 where a case fails, with the reason and no control character', async () => {
    answer({ France: 'Paris', Japan: `Kyoto${ESC}[2J` });
    write('exact.prompt.yml', CAPITALS.replace('contains', 'equals'));
    const { code, stdout, stderr } = await run(['exact.prompt.yml']);
    assert.deepEqual([code, stderr], [1, 'error: 1 of 2 failed.\n']);
    assert.match(stdout, / {2}failed {2}Japan\n {10}the capital: Expected "Tokyo", got "Kyoto\\u001b\[2J"\.\n/);
    assert.ok(!stdout.includes(ESC));
  });

  it('prints what gh models eval --json prints, and more', async () => {
    answer({ France: 'Paris', Japan: 'Kyoto' });
    const { code, stdout } = await run(['capitals.prompt.yml', '--json']);
    const report = JSON.parse(stdout);
    assert.equal(code, 1);
    const { testCase, modelResponse, evaluationResults } = report.testResults[1];
    assert.deepEqual([testCase, modelResponse], [{ input: 'Japan', expected: 'Tokyo' }, 'Kyoto']);
    const { evaluatorName, score, passed } = evaluationResults[0];
    assert.deepEqual([evaluatorName, score, passed], ['the capital', 0, false]);
    const { totalTests, passedTests, failedTests, passRate } = report.summary;
    assert.deepEqual([totalTests, passedTests, failedTests, passRate], [2, 1, 1, 50]);
    assert.deepEqual([report.name, report.model], ['Capitals', 'ours/gpt-4o']);
  });

  it('writes JUnit XML that a parser takes', async () => {
    answer({ France: 'Paris', Japan: `<Kyoto> & "${ESC}" ]]>` });
    const { code } = await run(['--junit', 'out.xml', '--models', 'small,ours/gpt-4o']);
    assert.equal(code, 1);
    const xml = fs.readFileSync(path.join(folder, 'out.xml'), 'utf8');
    assert.match(xml, /<testsuite name="Capitals" tests="4" failures="2" errors="0" skipped="0" /);
    assert.match(xml, /<testcase name="Japan \[small\]" classname="capitals\.prompt\.yml" /);
    assert.match(xml, /<system-out>&#60;Kyoto&#62; &#38; &#34;\ufffd&#34; \]\]&#62;<\/system-out>/);
    assert.ok(!xml.includes(ESC));
  });

  it('compares with an earlier run: what was red before is no regression', async () => {
    answer({ France: 'Paris', Japan: 'Kyoto' });
    assert.equal((await run(['--save', 'before.json'])).code, 1);
    const same = await run(['--baseline', 'before.json', '--fail-on', 'regression']);
    assert.deepEqual([same.code, same.stderr], [0, '']);
    answer({ France: 'Lyon', Japan: 'Kyoto' });
    const worse = await run(['--baseline', 'before.json', '--fail-on', 'regression', '--json']);
    assert.equal(worse.code, 1);
    assert.match(
      worse.stderr,
      /capitals\.prompt\.yml: France \[ours\/gpt-4o\]: Worse than the baseline of 20.*Z: ✓ passed then, ✗ failed now\.\nerror: 1 of 2 is worse than the baseline\.\n/,
    );
    assert.deepEqual(JSON.parse(worse.stdout).regressions, [
      {
        file: 'capitals.prompt.yml',
        id: JSON.parse(worse.stdout).testResults[0].id,
        label: 'France',
        model: 'ours/gpt-4o',
      },
    ]);
  });

  it('waits as long as the service asks, and measures all', async () => {
    let refused = 0;
    const usual = server.answer;
    server.answer = (request, response) => {
      if (request.url === '/v1/models' || refused > 0) return usual(request, response);
      refused++;
      return json(response, { error: { code: '429', message: 'slow', error_type: 'rate' } }, 429, {
        'retry-after': '1',
      });
    };
    const { code, stderr } = await run(['--concurrency', '1']);
    assert.deepEqual([code, stderr], [0, 'The service asked Rolecall to wait 1 second.\n']);
    assert.equal(asked().length, 3);
  });

  it('prints results in the order of the files and of their cases, and what all of them came to', async () => {
    write('more.prompt.yml', CAPITALS);
    // The answer to the very first question comes last.
    let held: (() => void) | undefined;
    const usual = server.answer;
    server.answer = (request, response) => {
      if (request.url === '/v1/models') return usual(request, response);
      const { messages } = JSON.parse(server.seen.at(-1)?.body ?? '') as { messages: { content: string }[] };
      const isFrance = messages.at(-1)?.content.includes('France');
      const answer = () => says(response, isFrance ? 'Paris' : 'Kyoto');
      if (isFrance && !held) held = answer;
      else answer();
      if (asked().length === 4) held?.();
      return undefined;
    };
    const { code, stdout, stderr } = await run(['--concurrency', '2']);
    assert.deepEqual([code, stderr], [1, 'error: 2 of 4 failed.\n']);
    const lines = stdout.split('\n').filter((line) => !line.startsWith('   '));
    assert.deepEqual(
      lines.map((line) => line.replace(/ in .*/, '')),
      [
        'capitals.prompt.yml (ours/gpt-4o)',
        '  passed  France',
        '  failed  Japan',
        '  1 passed, 1 failed',
        'more.prompt.yml (ours/gpt-4o)',
        '  passed  France',
        '  failed  Japan',
        '  1 passed, 1 failed',
        '2 files: 2 passed, 2 failed',
        '',
      ],
    );
  });

  it('runs the rest of a folder where some files cannot be used, and ends with 4', async () => {
    write('b.prompt.yml', CAPITALS.replace('openai/gpt-4o', 'x/grok'));
    fs.writeFileSync(path.join(folder, 'c.prompt.yml'), Uint8Array.of(0x47, 0x72, 0xfc));
    const { code, stdout, stderr } = await run([]);
    assert.equal(code, 4);
    assert.match(stdout, / {2}passed {2}Japan\n {2}2 passed in /);
    assert.match(
      stderr,
      /^c\.prompt\.yml: error: .* is not UTF-8 text.*\nb\.prompt\.yml: error: The service does not offer .*\nerror: Not everything could be read: see the errors above\.\n$/,
    );
    assert.equal(asked().length, 2);
  });

  it('tells at the end how many failed, how many could not be measured, and how many checks were skipped', async () => {
    write('a.prompt.yml', `${CAPITALS}  - {name: fluent, uses: github/fluency}\nrolecall: {judge: x/grok}\n`);
    answer({ France: 'Paris', Japan: 'Kyoto' });
    const skipped = await run(['a.prompt.yml', '--junit', 'out.xml', '--json']);
    assert.deepEqual([skipped.code, skipped.stderr], [1, 'error: 1 of 2 failed.\n']);
    assert.equal(JSON.parse(skipped.stdout).summary.skippedChecks, 2);
    assert.match(
      (await run(['a.prompt.yml'])).stdout,
      /fluent \(skipped\): There is no model to judge with\. Specify one with --judge ID\.\n[\s\S]* {2}1 passed, 1 failed, 2 checks skipped in /,
    );
    const usual = server.answer;
    server.answer = (request, response) =>
      server.seen.at(-1)?.body.includes('France') ? json(response, { error: 'broken' }, 400) : usual(request, response);
    assert.equal((await run(['a.prompt.yml'])).stderr, 'error: 1 of 2 failed, 1 could not be measured.\n');
  });

  it('sends nothing of a file that has no evaluators, and says so everywhere', async () => {
    write('capitals.prompt.yml', CAPITALS.replace(/evaluators:[\s\S]*/, ''));
    const { code, stdout, stderr } = await run(['--junit', 'out.xml', '-m', 'small']);
    const why = 'Not sent: there are no evaluators to check the answer.';
    assert.deepEqual([code, stderr], [4, 'error: Nothing was measured: 2 skipped.\n']);
    assert.ok(stdout.includes(`  skipped France\n          ${why}\n`), stdout);
    assert.ok(fs.readFileSync(path.join(folder, 'out.xml'), 'utf8').includes(`<skipped message="${why}"/>`));
    assert.deepEqual(asked(), []);
  });

  it('finds files in folders, with names that begin with a dot, and not those of packages', async () => {
    for (const name of [
      '.prompt.yml',
      '.github/prompts/a b.prompt.yaml',
      'deep/er/x.prompt.yml',
      'node_modules/p/y.prompt.yml',
    ]) {
      write(name, CAPITALS);
    }
    const { code, stdout } = await run([]);
    assert.equal(code, 0);
    assert.deepEqual(
      stdout
        .match(/^\S.* \(ours/gm)
        ?.map((line) => line.slice(0, -6))
        .sort(),
      ['.github/prompts/a b.prompt.yaml', '.prompt.yml', 'capitals.prompt.yml', 'deep/er/x.prompt.yml'],
    );
  });

  it('takes cases from data files, text from files and tools from the workspace, all within the folder', async () => {
    write('..rules.md', 'Be brief.');
    write('data/more.jsonl', '{"input": "France", "expected": "Paris"}\n');
    write('data/more.csv', 'input,expected\n"Japan",Tokyo\n');
    write(
      '.vscode/rolecall.tools.json',
      JSON.stringify({
        tools: [
          {
            name: 'look_up',
            description: 'Looks it up',
            parameters: { type: 'object', properties: {}, required: [] },
            run: { kind: 'process', command: ['true'] },
          },
        ],
      }),
    );
    const more = `rolecall:\n  tools: [look_up]\n  cases: [data/more.jsonl, data/more.csv]\n`;
    write(
      'capitals.prompt.yml',
      `${CAPITALS.replace(/testData:[\s\S]*?(?=evaluators)/, '').replace('Answer with one word.', "'{{file:..rules.md}}'")}${more}`,
    );
    const { code, stdout, stderr } = await run([]);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    const [first] = asked();
    assert.equal(first.messages[0].content, 'Be brief.');
    assert.equal(first.tools[0].function.name, 'look_up');
    assert.equal(asked().length, 2);
  });

  it('reads nothing outside of the folder, not through links either', async function () {
    if (process.platform === 'win32') this.skip();
    const outside = freshFolder('outside');
    fs.writeFileSync(path.join(outside, 'secret.md'), 'the secret');
    fs.symlinkSync(path.join(outside, 'secret.md'), path.join(folder, 'link.md'));
    for (const name of ['link.md', path.relative(folder, path.join(outside, 'secret.md'))]) {
      write('capitals.prompt.yml', CAPITALS.replace('Answer with one word.', `'{{file:${name}}}'`));
      const { code, stdout } = await run([]);
      assert.equal(code, 4, stdout);
      assert.match(stdout, /leads outside the workspace folder/);
    }
    assert.deepEqual(asked(), []);
    fs.rmSync(outside, { recursive: true });
  });

  describe('ends with', () => {
    const rows: readonly [
      code: number,
      what: string,
      files: Readonly<Record<string, string>>,
      args: readonly string[],
      says: RegExp,
    ][] = [
      [4, 'no files', { 'capitals.prompt.yml': '' }, ['empty'], /Nothing was measured/],
      [
        4,
        'a file without cases',
        { 'a.prompt.yml': 'messages: [{role: user, content: x}]' },
        ['a.prompt.yml'],
        /a\.prompt\.yml has no cases\.\n.*Nothing was measured/,
      ],
      [
        4,
        'a file with an error among others',
        { 'a.prompt.yml': 'messages: [{role: user}]' },
        [],
        /a\.prompt\.yml:1: error: A message needs content/,
      ],
      [
        4,
        'cases without evaluators',
        { 'a.prompt.yml': 'messages: [{role: user, content: x}]\ntestData: [{input: a}]' },
        ['a.prompt.yml', '-m', 'small'],
        /Nothing was measured/,
      ],
      [
        4,
        'a judge that there is not',
        {
          'a.prompt.yml':
            'messages: [{role: user, content: x}]\ntestData: [{input: a}]\nevaluators: [{uses: github/fluency}]\nrolecall: {judge: x/grok}',
        },
        ['a.prompt.yml', '-m', 'small'],
        /Nothing was measured/,
      ],
      [
        4,
        'a line of a data file that is none',
        { 'more.jsonl': 'x', 'a.prompt.yml': `${CAPITALS}rolecall: {cases: more.jsonl}` },
        ['a.prompt.yml'],
        /more\.jsonl:1: error: This line is not a JSON object/,
      ],
      [
        2,
        'files that cannot be used',
        { 'a.prompt.yml': 'messages: [{role: user}]' },
        ['a.prompt.yml'],
        /A message needs content.*\nerror: Nothing could be run: see the errors above\.\n$/,
      ],
      [2, 'a file that is not there', {}, ['none.prompt.yml'], /none\.prompt\.yml does not exist/],
      [
        2,
        'a model that is not there',
        { 'a.prompt.yml': CAPITALS.replace('openai/gpt-4o', 'x/grok') },
        ['a.prompt.yml'],
        /^a\.prompt\.yml: error: The service does not offer the model "x\/grok"\. Specify one with --models or --map x\/grok=ID\./,
      ],
      [
        2,
        'a file that names no model',
        { 'a.prompt.yml': CAPITALS.replace(/model:.*\n/, '') },
        ['a.prompt.yml'],
        /^a\.prompt\.yml: error: The file names no model\. Specify one with --models or ROLECALL_MODEL\./,
      ],
      [2, 'no baseline', {}, ['--fail-on', 'regression'], /Specify the run to compare with/],
      [2, 'a baseline that is none', { 'b.json': '{}' }, ['--baseline', 'b.json'], /b\.json was not written by/],
      [2, 'a number that is none', {}, ['--repeats', '0'], /Enter a whole number/],
      [2, 'a pair that is none', {}, ['--map', 'a'], /Write name=id/],
      [
        0,
        'a model that is named once',
        { 'a.prompt.yml': CAPITALS.replace('openai/gpt-4o', 'x/grok') },
        ['a.prompt.yml', '--map', 'x/grok=small'],
        /^$/,
      ],
    ];
    for (const [code, what, files, args, says] of rows) {
      it(`${code} for ${what}`, async () => {
        for (const [name, text] of Object.entries(files)) write(name, text);
        fs.mkdirSync(path.join(folder, 'empty'), { recursive: true });
        const ended = await run(args);
        assert.match(ended.stderr, says);
        assert.equal(ended.code, code, ended.stdout + ended.stderr);
      });
    }

    it('3 for a service that is not there, or does not take the token', async () => {
      const away = await run(['-m', 'small'], { ROLECALL_INFERENCE_URL: `http://127.0.0.1:${await freePort()}` });
      assert.equal(away.code, 3);
      server.answer = (_request, response) => json(response, { error: 'Unauthorized' }, 401);
      const refused = await run(['-m', 'small']);
      assert.equal(refused.code, 3);
      assert.doesNotMatch(refused.stdout + refused.stderr, /service-token/);
    });

    it('4 where one request of several fails', async () => {
      const usual = server.answer;
      server.answer = (request, response) =>
        server.seen.at(-1)?.body.includes('Japan')
          ? json(response, { error: { message: 'broken', code: '500' } }, 500)
          : usual(request, response);
      const { code, stdout, stderr } = await run([]);
      assert.equal(code, 4);
      assert.match(stdout, / {2}error {3}Japan\n {10}.*broken/);
      assert.match(stderr, /^error: 1 of 2 could not be measured\.\n$/);
    });

    it('130 when it is stopped, and asks nothing more', async () => {
      write(
        'capitals.prompt.yml',
        CAPITALS.replace(
          /testData:[\s\S]*?(?=evaluators)/,
          `testData: ${JSON.stringify(Array.from({ length: 200 }, (_, at) => ({ input: `Q${at}` })))}\n`,
        ),
      );
      const arrived = new Promise<void>((resolve) => {
        const usual = server.answer;
        server.answer = (request, response) => {
          if (request.url === '/v1/models') return usual(request, response);
          resolve();
          return undefined;
        };
      });
      const running = commandLine.start(['test'], { env: env(), cwd: folder });
      await arrived;
      running.process.kill('SIGINT');
      const { code } = await running.ended;
      assert.equal(code, 130);
      assert.ok(asked().length <= 4);
    });
  });
});

describe('rolecall test against the sandbox', function () {
  this.timeout(60_000);
  const sandbox = useSandbox({ paceMs: 0 });
  const commandLine = useCommandLine();
  let env: Record<string, string>;
  let folder = '';

  before(async () => {
    const { descriptor } = sandbox;
    const issued = await sandbox.control('POST', '/service-tokens', { person: descriptor.people[0]?.id });
    const { token } = (await issued.json()) as { token: string };
    env = { ROLECALL_TOKEN: token, ROLECALL_INFERENCE_URL: descriptor.inference };
    folder = freshFolder('prompts-sandbox');
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  afterEach(() => sandbox.control('DELETE', '/faults'));

  it('passes the example, the one of README and a new prompt file, so that a first run is green', async () => {
    const readme = fs.readFileSync('README.md', 'utf8');
    const [, inReadme = assert.fail()] = /```yaml\n(name: Capitals\n[\s\S]*?)```/.exec(readme) ?? [];
    const first = freshFolder('prompts-first');
    fs.cpSync('examples/prompts', first, { recursive: true });
    fs.writeFileSync(path.join(first, 'readme.prompt.yml'), inReadme);
    fs.writeFileSync(path.join(first, 'new.prompt.yml'), newPromptFile('New prompt', 'sandbox/guide'));
    const guide = 'sandbox/guide';
    const args = ['test', '-m', guide, '--judge', guide, '--json'];
    const { code, stdout, stderr } = await commandLine.run(args, { env, cwd: first });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    const files = JSON.parse(stdout).files as { testResults: { verdict: string; evaluationResults: object[] }[] }[];
    assert.deepEqual(
      files.map(({ testResults }) => testResults.length),
      [5, 2, 2],
    );
    for (const { verdict } of files.flatMap(({ testResults }) => testResults)) assert.equal(verdict, 'passed', stdout);
    fs.rmSync(first, { recursive: true });
  });

  it('measures what only log probabilities show, and turns a fault into an error', async () => {
    const listed = await commandLine.run(['models', '--json'], { env });
    const [{ id }] = JSON.parse(listed.stdout).models;
    fs.writeFileSync(
      path.join(folder, 'a.prompt.yml'),
      `messages: [{role: user, content: '{{input}}'}]
modelParameters: {logprobs: true, topLogprobs: 2, seed: 7}
testData: [{input: Hello}]
rolecall:
  evaluators:
    - minProbability: 1.0e-300
    - maxTokens: 10000
`,
    );
    const passed = await commandLine.run(['test', '-m', id, '--json'], { env, cwd: folder });
    assert.equal(passed.code, 0, passed.stdout + passed.stderr);
    const [{ attempts }] = JSON.parse(passed.stdout).testResults;
    assert.ok(attempts[0].answers[0].evaluations[0].score > 0);
    const faults = { status: 3, midStreamError: 3, cut: 4, garbage: 4 };
    for (const [kind, expected] of Object.entries(faults)) {
      await sandbox.fault({ service: 'inference', path: '/v1/chat/completions', kind });
      const { code, stdout } = await commandLine.run(['test', '-m', id, '--json'], { env, cwd: folder });
      await sandbox.control('DELETE', '/faults');
      const [{ verdict }] = JSON.parse(stdout).testResults;
      assert.equal(verdict, 'error', kind);
      assert.equal(code, expected, kind);
    }
  });
});

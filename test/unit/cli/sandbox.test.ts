import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { SecretSearch } from '../../harness/secretSearch.ts';
import { eventually } from '../core/eventually.ts';
import { useSandbox } from '../sandbox/fixture.ts';
import { useCommandLine } from './harness.ts';

describe('the command line with a service token, against the sandbox', function () {
  this.timeout(60_000);
  const sandbox = useSandbox({ paceMs: 0 });
  const commandLine = useCommandLine();
  let env: Record<string, string>;

  before(async () => {
    const { descriptor } = sandbox;
    const issued = await sandbox.control('POST', '/service-tokens', { person: descriptor.people[0]?.id });
    const { token } = (await issued.json()) as { token: string };
    env = {
      ROLECALL_TOKEN: token,
      ROLECALL_IDENTITY_URL: descriptor.identity,
      ROLECALL_INFERENCE_URL: descriptor.inference,
    };
  });
  afterEach(() => sandbox.control('DELETE', '/faults'));

  it('says who has a role, in words and as JSON', async () => {
    const words = await commandLine.run(['who-has', 'administrator', '-o', 'meridian'], { env });
    assert.match(words.stdout, /^administrator \(id .*\) in meridian: 2 subjects, 2 user IDs through 1 group\.\n/);
    assert.match(words.stdout, /\nada\.moreau@meridian\.example \(subject of .*\) through administrators/);
    assert.deepEqual([words.code, words.stderr], [0, '']);
    const json = await commandLine.run(['who-has', 'administrator', '-o', 'meridian', '--json'], { env });
    const { organizations } = JSON.parse(json.stdout);
    assert.equal(organizations[0].complete, true);
    const [match] = organizations[0].matches;
    assert.equal(match.role.name, 'administrator');
    assert.ok(match.holders.some(({ email }: { email?: string }) => email === 'ada.moreau@meridian.example'));
    assert.equal(match.holders[0].through[0].name, 'administrators');
  });

  it('says what somebody can reach', async () => {
    const { code, stdout } = await commandLine.run(['access', 'dora.haddad', '-o', 'meridian'], { env });
    assert.match(stdout, /^dora\.haddad@meridian\.example .* in meridian: \d+ roles? through/);
    assert.equal(code, 0);
  });

  it('answers for everybody whose name matches', async () => {
    const { code, stdout } = await commandLine.run(['access', 'meridian.example', '-o', 'meridian'], { env });
    assert.match(stdout, /^\d+ match\.\n/);
    assert.ok((stdout.match(/ in meridian: /g)?.length ?? 0) > 5);
    assert.equal(code, 0);
  });

  it('names an organization that could not be read, beside the answer of the others', async () => {
    const both = ['-o', 'meridian', '-o', 'no-such-place'];
    const { code, stdout } = await commandLine.run(['who-has', 'administrator', ...both, '--json'], { env });
    const [known, unknown] = JSON.parse(stdout).organizations;
    assert.deepEqual([known.organization, known.complete], ['meridian', true]);
    assert.deepEqual(
      [unknown.organization, unknown.complete, unknown.error.kind],
      ['no-such-place', false, 'forbidden'],
    );
    assert.equal(code, 4);
  });

  it('asks every organization of the service where none is named', async () => {
    const { stdout } = await commandLine.run(['who-has', 'administrator', '--json'], { env });
    const { organizations } = JSON.parse(stdout) as { organizations: { organization: string }[] };
    assert.ok(organizations.length > 1);
  });

  it('ends with 1 where nobody is found', async () => {
    const { code, stdout } = await commandLine.run(['access', 'nobody.at.all', '-o', 'meridian'], { env });
    assert.match(stdout, /Nobody in the groups of meridian matches/);
    assert.equal(code, 1);
  });

  it('writes the review in three formats', async () => {
    const review = (format: string) =>
      commandLine.run(['review', '--format', format, '--organization', 'meridian'], { env });
    const [md, csv, json] = await Promise.all([review('md'), review('csv'), review('json')]);
    assert.deepEqual([md.code, csv.code, json.code], [0, 0, 0], md.stderr + csv.stderr + json.stderr);
    assert.match(md.stdout, /^# .*meridian/);
    assert.match(csv.stdout, /^"section",.*\r\n/);
    assert.equal(JSON.parse(json.stdout).format, 'rolecall.review');
  });

  it('checks access by a file of rules', async () => {
    const rules = path.join(commandLine.folder, 'meridian.access.yaml');
    const head = 'format: rolecall.access-rules\nversion: 1\norganization: meridian\n';
    fs.writeFileSync(rules, `${head}rules:\n  - { id: few, kind: max-holders, role: administrator, max: 1 }\n`);
    const { code, stdout } = await commandLine.run(['check', rules, '-o', 'meridian'], { env });
    assert.match(stdout, /: warning: few: administrator has 2 to 4 holders; at most 1 is allowed\n/);
    assert.equal(code, 1);
  });

  it('ends with 4 and says so where one list could not be read', async () => {
    await sandbox.fault({ service: 'identity', path: '/roles', kind: 'status', status: 403, times: 100 });
    for (const args of [
      ['who-has', 'administrator'],
      ['review', '--format', 'csv'],
    ]) {
      const { code, stdout, stderr } = await commandLine.run([...args, '-o', 'meridian'], { env });
      assert.match(stdout, /INCOMPLETE|"incomplete"/);
      assert.match(stderr, /error: The answer for meridian is incomplete\. The roles could not be read\./);
      assert.equal(code, 4);
    }
  });

  it('ends with 3 where nothing could be read', async () => {
    const unknown = await commandLine.run(['who-has', 'administrator', '-o', 'no-such-place'], { env });
    assert.deepEqual([unknown.code, unknown.stdout], [3, '']);
    assert.match(unknown.stderr, /error: You don’t have permission/);
  });

  it('lists the models, and says who is signed in', async () => {
    const models = await commandLine.run(['models'], { env });
    assert.match(models.stdout, new RegExp(`^${sandbox.descriptor.models[0]?.id}\\t\\d+ tokens\n`));
    const whoami = await commandLine.run(['whoami'], { env });
    assert.match(
      whoami.stdout,
      /^service token of 127\.0\.0\.1:\d+ at http.*\nSign-in: ROLECALL_TOKEN\nOrganizations: .*meridian/,
    );
    assert.deepEqual([models.code, whoami.code], [0, 0]);
  });

  it('says that a token is refused', async () => {
    for (const command of [['whoami'], ['models'], ['review', '-o', 'meridian']]) {
      const refused = { ...env, ROLECALL_TOKEN: 'a-token-that-nobody-issued' };
      const { code, stderr } = await commandLine.run(command, { env: refused });
      assert.deepEqual([code, stderr], [3, 'error: The service does not accept the token in ROLECALL_TOKEN.\n']);
    }
  });

  it('streams an answer about what is piped in and the files that are named', async () => {
    const file = path.join(commandLine.folder, 'notes.txt');
    fs.writeFileSync(file, 'what ``` the file says');
    const options = { env, stdin: 'what is piped in' };
    const { code, stdout, stderr } = await commandLine.start(['chat', 'Say hello', '--file', file, '-f', '-'], options)
      .ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /\S.*\n$/);
    const sent = (await (await sandbox.control('GET', '/completions')).json()) as {
      messages: { role: string; content: string }[];
    }[];
    const content = sent.at(-1)?.messages.at(-1)?.content ?? '';
    assert.match(
      content,
      /^Say hello\n\nnotes\.txt:\n````\nwhat ``` the file says\n````\n\nStandard input:\n```\nwhat is piped in/,
    );
  });

  it('takes the message from standard input, and gives the whole answer as JSON', async () => {
    const { code, stdout } = await commandLine.run(['chat', '--json'], { env, stdin: 'Say hello' });
    assert.equal(code, 0);
    const { complete, choices } = JSON.parse(stdout);
    assert.equal(complete, true);
    assert.match(choices[0].text, /\S/);
  });

  it('ends with 4 where the answer was cut off', async () => {
    await sandbox.fault({ service: 'inference', path: '/chat/completions', kind: 'cut', afterBytes: 2500 });
    const { code, stderr } = await commandLine.run(['chat', 'Tell me about groups and roles'], { env });
    assert.match(stderr, /^error: The connection was closed before the answer was complete\.$/m);
    assert.equal(code, 4);
  });

  it('closes the connection at Ctrl-C', async () => {
    await sandbox.fault({ service: 'inference', path: '/chat/completions', kind: 'silence', afterBytes: 300 });
    const before = (await sandbox.counters())['streams.inference.aborted'] ?? 0;
    const running = commandLine.start(['chat', 'Say hello'], { env });
    await eventually(async () => (await sandbox.counters())['streams.inference.open'] === 1);
    running.process.kill('SIGINT');
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [130, '']);
    await eventually(async () => (await sandbox.counters())['streams.inference.aborted'] === before + 1);
  });

  it('never shows a token: not in its output, its arguments or its files', async () => {
    const search = new SecretSearch([env.ROLECALL_TOKEN ?? '']);
    await sandbox.fault({ service: 'inference', path: '/chat/completions', kind: 'silence', afterBytes: 300 });
    const running = commandLine.start(['chat', 'Say hello', '--verbose'], { env });
    await eventually(async () => (await sandbox.counters())['streams.inference.open'] === 1);
    const { pid } = running.process;
    const ofSystem = (file: string) =>
      process.platform === 'linux' ? fs.readFileSync(`/proc/${pid}/${file}`, 'latin1') : '';
    const typed = ofSystem('cmdline');
    assert.equal(ofSystem(`task/${pid}/children`), '', 'it starts no process that would inherit the token');
    running.process.kill('SIGINT');
    const { stdout, stderr } = await running.ended;
    assert.match(stderr, /chat\/completions/);
    // A server that repeats what it was sent.
    const body = { error: { message: `You sent ${env.ROLECALL_TOKEN}.`, code: '400', error_type: 'X', param: '' } };
    await sandbox.fault({ service: 'inference', path: '/chat/completions', kind: 'status', status: 400, body });
    const echoed = await commandLine.run(['chat', 'Say hello', '--verbose'], { env });
    assert.equal(echoed.code, 3);
    assert.match(echoed.stderr, /You sent/);
    const texts = [typed, stdout, stderr, echoed.stdout, echoed.stderr];
    assert.deepEqual(
      texts.flatMap((text) => search.inText('what it showed', text)),
      [],
    );
    assert.deepEqual(search.inFolder(commandLine.folder), []);
  });
});

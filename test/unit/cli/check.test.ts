import assert from 'node:assert/strict';
import fs from 'node:fs';
import type http from 'node:http';
import path from 'node:path';
import { loopbackServer } from '../core/base/loopbackServer.ts';
import { freePort } from '../core/base/ports.ts';
import { useCommandLine } from './harness.ts';

const metadata = (id: string, name: string) => ({
  id,
  name,
  creationTime: '2025-01-01T00:00:00Z',
  provisioningStatus: 'provisioned',
  healthStatus: 'healthy',
  organizationId: 'acme',
});
/** Bodies by hand, as the specifications describe them. */
const groups = [
  {
    metadata: metadata('g-1', 'ops'),
    spec: {
      subjects: [{ id: '1', email: 'ada@acme.example', issuer: 'https://id' }],
      serviceAccountIDs: [],
      roleIDs: ['r-1', 'r-2'],
    },
  },
];
const roles = [{ metadata: metadata('r-1', 'admin') }, { metadata: metadata('r-2', 'auditor') }];

const file = (body: string, organization = 'acme') =>
  `format: rolecall.access-rules\nversion: 1\norganization: ${organization}\n${body}`;
const FINDS = file('rules:\n  - id: apart\n    kind: separation-of-duties\n    roles: [admin, auditor]\n');
const CLEAN = file('rules:\n  - { id: used, kind: no-unused-roles }\n');
const UNCLEAR = file('rules:\n  - { id: typo, kind: max-holders, role: admim, max: 1 }\n');

describe('rolecall check and rolecall drift', function () {
  this.timeout(60_000);
  const server = loopbackServer();
  const commandLine = useCommandLine();
  let folder: string;
  const env = () => ({
    ROLECALL_TOKEN: 'service-token-of-a-pipeline',
    ROLECALL_IDENTITY_URL: server.origin,
    ROLECALL_ORGANIZATION: 'acme',
  });
  const json = (response: http.ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const run = (args: readonly string[], changed: Record<string, string> = {}) =>
    commandLine.run(args, { cwd: folder, env: { ...env(), ...changed } });
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), text);
    }
  };

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(commandLine.folder, 'check-'));
    server.answer = ({ url }, response) => {
      if (url === '/api/v1/organizations/acme/groups') return json(response, groups);
      if (url === '/api/v1/organizations/acme/roles') return json(response, roles);
      return json(response, { error: 'not_found', error_description: 'No.' }, 404);
    };
  });

  it('says what it finds, at the line of the rule, and ends with 1', async () => {
    write({ 'rules/acme.access.yaml': FINDS, 'clean.access.yaml': CLEAN, 'node_modules/x/not.access.yaml': FINDS });
    const { code, stdout, stderr } = await run(['check']);
    assert.deepEqual([code, stderr], [1, '']);
    assert.equal(
      stdout,
      [
        'clean.access.yaml: clean (1 rule tested)',
        'rules/acme.access.yaml:5:9: warning: apart: ada@acme.example has both admin and auditor, through ops',
        'rules/acme.access.yaml: 1 finding (1 rule tested)',
        '',
      ].join('\n'),
    );
    assert.equal(server.seen.length, 2, 'an organization is read once');
  });

  it('ends with 0 where all is clean, and with 4 where it is undetermined', async () => {
    write({ 'clean.access.yaml': CLEAN, 'unclear.access.yaml': UNCLEAR });
    const clean = await run(['check', 'clean.access.yaml']);
    assert.deepEqual([clean.code, clean.stdout], [0, 'clean.access.yaml: clean (1 rule tested)\n']);
    const unclear = await run(['check', 'clean.access.yaml', 'unclear.access.yaml']);
    assert.equal(unclear.code, 4);
    assert.match(unclear.stdout, /^unclear\.access\.yaml:5:11: undetermined: typo: /m);
  });

  it('ends with 4 where one list could not be read, and with 3 where nothing could', async () => {
    write({ 'clean.access.yaml': CLEAN });
    const whole = server.answer;
    server.answer = (request, response) =>
      request.url?.endsWith('/roles') ? json(response, { error: 'access_denied' }, 403) : whole(request, response);
    assert.equal((await run(['check'])).code, 4);
    const away = await run(['check'], { ROLECALL_IDENTITY_URL: `http://127.0.0.1:${await freePort()}` });
    assert.deepEqual([away.code, away.stderr], [3, '']);
    assert.match(
      away.stdout,
      /^clean\.access\.yaml: undetermined: Could not reach .*\n[\s\S]*\(nothing could be tested\)\n$/,
    );
  });

  for (const command of ['check', 'drift'])
    it(`names in the JSON of ${command} each file whose organization could not be read, and why`, async () => {
      const declared = 'declared:\n  groups:\n    - { name: ops, roles: [admin, auditor] }\n';
      const clean = 'rules:\n  - { id: used, kind: no-unused-roles }\n';
      write({ 'a.access.yaml': file(`${clean}${declared}`), 'b.access.yaml': file(`${clean}${declared}`, 'other') });
      const { code, stdout, stderr } = await run([command, '--json'], { ROLECALL_ORGANIZATION: 'acme,other' });
      const { verdict, files } = JSON.parse(stdout);
      assert.deepEqual([code, verdict], [3, 'undecided']);
      const verdicts = files.map((one: { path: string; verdict: string }) => [one.path, one.verdict]);
      assert.deepEqual(verdicts, [
        ['a.access.yaml', 'clean'],
        ['b.access.yaml', 'undecided'],
      ]);
      assert.equal(stderr, `error: b.access.yaml: ${files[1].reasons[0]}\n`);
      assert.match(stderr, /could not find what was requested/);
    });

  it('reads only organizations that the user shows, whatever a file names', async () => {
    write({ 'other.access.yaml': file('rules:\n  - { id: used, kind: no-unused-roles }\n', 'other') });
    const { code, stdout } = await run(['check', '--json']);
    const { verdict, files } = JSON.parse(stdout);
    assert.deepEqual([code, verdict], [4, 'undecided']);
    assert.match(files[0].gaps[0].reason, /other is not one of the organizations that you show/);
    assert.deepEqual(server.seen, []);
  });

  it('says which organization a file names by mistake, and which one was probably meant', async () => {
    write({ 'slip.access.yaml': file('rules:\n  - { id: used, kind: no-unused-roles }\n', 'acmee') });
    const { code, stdout } = await run(['check']);
    const unknown = 'acmee is not one of the organizations that you show. Did you mean "acme"?';
    assert.deepEqual(
      [code, stdout.trim().split('\n')],
      [
        4,
        [
          `slip.access.yaml:3:15: warning: ${unknown}`,
          `slip.access.yaml: undetermined: ${unknown}`,
          'slip.access.yaml:5:11: undetermined: used: The groups could not be read. The roles could not be read.',
          'slip.access.yaml: undetermined (nothing could be tested)',
        ],
      ],
    );
  });

  it('names the mistakes of a file also where nobody is signed in', async () => {
    write({ 'clean.access.yaml': CLEAN, 'slip.access.yaml': file('rules:\n  - { id: few, kind: max-holder }\n') });
    const { code, stdout, stderr } = await run(['check'], { ROLECALL_TOKEN: '', ROLECALL_STATE: folder });
    assert.deepEqual([code, stdout, server.seen], [3, '', []]);
    assert.match(stderr, /^error: slip\.access\.yaml:5:22: .*max-holder.*\nerror: No editor window is signed in/);
  });

  it('compares what is declared', async () => {
    const declared = 'declared:\n  groups:\n    - { name: ops, roles: [admin], members: [ada@acme.example] }\n';
    write({ 'a.access.yaml': `${FINDS}${declared}`, 'b.access.yaml': CLEAN });
    const { code, stdout } = await run(['drift', 'a.access.yaml']);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^a\.access\.yaml:10:20: warning: declared: ops has the role auditor, but it isn’t declared there$/m,
    );
    assert.doesNotMatch(stdout, /apart/);
  });

  it('passes over files that declare nothing, and cannot tell where none declares anything', async () => {
    const declared = 'declared:\n  groups:\n    - { name: ops, members: [ada@acme.example] }\n';
    write({ 'a.access.yaml': file(declared), 'b.access.yaml': CLEAN });
    const one = await run(['drift']);
    assert.deepEqual(
      [one.code, one.stdout, one.stderr],
      [0, 'a.access.yaml: clean (1 declared group tested)\n', 'b.access.yaml declares nothing.\n'],
    );
    const none = await run(['drift', 'b.access.yaml'], { ROLECALL_TOKEN: '', ROLECALL_STATE: folder });
    assert.deepEqual([none.code, none.stdout, none.stderr], [4, '', 'b.access.yaml declares nothing.\n']);
    write({ 'c.access.yaml': file('declares:\n  groups: []\n') });
    assert.equal((await run(['drift'])).code, 4, 'a slip may be a declaration');
  });

  it('writes SARIF beside JSON, without e-mail addresses where these are not wanted', async () => {
    write({ 'acme.access.yaml': FINDS });
    const { code, stdout } = await run(['check', '--json', '--sarif', 'out.sarif', '--no-emails']);
    assert.equal(code, 1);
    const sarif = fs.readFileSync(path.join(folder, 'out.sarif'), 'utf8');
    assert.equal(JSON.parse(sarif).runs[0].results[0].kind, 'fail');
    assert.doesNotMatch(stdout + sarif, /ada@/);
  });

  it('names what was used wrongly', async () => {
    const none = await run(['check']);
    assert.match(none.stderr, /There is no \*\.access\.yaml in this folder/);
    const missing = await run(['check', 'gone.access.yaml']);
    assert.match(missing.stderr, /gone\.access\.yaml does not exist\./);
    write({ 'acme.access.yaml': CLEAN, 'README.md': '# Rules\n' });
    const other = await run(['check', 'README.md']);
    assert.match(other.stderr, /README\.md is not an access rules file \(\*\.access\.yaml\)\./);
    const unwritable = await run(['check', '--sarif', 'no/such/folder.sarif']);
    assert.match(unwritable.stderr, /cannot be written \(ENOENT\)/);
    assert.deepEqual([none.code, missing.code, other.code, unwritable.code], [2, 2, 2, 2]);
  });

  it('reads no device, and names a file outside of the folder as a whole', async () => {
    write({ 'in/here.txt': '', 'acme.access.yaml': CLEAN });
    const full = path.join(fs.realpathSync(folder), 'acme.access.yaml');
    const options = { cwd: path.join(folder, 'in'), env: env() };
    const outside = await commandLine.run(['check', '../acme.access.yaml'], options);
    assert.equal(outside.stdout, `${full.replaceAll(path.sep, '/')}: clean (1 rule tested)\n`);
    if (process.platform === 'win32') return;
    fs.symlinkSync('/dev/zero', path.join(folder, 'endless.access.yaml'));
    const endless = await run(['check', 'endless.access.yaml']);
    assert.match(endless.stderr, /endless\.access\.yaml" is not a file/);
  });
});

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/sandbox/http.ts';
import { models } from '../../../src/sandbox/inference/models.ts';
import { DEFAULTS, parseOptions, UsageError } from '../../../src/sandbox/options.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxDescriptor } from '../../../src/sandbox/types.ts';
import { signIn } from './walk.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/sandbox/main.ts', import.meta.url));

interface Started {
  child: ChildProcess;
  descriptor: SandboxDescriptor;
  /** All of standard output and error, when the program has ended. */
  output: Promise<[stdout: string, stderr: string]>;
}

const running = new Set<ChildProcess>();

function launch(args: readonly string[]): { child: ChildProcess; output: Promise<[string, string]> } {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'pipe' });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return { child, output: Promise.all([text(child.stdout), text(child.stderr)]) };
}

async function start(...args: string[]): Promise<Started> {
  const { child, output } = launch(args);
  let line = '';
  for (;;) {
    const [chunk] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    line += String(chunk);
    if (line.includes('\n')) return { child, output, descriptor: JSON.parse(line) as SandboxDescriptor };
  }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

describe('sandbox program', function () {
  this.timeout(20_000);

  afterEach(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  it('prints one line of JSON when it is ready, serves, and ends when standard input closes, streams or not', async () => {
    const { child, descriptor, output } = await start('--access-token-seconds', '120', '--pace-ms', '50');
    assert.deepEqual(Object.keys(descriptor), [
      'rolecallSandbox',
      'identity',
      'inference',
      'control',
      'clients',
      'organizations',
      'models',
      'people',
    ]);
    assert.equal(descriptor.rolecallSandbox, 1);
    assert.match(descriptor.control, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}$/);
    assert.deepEqual(Object.keys(descriptor.clients.link), ['id', 'secret', 'redirectUri']);
    assert.match(descriptor.clients.loopback.redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    assert.equal(descriptor.clients.link.redirectUri, 'vscode://rolecall.rolecall/callback');
    assert.match(descriptor.clients.link.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.deepEqual(
      descriptor.people.map((person) => Object.keys(person)),
      [1, 2, 3].map(() => ['id', 'name', 'email', 'about']),
    );
    const { access_token, expires_in } = await signIn(descriptor);
    assert.equal(expires_in, 120);
    const stream = await fetch(`${descriptor.inference}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: descriptor.models[0]?.id,
        stream: true,
        messages: [{ role: 'user', content: 'Go on for long.' }],
      }),
    });
    assert.equal(stream.status, 201);
    const broken = assert.rejects(stream.text());
    const closedAt = performance.now();
    child.stdin?.end();
    assert.equal(await exitOf(child), 0);
    assert.ok(performance.now() - closedAt < 2000);
    await broken;
    const [stdout, stderr] = await output;
    assert.equal(stdout, `${JSON.stringify(descriptor)}\n`);
    assert.equal(stderr, '');
  });

  it('stays with --keep when standard input closes, and ends on SIGTERM', async function () {
    if (process.platform === 'win32') this.skip();
    const { child, descriptor } = await start('--keep');
    child.stdin?.end();
    for (let tries = 0; tries < 3; tries++) {
      assert.equal((await fetch(`${descriptor.identity}/.well-known/openid-configuration`)).status, 200);
    }
    child.kill('SIGTERM');
    assert.equal(await exitOf(child), 0);
  });

  it('exits with 2 and a sentence on standard error, nothing on standard output, for a wrong command line', async () => {
    const { child, output } = launch(['--groups', 'many']);
    assert.equal(await exitOf(child), 2);
    const [stdout, stderr] = await output;
    assert.equal(stdout, '');
    assert.match(stderr, /^sandbox: [^\n]+\.\n$/);
  });
});

describe('sandbox start', () => {
  it('listens on 127.0.0.1 and on no other address', async function () {
    if (process.platform !== 'linux') this.skip();
    const { descriptor, close } = await startSandbox();
    try {
      for (const origin of [descriptor.identity, descriptor.inference, descriptor.control]) {
        assert.equal(new URL(origin).hostname, '127.0.0.1');
        await assert.rejects(fetch(origin.replace('127.0.0.1', '127.0.0.2')));
        await assert.rejects(fetch(origin.replace('127.0.0.1', '[::1]')));
      }
    } finally {
      await close();
    }
  });

  it('takes the ports it is told, and none at all when one of them is taken', async () => {
    const identityPort = await freePort();
    const first = await startSandbox({ identityPort });
    try {
      assert.equal(first.descriptor.identity, `http://127.0.0.1:${identityPort}`);
      const inferencePort = await freePort();
      await assert.rejects(startSandbox({ identityPort, inferencePort }), { code: 'EADDRINUSE' });
      const second = await startSandbox({ inferencePort });
      await second.close();
    } finally {
      await first.close();
    }
  });

  it('offers only the models it is told, and refuses one that does not exist', async () => {
    const [first] = models;
    const { descriptor, close } = await startSandbox({ models: [first?.id ?? ''] });
    await close();
    assert.deepEqual(
      descriptor.models.map(({ id }) => id),
      [first?.id],
    );
    await assert.rejects(startSandbox({ models: ['nobody/nothing'] }), UsageError);
  });

  it('gives every start clients and a control address of its own', async () => {
    const [one, other] = await Promise.all([startSandbox(), startSandbox()]);
    await Promise.all([one.close(), other.close()]);
    assert.notEqual(one.descriptor.clients.loopback.id, other.descriptor.clients.loopback.id);
    assert.notEqual(one.descriptor.clients.loopback.secret, other.descriptor.clients.loopback.secret);
    assert.notEqual(new URL(one.descriptor.control).pathname, new URL(other.descriptor.control).pathname);
  });
});

describe('sandbox options', () => {
  it('are the defaults without arguments', () => {
    const { options, keep } = parseOptions([]);
    assert.deepEqual(
      { ...options, redirectUri: undefined, models: undefined, paceMs: undefined },
      {
        ...DEFAULTS,
        redirectUri: undefined,
        models: undefined,
        paceMs: undefined,
      },
    );
    assert.equal(keep, false);
    assert.deepEqual([options.groups, options.roles, options.accessTokenSeconds], [2000, 50, 3600]);
  });

  it('are read from the command line', () => {
    const line =
      '--groups 10000 --roles 200 --access-token-seconds 5 --refresh-token-seconds 9 --redirect-uri http://127.0.0.1:7/cb ' +
      '--link-redirect-uri vscodium://rolecall.rolecall/callback --no-discovery --no-organization-list ' +
      '--identity-port 1 --inference-port 2 --control-port 3 --models a/b,c --pace-ms 0 --keep';
    assert.deepEqual(parseOptions(line.split(' ')), {
      options: {
        groups: 10_000,
        roles: 200,
        accessTokenSeconds: 5,
        refreshTokenSeconds: 9,
        redirectUri: 'http://127.0.0.1:7/cb',
        linkRedirectUri: 'vscodium://rolecall.rolecall/callback',
        discovery: false,
        organizationList: false,
        identityPort: 1,
        inferencePort: 2,
        controlPort: 3,
        models: ['a/b', 'c'],
        paceMs: 0,
      },
      keep: true,
    });
  });

  const wrong: [string, RegExp][] = [
    ['--groups -1', /groups/],
    ['--groups 1.5', /whole number/],
    ['--access-token-seconds 0', /from 1/],
    ['--identity-port 65536', /65535/],
    ['--redirect-uri callback', /absolute URI/],
    ['--redirect-uri http://127.0.0.1/callback?x=1', /without query/],
    ['--link-redirect-uri vscode://a/b#c', /fragment/],
    ['--colour', /--colour/],
    ['stray', /stray/],
    ['--groups', /groups/],
    ['--keep=yes', /keep/],
  ];
  for (const [line, told] of wrong) {
    it(`refuses ${line}`, () => {
      assert.throws(
        () => parseOptions(line.split(' ')),
        (error) => error instanceof UsageError && told.test(error.message),
      );
    });
  }
});

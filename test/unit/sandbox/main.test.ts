import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshFolder } from '../../../scripts/paths.ts';
import { freePort } from '../../../src/sandbox/http.ts';
import { models } from '../../../src/sandbox/inference/models.ts';
import { DEFAULTS, parseOptions, UsageError } from '../../../src/sandbox/options.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { Lifeline } from '../../../src/sandbox/shared.ts';
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
const compiled = freshFolder('sandbox-compiled');
after(() => fs.rmSync(compiled, { recursive: true, force: true, maxRetries: 5 }));

function launch(args: readonly string[]): { child: ChildProcess; output: Promise<[string, string]> } {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }; // It is started many times.
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: 'pipe', env });
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
      'clients',
      'organizations',
      'models',
      'people',
      'prompts',
    ]);
    assert.equal(descriptor.rolecallSandbox, 1);
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
    child.stdin?.end();
    assert.equal(await exitOf(child), 0);
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

describe('a sandbox that windows share', function () {
  this.timeout(20_000);
  let parent: string;
  let folder: string;
  const windows: net.Socket[] = [];

  beforeEach(() => {
    parent = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-shared-'));
    folder = path.join(parent, 'sandbox');
  });

  afterEach(() => {
    for (const window of windows.splice(0)) window.destroy();
    for (const child of running) child.kill('SIGKILL');
    fs.rmSync(parent, { recursive: true, force: true });
  });

  const shared = (lingerSeconds: number): Promise<Started> =>
    start('--shared', folder, '--linger-seconds', String(lingerSeconds));

  /** Connects as a window does. Resolves when it was greeted. */
  async function connect({ lifeline = 0, clients }: SandboxDescriptor): Promise<net.Socket> {
    const window = net.connect({ host: '127.0.0.1', port: lifeline });
    windows.push(window);
    const [greeting] = (await once(window, 'data')) as [Buffer];
    assert.equal(String(greeting), `${clients.loopback.id}\n`);
    return window;
  }

  it('serves whoever starts it for the same folder, and goes on when its starter has gone', async () => {
    const first = await shared(60);
    await connect(first.descriptor);
    const second = await shared(60);
    assert.deepEqual(second.descriptor, first.descriptor);
    assert.equal(await exitOf(second.child), 0, 'the second is not needed');
    first.child.stdin?.end();
    first.child.stdout?.destroy();
    first.child.stderr?.destroy();
    const third = await shared(60);
    assert.deepEqual(third.descriptor, first.descriptor);
  });

  it('is one sandbox also when several start at the same moment', async () => {
    const started = await Promise.all([shared(60), shared(60), shared(60)]);
    assert.equal(new Set(started.map(({ descriptor }) => descriptor.identity)).size, 1);
  });

  it('keeps its ready line from other users', async function () {
    if (process.platform === 'win32') this.skip();
    const { descriptor } = await shared(60);
    const file = path.join(folder, 'sandbox.json');
    assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')), descriptor);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
  });

  it('ends after the last window, with all that stands in its folder', async () => {
    const { child, descriptor } = await shared(0);
    const [one, other] = [await connect(descriptor), await connect(descriptor)];
    fs.mkdirSync(path.join(folder, 'session-of-the-windows'));
    one.destroy();
    assert.equal((await fetch(`${descriptor.identity}/.well-known/openid-configuration`)).status, 200);
    other.destroy();
    assert.equal(await exitOf(child), 0);
    assert.equal(fs.existsSync(folder), false);
  });

  it('waits for a window that comes back, but not for one that says it leaves', async () => {
    const { child, descriptor } = await shared(60);
    (await connect(descriptor)).destroy();
    const again = await connect(descriptor);
    assert.equal(child.exitCode, null);
    again.end('bye');
    assert.equal(await exitOf(child), 0);
  });

  it('does not end while a window is connected, however long', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let ended = false;
      const { port } = await Lifeline.open('an-id', 10, () => {
        ended = true;
      });
      const window = net.connect({ host: '127.0.0.1', port });
      windows.push(window);
      await once(window, 'data');
      mock.timers.tick(3_600_000);
      assert.equal(ended, false);
    } finally {
      mock.timers.reset();
    }
  });

  it('ends when no window ever comes', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let ended = false;
      await Lifeline.open('an-id', 10, () => {
        ended = true;
      });
      mock.timers.tick(3_600_000);
      assert.equal(ended, true);
    } finally {
      mock.timers.reset();
    }
  });

  it('takes the place of one that was killed, and removes what that one left', async () => {
    const first = await shared(60);
    fs.mkdirSync(path.join(folder, 'session-of-the-windows'));
    first.child.kill('SIGKILL');
    await exitOf(first.child);
    const second = await shared(60);
    assert.notEqual(second.descriptor.identity, first.descriptor.identity);
    assert.deepEqual(fs.readdirSync(folder), ['sandbox.json']);
  });

  it('takes the place of one whose port another program has now', async () => {
    const other = net.createServer((socket) => socket.end('220 mail\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    fs.mkdirSync(folder);
    fs.writeFileSync(
      path.join(folder, 'sandbox.json'),
      JSON.stringify({ rolecallSandbox: 1, lifeline: port, clients: { loopback: { id: 'an-id' } } }),
    );
    const { descriptor } = await shared(60);
    assert.notEqual(descriptor.lifeline, port);
    other.close();
  });
});

describe('sandbox start', () => {
  it('listens on 127.0.0.1 and on no other address', async function () {
    if (process.platform !== 'linux') this.skip();
    const { descriptor, close } = await startSandbox();
    try {
      for (const origin of [descriptor.identity, descriptor.inference]) {
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

  it('gives every start clients of its own', async () => {
    const [one, other] = await Promise.all([startSandbox(), startSandbox()]);
    await Promise.all([one.close(), other.close()]);
    assert.notEqual(one.descriptor.clients.loopback.id, other.descriptor.clients.loopback.id);
    assert.notEqual(one.descriptor.clients.loopback.secret, other.descriptor.clients.loopback.secret);
  });
});

describe('sandbox options', () => {
  it('are the defaults without arguments', () => {
    const { options, keep, shared } = parseOptions([]);
    assert.deepEqual(
      { ...options, redirectUri: undefined, models: undefined, paceMs: undefined },
      {
        ...DEFAULTS,
        redirectUri: undefined,
        models: undefined,
        paceMs: undefined,
      },
    );
    assert.deepEqual([keep, shared], [false, undefined]);
    assert.deepEqual([options.groups, options.roles, options.accessTokenSeconds], [2000, 50, 3600]);
  });

  it('are read from the command line', () => {
    const line =
      '--groups 10000 --roles 200 --access-token-seconds 5 --refresh-token-seconds 9 --redirect-uri http://127.0.0.1:7/cb ' +
      '--link-redirect-uri vscodium://rolecall.rolecall/callback --no-discovery --no-organization-list ' +
      '--identity-port 1 --inference-port 2 --models a/b,c --pace-ms 0 --keep --shared /a/b --linger-seconds 3';
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
        models: ['a/b', 'c'],
        paceMs: 0,
      },
      keep: true,
      shared: { folder: '/a/b', lingerSeconds: 3 },
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
    ['--shared /a --linger-seconds soon', /linger-seconds/],
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

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { redactStream } from '../../../../../src/core/base/redact.ts';
import { listModels } from '../../../../../src/core/completions/models.ts';
import { IdentityClient } from '../../../../../src/core/identity/identityClient.ts';
import { exchange } from '../../../../../src/core/oauth/joining/exchange.ts';
import { findWindows } from '../../../../../src/core/oauth/joining/findWindows.ts';
import { operationNames, operationOf, operations, pathOf } from '../../../../../src/core/oauth/joining/messages.ts';
import { AllowedPrograms, ProgramKey } from '../../../../../src/core/oauth/joining/programs.ts';
import { FolderKey, handshakeAsClient, handshakeAsServer } from '../../../../../src/core/oauth/rotation/handshake.ts';
import { LineSocket, startIpcServer } from '../../../../../src/core/oauth/rotation/ipc.ts';
import { PROTOCOL } from '../../../../../src/core/oauth/rotation/protocol.ts';
import { silentLog } from '../../../../support/silentLog.ts';
import { deferred } from '../../deferred.ts';
import { eventually } from '../../eventually.ts';
import { failure } from '../../failure.ts';
import { never, signInOf, TOKEN, World } from './world.ts';

describe('joining a window', () => {
  let world: World;

  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  const folder = () => path.join(world.state, 'command-line');
  const client = (fetch: typeof globalThis.fetch, tokens: ConstructorParameters<typeof IdentityClient>[0]['tokens']) =>
    new IdentityClient({ fetch, identityUrl: 'https://identity.example', tokens, log: silentLog, now: Date.now });

  it('asks the user once, and remembers the program', async () => {
    await world.open();
    let said = 0;
    const joined = await world.join(() => {
      said += 1;
    });
    assert.deepEqual(joined.joined, {
      session: 'session-1',
      account: 'ada',
      organizations: [{ id: 'acme', names: ['Acme'] }],
    });
    await world.join();
    assert.deepEqual([world.asked, said], [1, 1]);
  });

  it('is refused when the user says no, and asked again when it was forgotten', async () => {
    const line = await world.open();
    world.answer = false;
    assert.equal((await failure(world.join())).kind, 'forbidden');
    world.answer = true;
    const joined = await world.join();
    assert.equal(await line.allowed.clear(), 1);
    assert.equal((await failure(joined.tokens('identity').accessToken(never))).kind, 'forbidden');
    await world.join();
    assert.equal(world.asked, 3);
  });

  it('is not remembered when the program was gone before the user said yes', async () => {
    const logged: string[] = [];
    const note = (text: string) => void logged.push(text);
    const line = await world.open({
      log: { ...silentLog, debug: note, info: note },
      ask: async (_signIn, _claim, signal) => {
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return true;
      },
    });
    const gone = new AbortController();
    const { windows } = await findWindows({ state: world.state }, never);
    const joining = windows[0]?.join({}, () => gone.abort(), gone.signal);
    assert.equal((await failure(joining ?? assert.fail())).kind, 'cancelled');
    await eventually(() => logged.length > 0);
    assert.deepEqual(await line.allowed.list(), []);
    assert.match(logged.join(), /not allow/);
  });

  it('stays forgotten while another is being allowed', async () => {
    const line = await world.open();
    await world.join();
    await Promise.all([line.allowed.add('another-program', 'session'), line.allowed.clear()]);
    const left = await line.allowed.list();
    assert.deepEqual(
      left.filter(({ fingerprint }) => fingerprint !== 'another-program'),
      [],
    );
  });

  it('remembers the last fifty programs', async () => {
    const { allowed } = await world.open();
    let now = 0;
    const programs = new AllowedPrograms(folder(), () => (now += 1000));
    for (let count = 0; count < 52; count += 1) await programs.add(`program-${count}`, 'session');
    assert.deepEqual(
      [
        (await allowed.list()).length,
        await allowed.has('program-1', 'session'),
        await allowed.has('program-2', 'session'),
      ],
      [50, false, true],
    );
  });

  it('is forgotten without a word where nobody was ever allowed', async () => {
    assert.equal(await new AllowedPrograms(folder()).clear(), 0);
  });

  it('of another account needs another permission', async () => {
    await world.open();
    await world.join();
    world.signIn = signInOf('session-2');
    await world.join();
    assert.equal(world.asked, 2);
  });

  it('sends requests with the token of the window, which the program never sees', async () => {
    await world.open();
    const joined = await world.join();
    const wire: string[] = [];
    const send = LineSocket.prototype.send;
    LineSocket.prototype.send = function (message) {
      wire.push(JSON.stringify(message));
      return send.call(this, message);
    };
    try {
      const groups = await client(joined.fetch, joined.tokens('identity')).groups('a/b', never);
      assert.deepEqual(groups.items, []);
      world.network = async () => Response.json({ data: [{ id: `echo ${TOKEN}` }] });
      const deps = { fetch: joined.fetch, log: silentLog, ...joined.tokens('inference') };
      const models = await listModels(deps, { inferenceUrl: 'https://inference.example/base' }, never);
      assert.deepEqual(models, [{ id: 'echo [hidden]' }], 'a server repeats what it was sent');
    } finally {
      LineSocket.prototype.send = send;
    }
    assert.deepEqual(
      world.sent.map(({ url, init }) => [url, (init.headers as Record<string, string>).authorization]),
      [
        ['https://identity.example/api/v1/organizations/a%2Fb/groups', `Bearer ${TOKEN}`],
        ['https://inference.example/base/v1/models', `Bearer ${TOKEN}`],
      ],
    );
    assert.ok(wire.length > 10);
    const decoded = wire.map((line) => Buffer.from(JSON.parse(line).data ?? '', 'base64').toString());
    assert.deepEqual(
      [...wire, ...decoded].filter((text) => text.includes(TOKEN)),
      [],
    );
  });

  it('sends the window’s own headers to the inference service alone, and hides them in errors', async () => {
    await world.open();
    world.signIn = { ...signInOf(), inferenceHeaders: { 'x-gateway-key': 'key-of-the-gateway' } };
    const joined = await world.join();
    await client(joined.fetch, joined.tokens('identity')).groups('acme', never);
    world.network = async () => Response.json({ error: { message: 'bad key key-of-the-gateway' } }, { status: 403 });
    const refused = await joined.fetch('https://inference.example/base/v1/models', {});
    assert.deepEqual(
      world.sent.map(({ init }) => new Headers(init.headers).get('x-gateway-key')),
      [null, 'key-of-the-gateway'],
    );
    assert.match(await refused.text(), /bad key .*hidden/);
  });

  it('says which token was refused, so that the window renews it', async () => {
    await world.open();
    let token = 'first-token-of-the-window';
    const signIn = signInOf('session-1', () => token);
    const refused: string[] = [];
    const identity = {
      ...signIn.tokens.identity,
      refreshAfter401: async (old: string) => {
        refused.push(old);
        token = 'second-token-of-the-window';
        return token;
      },
    };
    world.signIn = { ...signIn, tokens: { identity, inference: identity } };
    world.network = async (_input, init) =>
      new Headers(init?.headers).get('authorization') === 'Bearer second-token-of-the-window'
        ? Response.json([])
        : Response.json({ error: 'access_denied', error_description: 'expired' }, { status: 401 });
    const joined = await world.join();
    const groups = await client(joined.fetch, joined.tokens('identity')).groups('acme', never);
    assert.deepEqual(groups.items, []);
    assert.deepEqual(refused, ['first-token-of-the-window']);
  });

  it('gives nothing of another account', async () => {
    await world.open();
    const joined = await world.join();
    world.signIn = signInOf('session-2');
    assert.equal((await failure(joined.tokens('identity').accessToken(never))).kind, 'sessionEnded');
    world.signIn = undefined;
    assert.equal((await failure(joined.tokens('identity').accessToken(never))).kind, 'signedOut');
    assert.deepEqual(world.sent, []);
  });

  it('requests operations, and no other address', async () => {
    await world.open();
    const joined = await world.join();
    for (const address of [
      'https://identity.example/oauth2/v2/token',
      'https://identity.example/api/v1/organizations/acme/groups/../../x',
      'https://elsewhere.example/v1/models',
      'https://inference.example/base/v1/embeddings',
    ]) {
      assert.equal((await failure(joined.fetch(address, {}))).kind, 'unsupported', address);
    }
    assert.equal(
      (await failure(joined.fetch('https://identity.example/api/v1/organizations/acme/groups', { method: 'POST' })))
        .kind,
      'unsupported',
    );
    assert.deepEqual(world.sent, []);
  });

  it('streams: a piece arrives when it was sent, and what nobody reads waits at the service', async () => {
    await world.open();
    const joined = await world.join();
    let pulled = 0;
    const piece = new Uint8Array(64 * 1024).fill(120);
    world.network = async () =>
      new Response(
        new ReadableStream(
          {
            pull: (controller) => {
              pulled += 1;
              if (pulled > 500) controller.close();
              else controller.enqueue(piece);
            },
          },
          { highWaterMark: 0 },
        ),
      );
    const { body } = await joined.fetch('https://inference.example/base/v1/models', {});
    const reader = body?.getReader() ?? assert.fail();
    await reader.read();
    let before = -1;
    await eventually(() => {
      const isStill = before === pulled;
      before = pulled;
      return isStill && pulled > 0;
    });
    assert.ok(pulled < 60, `${pulled} pieces of 64 kB were taken though nobody reads`);
    let size = 4500;
    for (let next = await reader.read(); !next.done; next = await reader.read()) size += next.value.byteLength;
    assert.equal(size, 500 * piece.byteLength, 'and all of it arrives');
  });

  it('ends the request to the service when the program goes', async () => {
    await world.open();
    const joined = await world.join();
    const ended = deferred<void>();
    world.network = (_input, init) => {
      init?.signal?.addEventListener('abort', () => ended.resolve());
      return new Promise(() => {});
    };
    const stop = new AbortController();
    const asked = joined.fetch('https://inference.example/base/v1/models', { signal: stop.signal });
    await eventually(() => world.sent.length === 1);
    stop.abort();
    assert.equal((await failure(asked)).kind, 'cancelled');
    await ended.promise;
  });

  it('fails when the window closes in the middle of an answer', async () => {
    const line = await world.open();
    const joined = await world.join();
    world.network = async () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from('{"data":[')),
        }),
      );
    const { body } = await joined.fetch('https://inference.example/base/v1/models', {});
    const reader = body?.getReader() ?? assert.fail();
    await reader.read();
    await line.close();
    const error = await failure(reader.read());
    assert.equal(error.kind, 'offline');
    assert.match(error.message, /editor window closed before it responded/);
    assert.equal(joined.lost, error);
    assert.equal((await failure(joined.fetch('https://inference.example/base/v1/models', {}))).kind, 'offline');
  });

  it('does not take the failure of one request for a window that closed', async () => {
    await world.open();
    const joined = await world.join();
    world.network = async () => Promise.reject(new TypeError('fetch failed'));
    const error = await failure(joined.fetch('https://inference.example/base/v1/models', {}));
    assert.equal(error.kind, 'offline');
    assert.equal(joined.lost, undefined);
  });

  it('says that a window closed before it was joined', async () => {
    const line = await world.open();
    const { windows } = await findWindows({ state: world.state }, never);
    await line.close();
    const error = await failure(windows[0]?.join({}, () => {}, never) ?? assert.fail());
    assert.equal(error.kind, 'offline');
    assert.match(error.message, /editor window closed before it responded/);
  });

  it('does not wait for a window that stops after it has proven itself', async () => {
    await world.open();
    const key = await new FolderKey(folder()).get();
    const server = await startIpcServer(async (line, address) => {
      await handshakeAsServer(line, { role: 'joined', address, key, protocol: PROTOCOL });
      await line.closed;
    });
    const place = { address: server.address, key, state: world.state, silenceMs: 200 };
    const error = await failure(exchange(place, { request: () => ({ ask: 'about' }) }, never));
    assert.equal(error.kind, 'offline');
    await server.close();
  });

  it('passes on what a busy window says instead of a challenge', async () => {
    await world.open();
    const key = await new FolderKey(folder()).get();
    const server = await startIpcServer(async (line, address) => {
      await handshakeAsServer(line, { role: 'joined', address, key, protocol: PROTOCOL });
      line.send({ error: { kind: 'rateLimited', message: 'Too many programs are using this window.' } });
      await line.closed;
    });
    const place = { address: server.address, key, state: world.state };
    const error = await failure(exchange(place, { request: () => ({ ask: 'about' }) }, never));
    assert.deepEqual([error.kind, error.message], ['rateLimited', 'Too many programs are using this window.']);
    await server.close();
  });

  it('calls what the window offers, and nothing else', async () => {
    await world.open();
    const joined = await world.join();
    const long = 'x'.repeat(50_000);
    assert.deepEqual(await joined.call('double', { long }, never), [{ long }, { long }]);
    for (const name of ['other', 'toString', '__proto__']) {
      assert.notEqual((await failure(joined.call(name, 1, never))).kind, 'cancelled');
    }
  });

  describe('refuses', () => {
    /** A connection that has proven to know the key of the folder, and has the challenge. */
    async function connected(): Promise<{ line: LineSocket; address: string; challenge: string }> {
      const [name] = fs.readdirSync(path.join(folder(), 'windows'));
      const { address } = JSON.parse(fs.readFileSync(path.join(folder(), 'windows', name ?? ''), 'utf8'));
      const line = LineSocket.connect(address);
      const key = await new FolderKey(folder()).get();
      assert.equal(await handshakeAsClient(line, { role: 'joined', address, key, protocol: PROTOCOL }), 'proven');
      const { challenge } = JSON.parse((await line.next()) ?? '');
      return { line, address, challenge };
    }
    const ask = async (request: object): Promise<string> => {
      const { line } = await connected();
      line.send(request as Record<string, unknown>);
      line.send({ end: true });
      const answer = (await line.next()) ?? '';
      line.close();
      return answer;
    };
    const proof = { publicKey: 'bm8ga2V5', signature: 'bm8gc2lnbmF0dXJl' };

    it('a program that cannot prove which one it is', async () => {
      await world.open();
      await world.join();
      for (const ask_ of ['join', 'token', 'refresh', 'call']) {
        const request = {
          ask: ask_,
          ...proof,
          session: 'session-1',
          service: 'identity',
          handle: 'x',
          name: 'double',
        };
        assert.equal(JSON.parse(await ask(request)).error.kind, 'forbidden', ask_);
      }
      assert.equal(world.asked, 1);
    });

    it('the signature of another key, or for another challenge or window', async () => {
      await world.open();
      await world.join();
      const ours = await ProgramKey.open(folder());
      const other = new World();
      try {
        const stranger = await other.open().then(() => ProgramKey.open(path.join(other.state, 'command-line')));
        const answerTo = async (prove: (address: string, challenge: string) => object) => {
          const { line, address, challenge } = await connected();
          line.send({ ask: 'token', session: 'session-1', service: 'identity', ...prove(address, challenge) });
          line.send({ end: true });
          const answer = JSON.parse((await line.next()) ?? '{}');
          line.close();
          return answer.error?.kind ?? answer.status;
        };
        assert.equal(await answerTo((address, challenge) => ours.prove(address, challenge)), 200);
        const { publicKey } = ours.prove('', '');
        const forged = (address: string, challenge: string) => ({ ...stranger.prove(address, challenge), publicKey });
        assert.equal(await answerTo(forged), 'forbidden');
        assert.equal(
          await answerTo((address) => ours.prove(address, 'the challenge of another connection')),
          'forbidden',
        );
        assert.equal(await answerTo((_address, challenge) => ours.prove('another window', challenge)), 'forbidden');
      } finally {
        await other.close();
      }
    });

    it('what it does not understand, too much, and lines without end', async () => {
      await world.open();
      assert.equal(JSON.parse(await ask({ ask: 'everything' })).error.kind, 'protocol');
      const { line } = await connected();
      line.send({ ask: 'about' });
      const data = Buffer.alloc(4500).toString('base64');
      for (let sent = 0; sent < 2000; sent += 1) {
        line.send({ data });
        await line.drained();
      }
      assert.equal(JSON.parse((await line.next()) ?? '{}').error?.kind ?? 'protocol', 'protocol');
      const other = await connected();
      other.line.send({ ask: 'x'.repeat(20_000) });
      await other.line.closed;
    });

    it('whoever does not know the key of the folder', async () => {
      await world.open();
      const [name] = fs.readdirSync(path.join(folder(), 'windows'));
      const { address } = JSON.parse(fs.readFileSync(path.join(folder(), 'windows', name ?? ''), 'utf8'));
      const line = LineSocket.connect(address);
      const params = { role: 'joined', address, key: Buffer.alloc(32, 7), protocol: PROTOCOL } as const;
      assert.equal(await handshakeAsClient(line, params), 'stranger');
      line.close();
    });
  });

  it('finds no window that is gone, and removes what it left', async () => {
    assert.deepEqual(await findWindows({ state: world.state }, never), { windows: [], silent: 0 });
    await world.open();
    const windows = path.join(folder(), 'windows');
    const dead = { version: 1, oldest: 1, address: path.join(world.state, 'nobody-listens'), pid: 1 };
    fs.writeFileSync(path.join(windows, 'dead.json'), JSON.stringify(dead));
    const { windows: found, silent } = await findWindows({ state: world.state }, never);
    assert.equal(silent, 0);
    assert.deepEqual(
      found.map(({ about }) => about.folders),
      [['/work']],
    );
    assert.equal(fs.existsSync(path.join(windows, 'dead.json')), false);
  });

  it('tells a window that does not answer from one that is gone', async () => {
    await (await world.open()).close();
    const stopped = path.join(world.state, 's');
    const server = net.createServer(() => {}).listen(stopped);
    const registration = { version: 1, oldest: 1, address: stopped, pid: 1 };
    fs.writeFileSync(path.join(folder(), 'windows', 'stopped.json'), JSON.stringify(registration));
    try {
      const { windows, silent } = await findWindows({ state: world.state, silenceMs: 50 }, never);
      assert.deepEqual([windows.length, silent], [0, 1]);
      assert.ok(fs.existsSync(path.join(folder(), 'windows', 'stopped.json')));
    } finally {
      server.close();
    }
  });

  it('does not find a window in which nobody is signed in', async () => {
    world.signIn = undefined;
    await world.open();
    assert.deepEqual(await findWindows({ state: world.state }, never), { windows: [], silent: 0 });
  });

  it('leaves only files that other users cannot read, and none that holds a token', async () => {
    await world.open();
    const joined = await world.join();
    await client(joined.fetch, joined.tokens('identity')).groups('acme', never);
    for (const entry of fs.readdirSync(world.state, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      if (process.platform !== 'win32') assert.equal(fs.statSync(file).mode & 0o077, 0, file);
      if (entry.isFile()) assert.ok(!fs.readFileSync(file, 'latin1').includes(TOKEN), file);
    }
  });
});

describe('the operations of a program', () => {
  it('lead from the name to the path and back', () => {
    for (const name of operationNames) {
      const { service, method } = operations[name];
      const found = operationOf(service, method, pathOf(name, 'a/b ü'));
      assert.equal(found?.name, name);
    }
  });

  it('take no organization that is another path', () => {
    for (const organization of ['', '.', '..', undefined]) assert.throws(() => pathOf('groups', organization));
    assert.equal(pathOf('groups', '../x'), '/api/v1/organizations/..%2Fx/groups');
  });
});

describe('a token that a server repeats', () => {
  it('is hidden wherever the answer is cut, and nothing else is', async () => {
    const secret = 'abcabd-secret';
    const text = `before ${secret} abcab between ${secret}${secret} after abc`;
    for (let cut = 1; cut < 20; cut += 1) {
      const pieces = text.match(new RegExp(`.{1,${cut}}`, 'g'))?.map((piece) => Buffer.from(piece)) ?? [];
      let result = '';
      for await (const piece of redactStream(pieces, [secret])) result += Buffer.from(piece).toString();
      assert.equal(result, text.replaceAll(secret, '[hidden]'), `cut every ${cut}`);
    }
  });

  it('holds nothing back that cannot be its beginning', async () => {
    const seen: string[] = [];
    for await (const piece of redactStream(
      [Buffer.from('data: 1\n\n'), Buffer.from('data: 2\n\n')],
      ['secret-token'],
    )) {
      seen.push(Buffer.from(piece).toString());
    }
    assert.deepEqual(seen, ['data: 1\n\n', 'data: 2\n\n']);
  });
});

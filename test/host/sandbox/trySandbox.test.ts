import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import { readDescriptor, sandboxConnection } from '../../../src/host/sandbox/sandboxProcess.ts';
import { Sandbox } from '../../../src/host/sandbox/trySandbox.ts';
import { nextStep } from '../../../src/host/showError.ts';
import { commands, extensionId } from '../../../src/ids.ts';
import { chatRequest } from '../support/chat.ts';
import { useChat } from '../support/participant.ts';
import { usePatches } from '../support/patches.ts';
import { descriptor } from '../support/sandbox.ts';
import { type Scene, sessionOf, signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';
import { workspaceFile } from '../support/workspace.ts';

const shipped = path.join(vscode.extensions.getExtension(extensionId)?.extensionPath ?? '', 'dist', 'sandbox.js');

describe('Try the Sandbox', () => {
  const scene = useScene();
  const patches = usePatches();
  const program = workspaceFile('program.mjs');
  let remembered: Map<string, string>;
  let signedIn: Cloud[];
  let described: string[];
  let opened: string[];
  /** The address that each window remembers over a reload. */
  let memories: Map<Scene, string | undefined>;

  beforeEach(() => {
    remembered = new Map();
    signedIn = [];
    described = [];
    opened = [];
    memories = new Map();
  });

  interface More {
    readonly program?: string;
    readonly running?: string;
    /** How long the sandbox waits for a window to come back. */
    readonly linger?: number;
    readonly window?: Scene;
  }

  const sharedFolder = () => path.join(scene().state, 'sandbox');

  function sandboxOf(more: More = {}): Sandbox {
    const window = more.window ?? scene();
    return window.own(
      new Sandbox({
        clouds: window.clouds,
        program: {
          file: more.program ?? shipped,
          folder: sharedFolder(),
          parameters: ['--linger-seconds', String(more.linger ?? 0)],
        },
        running: more.running,
        memory: { get: () => memories.get(window), set: (address) => void memories.set(window, address) },
        rememberSecret: (id, secret) => {
          assert.ok(more.window || !remembered.has(id), 'one sandbox is started, not two');
          remembered.set(id, secret);
        },
        describeModels: (models) => described.push(...models.map(({ id }) => id)),
        signIn: async (cloud) => {
          signedIn.push(cloud);
          await cloud.tokenManager.signIn(sessionOf(cloud, 'administrator', { accessToken: 'a-token-of-the-sandbox' }));
        },
        openChat: async (prompt) => void opened.push(prompt),
        log: window.log,
      }),
    );
  }

  const answers = async (address: string) =>
    (await fetch(`${address}/.well-known/openid-configuration`).catch(() => undefined))?.status;

  it('starts a cloud of its own, makes it active and signs in', async () => {
    const sandbox = sandboxOf();
    await sandbox.enter();
    const cloud = scene().clouds.sandbox ?? assert.fail();
    assert.equal(scene().clouds.active, cloud);
    assert.deepEqual(signedIn, [cloud]);
    const { connection } = cloud;
    assert.equal(connection.id, 'sandbox');
    assert.notEqual(connection.identityUrl, descriptor.identity);
    for (const address of [connection.identityUrl, connection.inferenceUrl, connection.redirectUri]) {
      assert.match(address, /^http:\/\/127\.0\.0\.1:\d+/);
    }
    assert.ok(remembered.get(connection.clientId), 'the secret of its client is known');
    assert.equal(await answers(connection.identityUrl), 200);

    await sandbox.enter();
    assert.deepEqual(signedIn, [cloud], 'it is not signed in to twice');

    sandbox.leave();
    assert.equal(scene().clouds.sandbox, undefined);
    await until('the sandbox has ended', async () => (await answers(connection.identityUrl)) === undefined);
    assert.ok(described.includes('sandbox/vision'), 'it says what its models can do');
  });

  it('opens the chat with the first prompt after the sign-in', async () => {
    const sandbox = sandboxOf();
    await sandbox.enter();
    await sandbox.enter();
    assert.deepEqual(opened, ['/access who can administer meridian?']);
  });

  it('is shared by the windows, with the sign-in', async () => {
    await sandboxOf({ linger: 60 }).enter();
    const first = scene().clouds.require();
    const beside = scene().beside();
    const other = sandboxOf({ window: beside });
    await other.enter();
    const second = beside.clouds.require();
    assert.equal(second.connection.identityUrl, first.connection.identityUrl);
    assert.equal(second.tokenManager.session?.accessToken, 'a-token-of-the-sandbox');
    assert.deepEqual(signedIn, [first], 'nobody signs in a second time');

    other.leave();
    assert.equal(beside.clouds.active, undefined);
    assert.equal(await answers(first.connection.identityUrl), 200, 'the first window still uses it');
    assert.equal(scene().clouds.active, first);
  });

  it('is there again after a reload, still signed in', async () => {
    const before = sandboxOf({ linger: 60 });
    await before.enter();
    const { identityUrl } = scene().clouds.require().connection;
    before.dispose();
    scene().clouds.leaveSandbox();

    const after = sandboxOf({ window: scene() });
    await after.resume(new AbortController().signal);
    const cloud = scene().clouds.require();
    assert.equal(cloud.connection.identityUrl, identityUrl);
    assert.equal(cloud.tokenManager.session?.accessToken, 'a-token-of-the-sandbox');
    assert.equal(signedIn.length, 1);
    after.leave();
    await until('the sandbox has ended', async () => (await answers(identityUrl)) === undefined);
    assert.equal(memories.get(scene()), undefined);
  });

  it('is not entered after a reload when it has ended, or is another one', async () => {
    memories.set(scene(), 'http://127.0.0.1:9');
    const sandbox = sandboxOf();
    await sandbox.resume(new AbortController().signal);
    assert.equal(scene().clouds.active, undefined);
    assert.equal(memories.get(scene()), undefined);
    await sandboxOf({ window: scene().beside() }).enter();
    memories.set(scene(), 'http://127.0.0.1:9');
    await sandbox.resume(new AbortController().signal);
    assert.equal(scene().clouds.active, undefined);
  });

  it('which runs beside the editor is there again after a reload', async () => {
    memories.set(scene(), descriptor.identity);
    await sandboxOf({ running: line() }).resume(new AbortController().signal);
    assert.equal(scene().clouds.active?.connection.identityUrl, descriptor.identity);
  });

  it('starts one cloud however often it is pressed', async () => {
    const sandbox = sandboxOf();
    await Promise.all([sandbox.enter(), sandbox.enter(), sandbox.enter()]);
    assert.equal(remembered.size, 1);
    assert.equal(new Set(signedIn).size, 1);
  });

  it('ends the cloud with the window', async () => {
    const sandbox = sandboxOf();
    await sandbox.enter();
    const { identityUrl } = scene().clouds.require().connection;
    sandbox.dispose();
    await until('the sandbox has ended', async () => (await answers(identityUrl)) === undefined);
  });

  const line = () => JSON.stringify(descriptor);
  /** A program that says it is ready and greets whoever connects. */
  const greeting = (then = '') =>
    `import net from 'node:net';
    const descriptor = ${line()};
    const server = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.write(descriptor.clients.loopback.id + '\\n', () => { ${then} });
      socket.on('close', () => process.exit());
      socket.resume(); // What is not read is not seen to end.
    });
    server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ ...descriptor, lifeline: server.address().port })));`;
  const written = async (text: string) => {
    await program.write(text);
    return sandboxOf({ program: program.uri().fsPath });
  };

  it('is no longer active when the cloud ends by itself, and says so in the log', async () => {
    const pid = workspacePid();
    const sandbox = await written(`${pid.written} ${greeting()}`);
    await sandbox.enter();
    assert.ok(scene().clouds.sandbox);
    process.kill(await until('the process', pid.read));
    await until('the sandbox is left', () => scene().clouds.sandbox === undefined);
    assert.ok(scene().log.lines.some((text) => /The sandbox has ended/.test(text)));
    await pid.remove();
  });

  it('does not make active what has ended before anybody could look', async () => {
    const pid = workspacePid();
    const sandbox = await written(`${pid.written} ${greeting('process.exit()')}`);
    patches.set(vscode.window, 'withProgress', async (_: unknown, task: (...values: unknown[]) => Promise<unknown>) => {
      const started = await task({ report: () => {} }, new vscode.CancellationTokenSource().token);
      const program = await until('the process', pid.read);
      await until('it has ended', () => !isAlive(program));
      return started;
    });
    await assert.rejects(sandbox.enter(), /could not be started/);
    assert.equal(scene().clouds.active, undefined);
    assert.deepEqual(signedIn, []);
    await pid.remove();
  });

  it('starts anew after it has ended or was left', async () => {
    const sandbox = await written(greeting());
    await sandbox.enter();
    sandbox.leave();
    remembered.clear();
    scene().stores.delete('sandbox');
    await sandbox.enter();
    assert.equal(remembered.size, 1);
    assert.equal(signedIn.length, 2);
    assert.notEqual(signedIn[0], signedIn[1]);
  });

  const failures: readonly (readonly [string, string, RegExp])[] = [
    ['ends at once', 'console.error("no port is free"); process.exit(1);', /could not be started/],
    [
      'says no port to connect to',
      `console.log(${JSON.stringify(line())}); setInterval(() => {}, 1000);`,
      /did not report its addresses/,
    ],
    [
      'is another program at that port',
      `import net from 'node:net';
      net.createServer((socket) => socket.end('220 mail\\n')).listen(0, '127.0.0.1', function () {
        console.log(JSON.stringify({ ...${line()}, lifeline: this.address().port }));
      });`,
      /could not be started/,
    ],
    ['says something else', 'console.log("hello"); setInterval(() => {}, 1000);', /did not report its addresses/],
    [
      'names another machine',
      `console.log(${JSON.stringify(line()).replaceAll('127.0.0.1', 'evil.example')}); setInterval(() => {}, 1000);`,
      /did not report its addresses/,
    ],
  ];
  for (const [what, text, sentence] of failures) {
    it(`says so when the cloud ${what}, and makes nothing active`, async () => {
      const sandbox = await written(text);
      await assert.rejects(sandbox.enter(), (error) => error instanceof RolecallError && sentence.test(error.message));
      assert.equal(scene().clouds.active, undefined);
      assert.deepEqual(signedIn, []);
      // It can be tried again.
      await program.write(greeting());
      await sandbox.enter();
      assert.equal(signedIn.length, 1);
    });
  }

  it('shows in the log what the cloud complains of', async () => {
    const sandbox = await written('console.error("no port is free"); process.exit(1);');
    await sandbox.enter().catch(() => {});
    await until('the complaint', () => scene().log.lines.includes('warn sandbox: no port is free'));
  });

  it('can be cancelled while it starts, and leaves no process behind', async () => {
    const pid = workspacePid();
    const sandbox = await written(`${pid.written} setInterval(() => {}, 1000);`);
    const source = new vscode.CancellationTokenSource();
    patches.set(vscode.window, 'withProgress', async (_: unknown, task: (...values: unknown[]) => Promise<unknown>) =>
      task({ report: () => {} }, source.token),
    );
    const entered = sandbox.enter();
    const started = await until('the process', () => pid.read());
    source.cancel();
    await assert.rejects(entered, isCancelled);
    await until('the process has ended', () => !isAlive(started));
    assert.equal(scene().clouds.sandbox, undefined);
    await pid.remove();
  });

  it('uses a sandbox that runs already', async () => {
    const sandbox = sandboxOf({ running: line(), program: '/nowhere/at/all.js' });
    await sandbox.enter();
    assert.equal(scene().clouds.active?.connection.identityUrl, descriptor.identity);
    assert.equal(remembered.get(descriptor.clients.loopback.id), descriptor.clients.loopback.secret);
  });

  it('starts another one where that one has ended, and is back in it after a reload', async () => {
    const ended = { ...descriptor, identity: 'http://127.0.0.1:9', inference: 'http://127.0.0.1:9' };
    const running = JSON.stringify(ended);
    const before = scene().clouds.enterSandbox(sandboxConnection(readDescriptor(running)));
    await before.tokenManager.signIn(sessionOf(before, 'administrator', { accessToken: 'a-token-of-the-ended-one' }));
    scene().stores.delete('sandbox');

    const sandbox = sandboxOf({ running, linger: 60 });
    await sandbox.enter();
    const { identityUrl } = scene().clouds.require().connection;
    assert.equal(await answers(identityUrl), 200);
    assert.deepEqual(signedIn, [scene().clouds.sandbox]);
    assert.deepEqual(opened, [descriptor.prompts[0]]);

    sandbox.dispose();
    scene().clouds.leaveSandbox();
    const after = sandboxOf({ running, window: scene() });
    await after.resume(new AbortController().signal);
    assert.equal(scene().clouds.active?.connection.identityUrl, identityUrl);
    after.leave();
  });

  it('says so when what runs already is no sandbox', async () => {
    await assert.rejects(sandboxOf({ running: 'nonsense' }).enter(), /did not report its addresses/);
  });
});

describe('Try the Sandbox, where the sandbox has ended,', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const chat = useChat(scene);

  it('is what the tree and the chat offer', async () => {
    scene().network = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
    };
    await signInAs(scene().enterSandbox(), 'administrator');
    const { data } = tree();
    await assert.rejects(data.organizations(data.requireSession()), (error) => {
      assert.ok(error instanceof RolecallError);
      assert.match(error.message, /^The sandbox is no longer running\. Start another one/);
      return nextStep(error)?.command === commands.trySandbox;
    });
    const { errorDetails } = await chat().ask(chatRequest('hi'));
    assert.match(errorDetails?.message ?? '', /The sandbox is no longer running/);
    assert.deepEqual(chat().steps(), [commands.trySandbox, commands.openChat]);
  });
});

function workspacePid() {
  const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail(), 'program.pid');
  return {
    /** The beginning of a program that writes its process id. */
    written: `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(uri.fsPath)}, String(process.pid));`,
    read: async (): Promise<number | undefined> => {
      try {
        return Number(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri))) || undefined;
      } catch {
        return undefined;
      }
    },
    remove: async () => vscode.workspace.fs.delete(uri),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import assert from 'node:assert/strict';
import path from 'node:path';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import { Sandbox } from '../../../src/host/sandbox/trySandbox.ts';
import { extensionId } from '../../../src/ids.ts';
import { usePatches } from '../support/patches.ts';
import { descriptor } from '../support/sandbox.ts';
import { sessionOf, useScene } from '../support/scene.ts';
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

  beforeEach(() => {
    remembered = new Map();
    signedIn = [];
    described = [];
  });

  function sandboxOf(more: { program?: string; running?: string } = {}): Sandbox {
    return scene().own(
      new Sandbox({
        clouds: scene().clouds,
        program: more.program ?? shipped,
        running: more.running,
        rememberSecret: (id, secret) => {
          assert.ok(!remembered.has(id), 'one sandbox is started, not two');
          remembered.set(id, secret);
        },
        describeModels: (models) => described.push(...models.map(({ id }) => id)),
        signIn: async (cloud) => {
          signedIn.push(cloud);
          await cloud.keeper.adopt(sessionOf(cloud, 'administrator', { accessToken: 'a-token-of-the-sandbox' }));
        },
        log: scene().log,
      }),
    );
  }

  const answers = async (address: string) =>
    (await fetch(`${address}/.well-known/openid-configuration`).catch(() => undefined))?.status;

  it('starts a cloud of its own, puts it on the stage and signs in', async () => {
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
  const written = async (text: string) => {
    await program.write(text);
    return sandboxOf({ program: program.uri().fsPath });
  };

  it('leaves the stage when the cloud ends by itself, and says so in the log', async () => {
    const pid = workspacePid();
    const sandbox = await written(
      `${pid.written} console.log(${JSON.stringify(line())}); setInterval(() => {}, 1000);`,
    );
    await sandbox.enter();
    assert.ok(scene().clouds.sandbox);
    process.kill(await until('the process', pid.read));
    await until('the stage is empty', () => scene().clouds.sandbox === undefined);
    assert.ok(scene().log.lines.some((text) => /The sandbox has ended/.test(text)));
    await pid.remove();
  });

  it('does not put on the stage what has ended before anybody could look', async () => {
    const pid = workspacePid();
    const sandbox = await written(`${pid.written} console.log(${JSON.stringify(line())});`);
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
    const sandbox = await written(`console.log(${JSON.stringify(line())}); setInterval(() => {}, 1000);`);
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
    ['says something else', 'console.log("hello"); setInterval(() => {}, 1000);', /did not say where it listens/],
    [
      'names another machine',
      `console.log(${JSON.stringify(line()).replaceAll('127.0.0.1', 'evil.example')}); setInterval(() => {}, 1000);`,
      /did not say where it listens/,
    ],
  ];
  for (const [what, text, sentence] of failures) {
    it(`says so when the cloud ${what}, and nothing is on the stage`, async () => {
      const sandbox = await written(text);
      await assert.rejects(sandbox.enter(), (error) => error instanceof RolecallError && sentence.test(error.message));
      assert.equal(scene().clouds.active, undefined);
      assert.deepEqual(signedIn, []);
      // It can be tried again.
      await program.write(`console.log(${JSON.stringify(line())}); setInterval(() => {}, 1000);`);
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

  it('says so when what runs already is no sandbox', async () => {
    await assert.rejects(sandboxOf({ running: 'nonsense' }).enter(), /did not say where it listens/);
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

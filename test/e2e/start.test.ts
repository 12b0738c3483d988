import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from '@playwright/test';
import { at, freshFolder } from '../../scripts/paths.ts';
import { countActions } from '../harness/actions.ts';
import { answer, promptReady } from '../harness/chat.ts';
import { running, tree } from '../harness/processTree.ts';
import { firstPrompt, signInAs } from '../harness/signIn.ts';
import { test } from '../harness/workbench.ts';

/** `npm start` as a person runs it, without a screen. */
test.describe('npm start', () => {
  let folder: string;
  let child: ChildProcess | undefined;
  let printed = '';

  test.beforeEach(() => {
    folder = freshFolder('start');
    printed = '';
  });

  test.afterEach(() => {
    child?.kill('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function start(...flags: string[]): Promise<ChildProcess> {
    const parameters = ['scripts/bootstrap.mjs', 'scripts/start.ts', '--served', '--no-open', '--profile', folder];
    const started = spawn(process.execPath, [...parameters, ...flags], {
      cwd: at(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    }
    await expect
      .poll(() => (started.exitCode === null ? printed : `${printed}It ended.`))
      .toMatch(/Ctrl-C ends|It ended/);
    assert.equal(started.exitCode, null, printed);
    return started;
  }

  /** The system takes a moment to end a process that was killed, more so on a busy machine. */
  async function allGone(pids: readonly number[]): Promise<void> {
    await expect.poll(() => running(pids)).toEqual([]);
  }

  const addressIn = (text: string, name: string): string => new RegExp(`${name}: (http://\\S+)`).exec(text)?.[1] ?? '';

  test('serves an editor in which at most five actions lead to an answer that used a tool, and Ctrl-C ends it and its sandbox', async ({
    desk,
  }) => {
    const { context, port } = await desk.clear();
    const page = await context.newPage();
    const started = await start(...(port === 0 ? [] : ['--port', String(port)]));
    const actions = await countActions(context);
    await page.goto(addressIn(printed, 'Editor'));
    const tryIt = page.locator('.part.sidebar').getByRole('button', { name: 'Try the Sandbox' });
    await signInAs({ context, page }, 'Ada Moreau', () => tryIt.click());
    await promptReady(page, firstPrompt);
    assert.equal(actions(), 2, 'each click is counted, in both windows');
    await page.keyboard.press('Enter');
    assert.match(await answer(page), /Result.of.who_has_role/);
    assert.ok(actions() <= 5, `${actions()} actions`);

    const sandbox = addressIn(printed, 'Sandbox');
    assert.equal((await fetch(`${sandbox}/.well-known/openid-configuration`)).status, 200);

    const pids = tree(started.pid ?? 0);
    assert.ok(pids.length >= 4, `${pids.length} processes`);
    // A terminal sends it to the whole foreground group; the harder case is the first process alone.
    started.kill('SIGINT');
    const [code] = (await once(started, 'exit')) as [number | null];
    assert.equal(code, 0);
    await allGone(pids);
    await assert.rejects(fetch(sandbox));
    await page.close();
  });

  test('with real services writes their settings and starts no sandbox; killed, it leaves nothing running', async () => {
    const services = ['--identity', 'https://identity.example', '--inference', 'https://inference.example'];
    const started = await start(...services, '--client-id', 'me', '--redirect-uri', 'http://127.0.0.1:18155/callback');
    assert.equal(addressIn(printed, 'Sandbox'), '');
    const settings = JSON.parse(fs.readFileSync(path.join(folder, 'user', 'User', 'settings.json'), 'utf8'));
    assert.equal(settings['rolecall.identity.url'], 'https://identity.example');
    assert.equal(settings['rolecall.inference.url'], 'https://inference.example');
    assert.equal(settings['rolecall.identity.clientId'], 'me');
    assert.equal(settings['rolecall.identity.redirectUri'], 'http://127.0.0.1:18155/callback');
    const pids = tree(started.pid ?? 0);
    started.kill('SIGKILL');
    await allGone(pids);
  });

  test('says how it is used when the command line makes no sense', async () => {
    const started = spawn(
      process.execPath,
      ['scripts/bootstrap.mjs', 'scripts/start.ts', '--identity', 'https://a.example'],
      {
        cwd: at(),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let told = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
    const [code] = (await once(started, 'close')) as [number];
    assert.equal(code, 2);
    assert.match(told, /--identity and --inference belong together/);
    assert.match(told, /Usage/);
  });
});

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as vscode from 'vscode';
import { registerLanguageModelTools } from '../../../src/host/access/register.ts';
import { Launcher } from '../../../src/host/commandLine/launcher.ts';
import { type RegisteredCommandLine, registerCommandLine } from '../../../src/host/commandLine/register.ts';
import { commands, extensionId } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { usePatches } from '../support/patches.ts';
import { descriptor, person } from '../support/sandbox.ts';
import { signInAs, signInWithRefreshToken, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';
import { folder } from '../support/workspace.ts';

const extension = vscode.extensions.getExtension(extensionId) ?? assert.fail('not installed');
const { extensionPath, extensionUri } = extension;
const program = path.join(extensionPath, 'dist', 'cli.cjs');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program with the Node of the editor, as in a terminal. */
function run(file: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const all = { PATH, NODE_COMPILE_CACHE, ELECTRON_RUN_AS_NODE: '1', ...env };
  return new Promise((resolve) => {
    execFile(file, [...args], { env: all, cwd: folder().uri.fsPath }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

describe('the command line', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const patches = usePatches();
  let given: Commands;

  beforeEach(() => {
    given = new Commands(patches);
  });

  let provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition>;
  /** Of the requests that were sent for programs. */
  const headers: Headers[] = [];
  /** What other agents have been told. */
  const answered = new Set<string>();

  /** A window that programs can find while its user is signed in. */
  async function openWindow() {
    const { clouds, fetch, log, state, settings } = scene();
    const { data } = tree();
    const catalog = scene().catalog();
    // Their names are the running extension's.
    patches.set(vscode.lm, 'registerTool', () => new vscode.Disposable(() => {}));
    patches.set(vscode.lm, 'registerMcpServerDefinitionProvider', (_id: string, given: typeof provider) => {
      provider = given;
      return new vscode.Disposable(() => {});
    });
    const access = scene().own(registerLanguageModelTools(data, answered, log));
    const tools = {
      list: async () => [
        { name: 'count_words', description: 'Counts.', parameters: { type: 'object', properties: {} } },
      ],
      call: async (name: string, args: unknown) => ({ content: JSON.stringify([name, args]), isError: false }),
    };
    const noted: typeof fetch = (input, init) => {
      headers.push(new Headers(init?.headers));
      return fetch(input, init);
    };
    const outside = { share: access.share, tools, state, extension, extensionUri };
    const deps = { clouds, settings, data, catalog, fetch: noted, log, ...outside };
    let made: RegisteredCommandLine | undefined;
    given.of(() => {
      made = registerCommandLine(deps);
      return made;
    });
    const registered = scene().own(made ?? assert.fail());
    settings.ids = ['meridian'];
    const cloud = await scene().startService();
    await cloud.load();
    return { cloud, registered };
  }
  const rolecall = (...args: string[]) => run(process.execPath, [program, ...args], { ROLECALL_STATE: scene().state });

  it('uses the sign-in of a window after its user has allowed it, once', async () => {
    const { cloud, registered } = await openWindow();
    assert.match((await rolecall('whoami')).stderr, /No editor window is signed in/);
    await signInAs(cloud, 'administrator');
    await until('the window answers', async () => (await registered.status()).isOpen);

    const refused = await rolecall('whoami');
    assert.equal(refused.code, 3);
    assert.match(
      given.told[0] ?? '',
      /^Allow the command line "rolecall" to use your sign-in as ada\.moreau@meridian\.example\?\n.* If you allow it, it can read who has access/,
    );
    assert.ok(given.told[0]?.includes(descriptor.identity));
    assert.ok(
      given.told[0]?.includes(
        `Command: rolecall whoami\nFolder: ${folder().uri.fsPath}\nThis information comes from the program`,
      ),
    );
    assert.deepEqual(given.buttons.at(0), ['Don’t Allow', 'Allow'], 'what has the focus is safe');
    assert.deepEqual(await registered.status(), { allowed: 0, isOpen: true });

    given.press = /^Allow$/;
    const whoami = await rolecall('whoami');
    assert.equal(whoami.code, 0, whoami.stderr);
    assert.ok(whoami.stdout.startsWith(`${person('administrator').email} at ${descriptor.identity}\n`));
    assert.match(whoami.stdout, /Organizations: meridian\n/);
    given.press = undefined;
    const found = await rolecall('who-has', 'administrator');
    assert.match(found.stdout, /ada\.moreau@meridian\.example/);
    patches.set(scene().settings, 'inferenceHeaders', () => ({ headers: { 'x-gateway': 'team-a' }, problems: [] }));
    const answered = await rolecall('chat', 'Say hello');
    assert.equal(headers.at(-1)?.get('x-gateway'), 'team-a', 'as the window’s own requests');
    assert.deepEqual([found.code, answered.code, answered.stderr], [0, 0, '']);
    assert.match(answered.stdout, /\S/);
    assert.equal(given.told.length, 2, 'remembered');

    await given.call(commands.resetCommandLineAccess);
    assert.match(given.told.at(-1) ?? '', /You will be asked again next time/);
    assert.equal((await rolecall('whoami')).code, 3);
  });

  it('gets what a renewed token reads, though its own was refused', async () => {
    const { cloud, registered } = await openWindow();
    given.press = /^Allow$/;
    const session = await signInWithRefreshToken(cloud, 'administrator');
    await until('the window answers', async () => (await registered.status()).isOpen);
    // As when another window has renewed it, and this one has not heard.
    await cloud.tokenManager.signIn({ ...session, accessToken: 'an-access-token-that-is-not-accepted' });
    const { code, stderr } = await rolecall('who-has', 'administrator');
    assert.equal(code, 0, stderr);
    assert.notEqual(cloud.tokenManager.session?.accessToken, 'an-access-token-that-is-not-accepted');
  });

  it('finds no window that has signed out', async () => {
    const { cloud, registered } = await openWindow();
    given.press = /^Allow$/;
    await signInAs(cloud, 'administrator');
    await until('the window answers', async () => (await registered.status()).isOpen);
    assert.equal((await rolecall('whoami')).code, 0);
    await cloud.tokenManager.signOut();
    await until('the window closes', async () => !(await registered.status()).isOpen);
    assert.match((await rolecall('whoami')).stderr, /No editor window is signed in/);
  });

  describe('as a server that the editor starts for agents', () => {
    let client: Client;

    beforeEach(() => answered.clear());
    afterEach(() => client?.close());

    /** @param folder for an agent outside the editor, which is offered the tools of its folder too. */
    async function start(folder?: string): Promise<void> {
      const [offered] = (await provider.provideMcpServerDefinitions(new vscode.CancellationTokenSource().token)) ?? [];
      const token = new vscode.CancellationTokenSource().token;
      const server = await provider.resolveMcpServerDefinition?.(offered ?? assert.fail(), token);
      const { command, args, env, cwd } = server ?? assert.fail();
      const given = Object.entries(env).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
      client = new Client({ name: 'Agent', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command,
          args: args.filter((arg) => folder === undefined || arg !== '--no-workspace-tools'),
          env: Object.fromEntries(given),
          cwd: folder ?? cwd?.fsPath ?? '',
        }),
      );
    }
    const call = async (name: string, args: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: args });
      return (content as { text: string }[]).map(({ text }) => text).join('');
    };

    it('joins this window, asks before it shares an organization, and notes that it has', async () => {
      const { cloud, registered } = await openWindow();
      await signInAs(cloud, 'administrator');
      await until('the window answers', async () => (await registered.status()).isOpen);
      await start();
      given.press = /^Allow$/;
      const refused = await call('who_has_role', { role: 'administrator' });
      assert.match(refused, /did not allow this\. Nothing was read/);
      assert.match(given.told.at(-1) ?? '', /^Share who can do what in "meridian" with the MCP client "Agent"\?/);
      assert.deepEqual([...answered], []);
      given.press = /Until This Window Closes/;
      assert.match(await call('who_has_role', { role: 'administrator' }), /ada\.moreau@meridian\.example/);
      assert.deepEqual([...answered], ['who_has_role']);
      const before = given.told.length;
      assert.match(await call('list_roles', {}), /^Roles of meridian: 10\.\n/);
      assert.equal(given.told.length, before, 'remembered for this client and organization');
    });

    it('runs the tools of the workspace that this window has open, here', async () => {
      const { cloud, registered } = await openWindow();
      given.press = /^Allow$/;
      await signInAs(cloud, 'administrator');
      await until('the window answers', async () => (await registered.status()).isOpen);
      await start(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
      const listed = () => client.listTools().then(({ tools }) => tools.map(({ name }) => name));
      await until('the tools of the workspace', async () => (await listed()).includes('count_words'));
      assert.equal(await call('count_words', { file: 'a' }), '["count_words",{"file":"a"}]');
      await client.close();

      await start(os.tmpdir());
      assert.match(await call('count_words', {}), /is not open in this window/);
      assert.ok(!(await listed()).includes('count_words'), 'not for an agent that works in another folder');
    });
  });

  describe('is installed', () => {
    let home: string;

    beforeEach(() => {
      home = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-home-'));
    });
    afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

    const launcher = (more: Partial<ConstructorParameters<typeof Launcher>[0]> = {}) =>
      new Launcher({
        platform: process.platform,
        homedir: home,
        searched: '/usr/bin',
        editor: process.execPath,
        extensionPath,
        state: path.join(home, 'state'),
        ...more,
      });

    it('as a program that starts the newest version, with the editor’s Node', async function () {
      if (process.platform === 'win32') this.skip();
      const extensions = path.join(home, 'it’s extensions');
      for (const version of ['0.9.0', '0.10.0', '0.2.1']) {
        // Editors that install from Open VSX name the platform.
        const platform = version === '0.10.0' ? '-universal' : '';
        const folder = path.join(extensions, `rolecall.rolecall-${version}${platform}`);
        fs.mkdirSync(path.join(folder, 'dist'), { recursive: true });
        const text = `process.stdout.write(JSON.stringify(['${version}', process.argv.slice(2)]))`;
        fs.writeFileSync(path.join(folder, 'dist', 'cli.cjs'), text);
      }
      const installed = launcher({ extensionPath: path.join(extensions, 'rolecall.rolecall-0.9.0') });
      await installed.installAndTell();
      assert.match(given.told[0] ?? '', /^Installed .*\/\.local\/bin\/rolecall\. Add .*\/\.local\/bin to your PATH/);
      const started = await run(installed.file, ['who-has', 'a role', '$(x)'], {});
      assert.deepEqual(JSON.parse(started.stdout), ['0.10.0', ['who-has', 'a role', '$(x)']]);
      const withoutEditor = launcher({
        extensionPath: path.join(extensions, 'rolecall.rolecall-0.9.0'),
        editor: path.join(home, 'gone'),
      });
      await withoutEditor.install();
      const env = { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
      assert.equal(JSON.parse((await run(installed.file, [], env)).stdout)[0], '0.10.0');
      fs.rmSync(extensions, { recursive: true });
      const gone = await run(installed.file, [], env);
      assert.deepEqual([gone.code, gone.stderr], [3, 'error: Rolecall is no longer installed in the editor.\n']);
    });

    it('as what this editor has, and removed again', async function () {
      if (process.platform === 'win32') this.skip();
      const installed = launcher({ searched: `/usr/bin:${path.join(home, '.local', 'bin')}` });
      await installed.installAndTell();
      assert.match(given.told[0] ?? '', /Run "rolecall --help" in a terminal\.$/);
      const { stdout } = await run(installed.file, ['--version'], {});
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
      await installed.uninstallAndTell();
      assert.match(given.told.at(-1) ?? '', /^Removed /);
      assert.equal(fs.existsSync(installed.file), false);
      await installed.uninstallAndTell();
      assert.match(given.told.at(-1) ?? '', /is not installed/);
    });

    it('over the program of somebody else only after a question', async () => {
      const installed = launcher();
      fs.mkdirSync(path.dirname(installed.file), { recursive: true });
      fs.writeFileSync(installed.file, 'something else');
      await assert.rejects(installed.installAndTell());
      await installed.uninstallAndTell();
      assert.equal(fs.readFileSync(installed.file, 'utf8'), 'something else');
      given.press = /^Replace$/;
      await installed.installAndTell();
      assert.match(fs.readFileSync(installed.file, 'utf8'), /Rolecall: Install Command Line/);
    });

    it('on Windows as a batch file', async () => {
      const installed = launcher({ platform: 'win32', editor: 'C:\\Code\\Code.exe' });
      await installed.install();
      const text = fs.readFileSync(installed.file, 'utf8');
      assert.match(text, /^@echo off\r\n/);
      assert.match(text, /if exist "C:\\Code\\Code\.exe" \("C:\\Code\\Code\.exe" ".*launch\.cjs" %\*\)/);
    });
  });
});

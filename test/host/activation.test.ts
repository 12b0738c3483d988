import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { writeSession } from '../../src/core/oauth/session.ts';
import {
  authenticationProvider,
  chatParticipant,
  commands,
  contextKeys,
  extensionId,
  languageModelTools,
  languageModelVendor,
  mcpServers,
  secrets,
  views,
} from '../../src/ids.ts';
import { FakeLog, FakeMemento, FakeSecrets } from './support/fakes.ts';
import { usePatches } from './support/patches.ts';
import { connectionTo, descriptor } from './support/sandbox.ts';
import { sessionOf } from './support/scene.ts';
import { until } from './support/wait.ts';

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(extensionId);
  assert.ok(found, 'the extension is installed');
  return found;
}

describe('activation', () => {
  const patches = usePatches();

  it('happens by itself, and exports nothing', async () => {
    await until('activation without being asked for', () => extension().isActive);
    assert.equal(extension().exports, undefined);
  });

  it('registers every command of the manifest', async () => {
    const contributed: string[] = extension().packageJSON.contributes.commands.map(
      ({ command }: { command: string }) => command,
    );
    assert.notEqual(contributed.length, 0);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      contributed.filter((command) => !registered.has(command)),
      [],
    );
  });

  describe('of the shipped bundle, once more beside the running one', () => {
    let registered: string[];
    let asked: string[];
    let secretStorage: FakeSecrets;
    let disposables: vscode.Disposable[];

    /** Registrations are noted and not made: the running extension has those names. */
    function note(object: object, name: string, from = 0): void {
      const stand = new vscode.Disposable(() => {});
      patches.set(object as Record<string, unknown>, name, (...values: unknown[]) => {
        registered.push(String(values[from]));
        return stand;
      });
    }

    beforeEach(() => {
      registered = [];
      asked = [];
      disposables = [];
      secretStorage = new FakeSecrets();
      note(vscode.commands, 'registerCommand');
      note(vscode.authentication, 'registerAuthenticationProvider');
      note(vscode.lm, 'registerLanguageModelChatProvider');
      note(vscode.chat, 'createChatParticipant');
      note(vscode.lm, 'registerTool');
      note(vscode.lm, 'registerMcpServerDefinitionProvider');
      note(vscode.window, 'createTreeView');
      note(vscode.window, 'registerUriHandler');
      // A second channel of this name would close the running extension's log with itself.
      patches.set(vscode.window, 'createOutputChannel', () => Object.assign(new FakeLog(), { dispose: () => {} }));
      patches.set(globalThis, 'fetch', async (address: unknown) => {
        asked.push(String(address));
        return Response.json([]);
      });
    });

    afterEach(() => {
      for (const disposable of disposables) disposable.dispose();
    });

    /** The bundle evaluated anew, so that what its modules do when they are loaded happens here. */
    function activate(): void {
      const require = createRequire(path.join(extension().extensionPath, 'package.json'));
      const file = require.resolve('./dist/extension.cjs');
      // The bundle and what it is split into.
      const dist = path.dirname(file) + path.sep;
      const running = Object.entries(require.cache).filter(([name]) => name.startsWith(dist));
      for (const [name] of running) delete require.cache[name];
      try {
        const { activate } = require(file) as { activate: (context: unknown) => unknown };
        const context = {
          subscriptions: disposables,
          secrets: secretStorage,
          workspaceState: new FakeMemento(),
          globalState: new FakeMemento(),
          extensionUri: extension().extensionUri,
          globalStorageUri: vscode.Uri.joinPath(
            vscode.workspace.workspaceFolders?.[0]?.uri ?? assert.fail(),
            'storage',
          ),
          extension: extension(),
          extensionMode: vscode.ExtensionMode.Test,
        };
        assert.equal(activate(context), undefined);
      } finally {
        for (const [name, module] of running) require.cache[name] = module;
      }
    }

    it('makes every registration before it touches the network or a secret', async () => {
      const connection = connectionTo('service');
      const read: string[] = [];
      patches.set(secretStorage, 'get', async (key: string) => {
        read.push(key);
        const session = sessionOf({ connection }, 'administrator', { accessToken: 'a-token-that-was-stored' });
        return key.startsWith(secrets.session) ? writeSession(session) : undefined;
      });
      const configured: Record<string, unknown> = {
        'identity.url': connection.identityUrl,
        'inference.url': connection.inferenceUrl,
        'identity.clientId': connection.clientId,
        'identity.redirectUri': connection.redirectUri,
      };
      const getConfiguration = vscode.workspace.getConfiguration;
      patches.set(vscode.workspace, 'getConfiguration', (section: string) => {
        const real = getConfiguration(section);
        if (section !== 'rolecall') return real;
        return {
          get: (name: string) => configured[name] ?? real.get(name),
          inspect: (name: string) => real.inspect(name),
        };
      });

      activate();

      assert.deepEqual([asked, read], [[], []]);
      assert.deepEqual(
        [
          ...Object.values(commands),
          ...Object.values(languageModelTools),
          authenticationProvider,
          languageModelVendor,
          mcpServers,
          chatParticipant,
          views.organizations,
        ].filter((name) => !registered.includes(name)),
        [],
      );
      // The same activation goes on to both, so that the silence until here means something.
      await until('the stored session is read', () => read.some((key) => key.startsWith(secrets.session)));
      await until('the models are asked for', () => asked.includes(`${descriptor.inference}/v1/models`));
    });

    it('asks nobody while nothing is configured', async () => {
      const states: unknown[] = [];
      const execute = vscode.commands.executeCommand;
      patches.set(vscode.commands, 'executeCommand', async (id: string, ...args: unknown[]) => {
        if (id === 'setContext' && args[0] === contextKeys.session) states.push(args[1]);
        return execute(id, ...args);
      });
      activate();
      await until('the session is known', () => states.includes('unconfigured'));
      assert.deepEqual(asked, []);
    });

    it('leaves the process-wide undici dispatchers as they were', () => {
      const slots = dispatchers();
      activate();
      assert.deepEqual(dispatchers(), slots);
    });
  });

  it('loads without filling the undici dispatchers of a process that has none', async () => {
    // The extension host has filled them long before; a bare Node has not, so there an undici in the bundle would show.
    const bundle = path.join(extension().extensionPath, 'dist', 'extension.cjs');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['-e', LOAD_IN_BARE_NODE, bundle, ...Object.keys(vscode)],
      {
        env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      },
    );
    assert.deepEqual(JSON.parse(stdout), { before: [], loaded: 'function', after: [] });
  });
});

function dispatchers(): Map<symbol, unknown> {
  const slots = Object.getOwnPropertySymbols(globalThis).filter((symbol) => /undici/.test(symbol.description ?? ''));
  return new Map(slots.map((slot) => [slot, Reflect.get(globalThis, slot)]));
}

const LOAD_IN_BARE_NODE = `
const Module = require('node:module');
const anything = new Proxy(class {}, { get: (target, name) => (name in target ? target[name] : anything), apply: () => anything });
const [bundle, ...names] = process.argv.slice(1);
const vscode = Object.fromEntries(names.map((name) => [name, anything]));
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
const slots = () => Object.getOwnPropertySymbols(globalThis).map(String).filter((name) => name.includes('undici'));
const before = slots();
const { activate } = require(bundle);
console.log(JSON.stringify({ before, loaded: typeof activate, after: slots() }));
`;

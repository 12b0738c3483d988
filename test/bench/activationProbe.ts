// node --expose-gc activationProbe.ts BUNDLE NAMES: loads an extension as an extension host does and activates it, with a
// stand-in for the editor that takes every call. Writes one JSON line, an ActivationRun.
import fs from 'node:fs';
import Module, { createRequire } from 'node:module';
import type { ActivationRun } from './activate.ts';

const [bundle = '', names = ''] = process.argv.slice(2);

/** Whatever is read of it is itself; it can be called, extended and iterated. */
const anything: unknown = new Proxy(class {}, {
  get: (target, name) => {
    if (name === Symbol.iterator) return function* () {};
    if (name === Symbol.toPrimitive) return () => '';
    if (name === 'then') return undefined; // It is no promise.
    return name in target ? Reflect.get(target, name) : anything;
  },
  set: () => true,
  apply: () => anything,
});
const members = Object.fromEntries(names.split(',').map((name) => [name, anything]));
/** A memento and a secret store that are empty, a workspace without settings. */
const empty = { get: (_: string, fallback: unknown) => fallback, keys: () => [], update: async () => {} };
/** Extensions fire their own events while they start. */
class EventEmitter {
  readonly event = () => ({ dispose: () => {} });
  fire(): void {}
  dispose(): void {}
}
const vscode = {
  ...members,
  EventEmitter,
  workspace: Object.assign(Object.create(anything as object), {
    workspaceFolders: undefined,
    isTrusted: true,
    getConfiguration: () => ({ get: (_: string, fallback: unknown) => fallback, inspect: () => undefined }),
  }),
};

const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
const load = loader._load;
loader._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
// What an extension goes on to do with a stand-in is not what is measured.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});

const context = {
  subscriptions: [],
  extension: {
    id: 'measured',
    extensionKind: 1,
    packageJSON: { version: '1', aiKey: '', contributes: { commands: [], languageModelTools: [] } },
  },
  extensionUri: { fsPath: '/' },
  globalStorageUri: { fsPath: '/' },
  extensionMode: 1,
  globalState: { ...empty, setKeysForSync: () => {} },
  workspaceState: empty,
  secrets: { get: async () => undefined, store: async () => {}, delete: async () => {}, onDidChange: () => anything },
  environmentVariableCollection: anything,
};

const require = createRequire(import.meta.url);
performance.now(); // The clock itself is a module that is loaded when it is first read.
const before = new Set(builtins());
// What stripping the types of this file has left behind is not collected on the extension's time.
globalThis.gc?.();
const began = performance.now();
const cpuBegan = process.cpuUsage();
const extension = require(bundle) as { activate: (context: unknown) => unknown };
let problem: string | undefined;
try {
  extension.activate(context);
} catch (error) {
  problem = String(error);
}
const wallMs = performance.now() - began;
const { user, system } = process.cpuUsage(cpuBegan);
const cpuMs = (user + system) / 1000;
const files = evaluated();
const loaded = builtins().filter((name) => !before.has(name));
for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
const run: ActivationRun = {
  cpuMs,
  wallMs,
  bytes: files.reduce((sum, file) => sum + fs.statSync(file).size, 0),
  files,
  filesAfterwards: evaluated(),
  builtins: loaded,
  ...(problem !== undefined && { problem }),
};
fs.writeSync(1, `${JSON.stringify(run)}\n`);
process.exit(0);

/** What was required so far. */
function evaluated(): string[] {
  return Object.keys(require.cache).filter((file) => !file.endsWith('.ts'));
}

/** The modules of Node's own that were loaded so far, as they are imported. */
function builtins(): string[] {
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
  return moduleLoadList.flatMap((entry) => /^NativeModule (?!internal|_)(.+)$/.exec(entry)?.[1] ?? []);
}

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { getL10nPseudoLocalized } from '@vscode/l10n-dev';
import * as vscode from 'vscode';
import { extensionId } from '../../../src/ids.ts';
import { FakeLog, FakeMemento, FakeSecrets } from './fakes.ts';
import { Patches } from './patches.ts';

/** A text that a user would see, and what showed it. */
export interface ShownText {
  readonly where: string;
  readonly text: string;
}

/** What a user answers: the item of a list, the text of a box, the button of a message. Nothing closes it. */
export interface Answers {
  pick(items: readonly vscode.QuickPickItem[]): vscode.QuickPickItem | undefined;
  type(options: vscode.InputBoxOptions): string | undefined;
  press(buttons: readonly string[]): string | undefined;
}

type Handler = (...given: unknown[]) => unknown;

/** Members of what is given to VS Code that it shows. */
const SHOWN = new Set(
  'label description detail details tooltip title prompt placeHolder placeholder message text name notes accessibilityInformation value'.split(
    ' ',
  ),
);

/**
 * The extension as it is shipped, beside the running one, in an editor of its own whose display language is a
 * pseudo-language: every sentence that Rolecall gives to be translated has other letters, and what has not is plain English.
 * Registrations are kept here instead of in VS Code, and what would be shown is noted.
 */
export class PseudoEditor {
  readonly shown: ShownText[] = [];
  /** Texts of servers, which nobody translates. */
  readonly foreign = new Set<string>();
  /** `rolecall.*` as the user has set it. */
  readonly settings = new Map<string, unknown>();
  readonly commands = new Map<string, Handler>();
  readonly registered = new Map<string, unknown[]>();
  readonly #featuresLength: number | undefined;
  /** Addresses that would be opened in the browser. */
  readonly opened: string[] = [];
  readonly answers: Answers = { pick: () => undefined, type: () => undefined, press: () => undefined };
  /** Stands in for the network where a test sets it. */
  network: typeof fetch = (...request) => fetch(...request);
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-language-'));
  readonly #subscriptions: vscode.Disposable[] = [];
  readonly #changed = new vscode.EventEmitter<vscode.ConfigurationChangeEvent>();
  readonly #modules = new Map<string, { exports: Record<string, unknown> }>();
  readonly #extension = vscode.extensions.getExtension(extensionId) ?? assert.fail('Rolecall is not installed');
  /** What a translator would make of the extracted strings. */
  readonly #translations = getL10nPseudoLocalized(this.#json('out', 'l10n', 'bundle.l10n.json'));

  /** @param featuresLength how much there is of the features' bundle, where an update is half done; all of it by default. */
  constructor(featuresLength?: number) {
    this.#featuresLength = featuresLength;
    const patches = new Patches();
    patches.set(globalThis, 'fetch', this.#fetch);
    try {
      const { activate } = this.#load('extension.cjs') as { activate(context: unknown): void };
      activate({
        subscriptions: this.#subscriptions,
        secrets: new FakeSecrets(),
        workspaceState: new FakeMemento(),
        globalState: new FakeMemento(),
        extension: { id: extensionId, packageJSON: this.#manifest() },
        extensionUri: this.#extension.extensionUri,
        globalStorageUri: vscode.Uri.file(this.#folder),
        extensionMode: vscode.ExtensionMode.Test,
      });
    } finally {
      patches.restore();
    }
  }

  /** Sets settings, and tells of it as VS Code does. */
  configure(values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) this.settings.set(name, value);
    this.#changed.fire({ affectsConfiguration: () => true });
  }

  run(id: string, ...given: unknown[]): unknown {
    return (this.commands.get(id) ?? assert.fail(`${id} is not registered`))(...given);
  }

  /** What was registered last under this name of the API. */
  last<T>(name: string): T {
    return (this.registered.get(name)?.at(-1) ?? assert.fail(`nothing called ${name}`)) as T;
  }

  /** Notes the texts of something that VS Code would show. */
  show(where: string, value: unknown): void {
    if (typeof value === 'string') {
      if (value !== '') this.shown.push({ where, text: value });
    } else if (Array.isArray(value)) {
      for (const each of value) this.show(where, each);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) if (SHOWN.has(key)) this.show(`${where}.${key}`, member);
      if (value instanceof vscode.MarkdownString) this.show(where, value.value);
    }
  }

  dispose(): void {
    for (const disposable of this.#subscriptions.splice(0).reverse()) disposable.dispose();
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  // biome-ignore lint/suspicious/noExplicitAny: files of ours, as they are.
  #json(...names: string[]): any {
    return JSON.parse(fs.readFileSync(path.join(this.#extension.extensionPath, ...names), 'utf8'));
  }

  /** As VS Code gives it: with the texts of the display language. */
  #manifest(): unknown {
    const texts = getL10nPseudoLocalized(this.#json('package.nls.json'));
    const translate = (_key: string, value: unknown) =>
      typeof value === 'string' ? (texts[/^%(.+)%$/.exec(value)?.[1] ?? ''] ?? value) : value;
    return JSON.parse(JSON.stringify(this.#json('package.json')), translate);
  }

  readonly #fetch: typeof fetch = async (...request) => {
    const response = await this.network(...request);
    if (/json/.test(response.headers.get('content-type') ?? '')) this.noteForeign(await response.clone().json());
    return response;
  };

  /** Every text in it. */
  noteForeign(value: unknown): void {
    if (typeof value === 'string') this.foreign.add(value);
    if (typeof value !== 'object' || value === null) return;
    for (const member of Object.values(value)) this.noteForeign(member);
  }

  /** A bundle evaluated with this editor for its `vscode`. */
  #load(name: string): Record<string, unknown> {
    const file = path.join(this.#extension.extensionPath, 'dist', name);
    const known = this.#modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    const load = createRequire(file);
    const require = (asked: string): unknown => {
      if (asked === 'vscode') return this.#editor;
      return asked.startsWith('./') ? this.#load(asked) : load(asked);
    };
    const text = fs.readFileSync(file, 'utf8').slice(0, name.includes('features') ? this.#featuresLength : undefined);
    const bundle = vm.compileFunction(text, ['exports', 'require', 'module'], {
      filename: file,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    bundle(module.exports, require, module);
    this.#modules.set(file, module);
    return module.exports;
  }

  /** What `vscode.l10n.t` gives. */
  readonly translate = (
    first: string | { message: string; args?: unknown; comment?: string | string[] },
    ...rest: unknown[]
  ): string => {
    const { message, args = rest, comment = [] } = typeof first === 'string' ? { message: first } : first;
    const note = [comment].flat().join('');
    const found = this.#translations[note === '' ? message : `${message}/${note}`] ?? message;
    const values = Object(typeof rest[0] === 'object' ? rest[0] : args);
    const text = typeof found === 'string' ? found : found.message;
    return text.replace(/\{([^}]+)\}/g, (all, name) => String(values[name] ?? all));
  };

  readonly #editor = this.#createEditor();

  #createEditor(): object {
    const { shown, answers } = this;
    const show = this.show.bind(this);
    const providers = new Map<string, vscode.TextDocumentContentProvider>();
    const keep = (name: string, value: unknown) => {
      this.registered.set(name, [...(this.registered.get(name) ?? []), value]);
    };
    /** Notes what is set. */
    const watched = <T extends object>(where: string, target: T): T =>
      new Proxy(target, {
        set: (object, key, value) => {
          if (SHOWN.has(String(key)) || key === 'items') show(`${where}.${String(key)}`, value);
          return Reflect.set(object, key, value);
        },
      });
    const registration =
      (name: string, at: number) =>
      (...given: unknown[]) => {
        keep(name, given[at]);
        return new vscode.Disposable(() => {});
      };
    const message =
      (where: string) =>
      async (...given: unknown[]) => {
        const [text, ...rest] = given;
        const buttons = rest.filter((each) => typeof each === 'string');
        show(where, [text, ...rest]);
        return answers.press(buttons);
      };
    const replaced: Record<string, Record<string, unknown>> = {
      l10n: { t: this.translate, bundle: this.#translations },
      window: {
        showInformationMessage: message('information'),
        showWarningMessage: message('warning'),
        showErrorMessage: message('error'),
        showQuickPick: async (items: readonly vscode.QuickPickItem[], options: vscode.QuickPickOptions) => {
          show('quick pick', [...items, options]);
          const picked = answers.pick(items);
          return options.canPickMany && picked ? [picked] : picked;
        },
        showInputBox: async (options: vscode.InputBoxOptions) => {
          show('input box', options);
          const typed = answers.type(options);
          for (const each of ['', ' ', 'x y', typed ?? '']) show('validation', await options.validateInput?.(each));
          return typed;
        },
        createQuickPick: () => watched('quick pick', this.#createBox()),
        createInputBox: () => watched('input box', this.#createBox()),
        withProgress: (options: vscode.ProgressOptions, task: Handler) => {
          show('progress', options);
          return task({ report: (step: object) => show('progress', step) }, new vscode.CancellationTokenSource().token);
        },
        createTreeView: (_id: string, { treeDataProvider }: vscode.TreeViewOptions<unknown>) => {
          keep('tree', treeDataProvider);
          const none = () => new vscode.Disposable(() => {});
          return watched('view', {
            visible: true,
            onDidExpandElement: none,
            onDidCollapseElement: none,
            reveal: async () => {},
            dispose: () => {},
          });
        },
        createStatusBarItem: () => watched('status bar', { show: () => {}, hide: () => {}, dispose: () => {} }),
        createOutputChannel: (name: string) => {
          show('output channel', name);
          const lines = { appendLine: (line: string) => show('output', line), show: () => {}, dispose: () => {} };
          return Object.assign(new FakeLog(), lines, { append: lines.appendLine, clear: () => {} });
        },
        createWebviewPanel: (...given: unknown[]) => this.#createPanel(String(given[1])),
        // What is no file has been noted already; showing it takes a second each.
        showTextDocument: async (document: vscode.TextDocument, ...more: never[]) =>
          document.uri.scheme === 'file' ? vscode.window.showTextDocument(document, ...more) : {},
        registerUriHandler: registration('uri handler', 0),
        registerFileDecorationProvider: registration('decorations', 0),
        showSaveDialog: async (options: object) => {
          show('save dialog', options);
          return vscode.Uri.file(path.join(this.#folder, '0'));
        },
        showOpenDialog: async (options: object) => void show('open dialog', options),
      },
      commands: {
        registerCommand: (id: string, run: Handler) => {
          this.commands.set(id, run);
          return new vscode.Disposable(() => this.commands.delete(id));
        },
        executeCommand: async (id: string, ...given: unknown[]) => {
          if (id === 'markdown.api.render') return given[0];
          return this.commands.get(id)?.(...given);
        },
      },
      authentication: { registerAuthenticationProvider: registration('accounts', 2) },
      chat: {
        createChatParticipant: (_id: string, handler: unknown) => {
          keep('participant', handler);
          return { dispose: () => {} };
        },
      },
      lm: {
        registerLanguageModelChatProvider: registration('models', 1),
        registerTool: registration('tools', 1),
        registerMcpServerDefinitionProvider: registration('servers', 1),
        selectChatModels: async () => [{}],
      },
      tests: {
        // The running extension has the ID, and the editor allows each but once.
        createTestController: (id: string, label: string) => {
          show('test view', label);
          return vscode.tests.createTestController(path.basename(this.#folder) + id, label);
        },
      },
      languages: {
        createDiagnosticCollection: () => ({
          set: (_uri: vscode.Uri, found: readonly vscode.Diagnostic[]) => show('problems', found),
          clear: () => {},
          dispose: () => {},
        }),
        registerCodeLensProvider: registration('code lenses', 1),
        registerCodeActionsProvider: registration('code actions', 1),
      },
      workspace: {
        registerTextDocumentContentProvider: (scheme: string, provider: vscode.TextDocumentContentProvider) => {
          providers.set(scheme, provider);
          return new vscode.Disposable(() => {});
        },
        openTextDocument: async (asked: vscode.Uri | { content?: string }) => {
          if (!(asked instanceof vscode.Uri)) shown.push({ where: 'document', text: asked.content ?? '' });
          else if (asked.scheme === 'file') return vscode.workspace.openTextDocument(asked);
          const provider = asked instanceof vscode.Uri ? providers.get(asked.scheme) : undefined;
          if (!(asked instanceof vscode.Uri && provider)) return vscode.workspace.openTextDocument({ content: '' });
          const text = await provider.provideTextDocumentContent(asked, new vscode.CancellationTokenSource().token);
          // Raw data and what is compared line by line are in the words of their formats.
          if (asked.scheme !== 'rolecall') show('document', text);
          return { uri: asked, getText: () => text }; // With its text: nobody waits until it has changed to that.
        },
        onDidChangeConfiguration: this.#changed.event,
        getConfiguration: (section?: string) => {
          if (section !== 'rolecall') return vscode.workspace.getConfiguration(section);
          return {
            get: (name: string, fallback?: unknown) => this.settings.get(name) ?? fallback,
            inspect: (name: string) => ({ globalValue: this.settings.get(name) }),
            update: async (name: string, value: unknown) => this.configure({ [name]: value }),
          };
        },
      },
      env: {
        // Its dates and numbers have no Latin letters.
        language: 'el',
        openExternal: async (uri: vscode.Uri) => this.opened.push(uri.toString(true)) > 0,
        asExternalUri: async (uri: vscode.Uri) => uri,
        clipboard: { writeText: async () => {}, readText: async () => '' },
      },
    };
    const members = Object.getOwnPropertyDescriptors(vscode as object) as PropertyDescriptorMap;
    for (const [name, values] of Object.entries(replaced)) {
      const base = (vscode as unknown as Record<string, object>)[name] ?? {};
      const value = Object.create(base, Object.getOwnPropertyDescriptors(values));
      members[name] = { value, enumerable: true };
    }
    return Object.defineProperties({}, members);
  }

  /** A list or a box that the user answers as soon as it is shown. */
  #createBox(): object {
    const changed = new vscode.EventEmitter<string>();
    const accepted = new vscode.EventEmitter<void>();
    const hidden = new vscode.EventEmitter<void>();
    const box = {
      value: '',
      items: [] as readonly vscode.QuickPickItem[],
      selectedItems: [] as readonly vscode.QuickPickItem[],
      onDidChangeValue: changed.event,
      onDidAccept: accepted.event,
      onDidHide: hidden.event,
      show: () =>
        queueMicrotask(() => {
          box.value = this.answers.type({}) ?? '';
          changed.fire(box.value);
          const picked = this.answers.pick(box.items);
          box.selectedItems = picked ? [picked] : [];
          accepted.fire();
          hidden.fire();
        }),
      hide: () => {},
      dispose: () => {},
    };
    return box;
  }

  #createPanel(title: string): unknown {
    this.show('page', title);
    const received = new vscode.EventEmitter<unknown>();
    const disposed = new vscode.EventEmitter<void>();
    const none = () => new vscode.Disposable(() => {});
    const editor = this;
    const panel = {
      title,
      visible: true,
      active: true,
      onDidChangeViewState: none,
      onDidDispose: disposed.event,
      reveal: () => {},
      dispose: () => disposed.fire(),
      webview: {
        onDidReceiveMessage: received.event,
        asWebviewUri: (uri: vscode.Uri) => uri,
        postMessage: async (posted: unknown) => editor.#showPosted(posted),
        set html(text: string) {
          editor.show('page', text.replace(/<[^>]*>/g, ' ').trim());
        },
      },
    };
    // Either page understands the number of its own version alone.
    for (const version of [1, 2, 3, 4, 5]) {
      queueMicrotask(() => received.fire({ version, type: 'ready', mode: 'groups' }));
    }
    return panel;
  }

  /** Every text of a message to a page. */
  #showPosted(value: unknown, key = ''): void {
    if (typeof value === 'string' && !['type', 'kind', 'mode', 'locale', 'connection'].includes(key)) {
      this.show(`page.${key}`, value);
    }
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    for (const [name, member] of Object.entries(value)) {
      if (!['keys', 'kinds', 'states'].includes(name)) this.#showPosted(member, Array.isArray(value) ? key : name);
    }
  }
}

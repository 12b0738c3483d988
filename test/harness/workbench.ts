import fs from 'node:fs';
import path from 'node:path';
import { type BrowserContext, test as base, type Locator, type Page } from '@playwright/test';
import { lighterPage, viewport } from '../../scripts/editor/browser.ts';
import { builtinExtensions } from '../../scripts/editor/install.ts';
import { quietSettings } from '../../scripts/editor/quietSettings.ts';
import { installVsix, type ServedEditor, serveEditor } from '../../scripts/editor/serve.ts';
import { installUnpacked, packVsix } from '../../scripts/extension.ts';
import { at, freshFolder } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
import { connectionFolderName, stateRoot, thisMachine } from '../../src/core/oauth/rotation/statePaths.ts';
import { tidyUp } from './actions.ts';
import { enterSandbox } from './signIn.ts';
import { showOwnView } from './views.ts';

export interface WorkbenchOptions {
  /**
   * Copied, so that a test may write into it; the example unless set. A `.code-workspace` file is copied with its
   * folder.
   */
  readonly folder?: string;
  /** Added to `quietSettings`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Flags of a sandbox that Try the Sandbox attaches to; absent: it starts its own. */
  readonly sandbox?: readonly string[];
  /** That sandbox plays the user's own services instead; the client secret is typed where it is asked for. */
  readonly isConfigured?: boolean;
  /** False: the folder opens in Restricted Mode. Default true. */
  readonly trust?: boolean;
  /** Installs Rolecall's VSIX, as a user does, instead of copying its content. */
  readonly vsix?: boolean;
  /** Folders of other extensions. */
  readonly otherExtensions?: readonly string[];
  /** Which built-in extensions to load: `builtin` unless set. Every window takes time for each. */
  readonly builtin?: readonly string[] | 'all';
  /** False: Rolecall's view is not opened, so it is unknown when the extension runs. Default true. */
  readonly showsView?: boolean;
}

/** The extensions for the files of the example: colors, JSON with its schemas, Markdown and Python. */
export const builtin: readonly string[] = [
  'theme-defaults',
  'json',
  'json-language-features',
  'markdown-basics',
  'markdown-language-features',
  'python',
];

/** The options of a window that many suites share, one after the other: `WorkbenchLauncher.inSandbox`. */
export const shared = {
  // Answers come at once. A test of an answer in progress holds it with a fault.
  sandbox: ['--groups', '10000', '--roles', '200', '--pace-ms', '0'],
  // Another agent, for what others may ask of Rolecall's tools.
  otherExtensions: [at('test', 'e2e', 'rolecall-tests.outsider-0.0.1')],
  // For a suite that makes the folder a repository.
  settings: { 'git.enabled': true },
  builtin: [...builtin, 'git', 'git-base', 'mermaid-markdown-features', 'yaml'],
} as const satisfies WorkbenchOptions;

/** A window of the real editor in a new profile. */
export class Workbench {
  /** The first window. */
  page!: Page;
  readonly context: BrowserContext;
  /** The profile's folder on disk: the editor's folders, and the copy of the open folder. */
  readonly profile: string = freshFolder('profile');
  /** Where the windows of this user share the session with the configured services. */
  readonly sessionFolder: string | undefined;
  readonly #sandbox: RunningSandbox | undefined;
  readonly #options: WorkbenchOptions;
  readonly #folder: string;
  #editor: ServedEditor | undefined;
  #port: number;

  constructor(context: BrowserContext, port: number, options: WorkbenchOptions, sandbox: RunningSandbox | undefined) {
    this.context = context;
    this.#port = port;
    this.#options = options;
    this.#sandbox = sandbox;
    this.#folder = copyOf(options.folder ?? at('examples', 'workspace'), this.profile);
    if (options.isConfigured) {
      const { identity, clients } = this.sandbox.descriptor;
      this.sessionFolder = path.join(stateRoot(thisMachine()), connectionFolderName(identity, clients.loopback.id));
    }
  }

  /** The copy that is open: a folder or a `.code-workspace` file. */
  get folder(): string {
    return this.#folder;
  }

  get userDataDir(): string {
    return path.join(this.profile, 'user');
  }

  get extensionsDir(): string {
    return path.join(this.profile, 'extensions');
  }

  get #builtinDir(): string {
    return path.join(this.profile, 'builtin');
  }

  get sandbox(): RunningSandbox {
    if (this.#sandbox === undefined) throw new Error('This workbench was opened without a sandbox of its own.');
    return this.#sandbox;
  }

  get isShared(): boolean {
    return this.#options.sandbox === shared.sandbox;
  }

  get port(): number {
    return this.#port;
  }

  async install(): Promise<void> {
    const { vsix, otherExtensions = [], builtin: own = builtin } = this.#options;
    if (own !== 'all') {
      fs.mkdirSync(this.#builtinDir, { recursive: true });
      for (const name of own) fs.symlinkSync(path.join(builtinExtensions, name), path.join(this.#builtinDir, name));
    }
    for (const folder of otherExtensions) {
      fs.cpSync(folder, path.join(this.extensionsDir, path.basename(folder)), { recursive: true });
    }
    if (vsix) {
      await installVsix(this.userDataDir, this.extensionsDir, await packVsix());
    } else {
      installUnpacked(this.extensionsDir);
    }
  }

  /**
   * Serves the editor and opens the first window. A second call after `close` is a restart: profile and browser keep
   * their state.
   */
  async open(): Promise<Page> {
    const { settings, isConfigured, trust = true, builtin: own } = this.#options;
    this.#editor = await serveEditor({
      userDataDir: this.userDataDir,
      extensionsDir: this.extensionsDir,
      port: this.#port,
      folder: this.#folder,
      trust,
      extraArgs: own === 'all' ? [] : ['--builtin-extensions-dir', this.#builtinDir],
      settings: { ...quietSettings, ...settings, ...(isConfigured ? this.#services() : {}) },
      env:
        this.#sandbox === undefined || isConfigured
          ? {}
          : { ROLECALL_SANDBOX: JSON.stringify(this.#sandbox.descriptor) },
    });
    this.#port = this.#editor.port;
    this.page = await this.openWindow();
    return this.page;
  }

  /** Another window of the same editor on the same folder: a tab. */
  async openWindow(): Promise<Page> {
    const page = await this.context.newPage();
    await page.goto(this.#editor?.url ?? '');
    await page.locator('.monaco-workbench .statusbar-item').first().waitFor();
    if (this.#options.showsView ?? true) await showOwnView(page);
    return page;
  }

  /** Writes more user settings, as a user does in the file. */
  changeSettings(values: Readonly<Record<string, unknown>>): void {
    const file = path.join(this.userDataDir, 'User', 'settings.json');
    const written = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
    fs.writeFileSync(file, JSON.stringify({ ...written, ...values }, undefined, 2));
  }

  /**
   * Writes out/screenshots/NAME.png: the whole window, or a part of it. Only if somebody looks at them, because drawing
   * takes time.
   */
  async screenshot(name: string, part: Page | Locator = this.page): Promise<void> {
    if (process.env.ROLECALL_SCREENSHOTS === undefined) return;
    await part.screenshot({ path: at('out', 'screenshots', `${name}.png`) });
  }

  /** Closes the windows and the editor. What they leave behind stays. */
  async close(): Promise<void> {
    // What a window keeps is written while it closes.
    for (const page of this.context.pages()) await page.close({ runBeforeUnload: false });
    await this.#editor?.stop();
    this.#editor = undefined;
  }

  /** Ends and deletes everything. */
  async remove(): Promise<void> {
    await this.close();
    await this.#sandbox?.stop();
    for (const folder of [this.profile, this.sessionFolder]) {
      if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
    }
  }

  #services(): Record<string, unknown> {
    const { identity, inference, clients, organizations } = this.sandbox.descriptor;
    return {
      'rolecall.identity.url': identity,
      'rolecall.identity.clientId': clients.loopback.id,
      'rolecall.identity.redirectUri': clients.loopback.redirectUri,
      'rolecall.inference.url': inference,
      'rolecall.organizations': organizations.slice(0, 1),
    };
  }
}

/** Opens one workbench after the other. */
export interface WorkbenchLauncher {
  /** Closes the previous one. */
  open(options?: WorkbenchOptions): Promise<Workbench>;
  /**
   * A window in the sandbox, as its administrator: the open one, tidied up, if it is a `shared` one; else a new one.
   */
  inSandbox(): Promise<Workbench>;
  /**
   * For an editor that the test starts itself, at this port (0: any): the browser without a workbench, and without the
   * data of earlier ones.
   */
  clear(): Promise<{ readonly context: BrowserContext; readonly port: number }>;
}

/**
 * Playwright's test with a desk for each worker. All its workbenches have one address in one browser, so that what the
 * browser has loaded and compiled of the editor is used again; its data about the user is deleted in between.
 */
export const test = base.extend<object, { desk: WorkbenchLauncher }>({
  desk: [
    async ({ browser }, use) => {
      const context = await browser.newContext({
        viewport,
        locale: 'en-US',
        reducedMotion: 'reduce',
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      context.setDefaultTimeout(60_000);
      await context.addInitScript(lighterPage);
      let port = 0;
      let workbench: Workbench | undefined;
      const clear = async () => {
        await workbench?.remove();
        workbench = undefined;
        if (port !== 0) await forget(context, port);
        return { context, port };
      };
      const open = async (options: WorkbenchOptions = {}): Promise<Workbench> => {
        await clear();
        const sandbox = options.sandbox && (await startSandbox(options.sandbox));
        workbench = new Workbench(context, port, options, sandbox);
        await workbench.install();
        await workbench.open();
        port = workbench.port;
        return workbench;
      };
      const inSandbox = async (): Promise<Workbench> => {
        // A worker whose test failed is replaced: what was left here was left in order.
        if (workbench?.isShared) {
          await tidyUp(workbench.page);
          await showOwnView(workbench.page);
          return workbench;
        }
        const opened = await open(shared);
        await enterSandbox(opened);
        return opened;
      };
      await use({ open, inSandbox, clear });
      await workbench?.remove();
      await context.close();
    },
    { scope: 'worker', timeout: 5 * 60_000 },
  ],
});

/** Deletes a browser's data of an address, except what it has loaded. */
async function forget(context: BrowserContext, port: number): Promise<void> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', {
    origin: `http://127.0.0.1:${port}`,
    storageTypes: 'cookies,file_systems,indexeddb,local_storage,websql,cache_storage,storage_buckets',
  });
  await context.clearCookies();
  await page.close();
}

function copyOf(source: string, parent: string): string {
  const isFile = fs.statSync(source).isFile();
  const from = isFile ? path.dirname(source) : source;
  const copy = path.join(parent, path.basename(from));
  fs.cpSync(from, copy, { recursive: true });
  return isFile ? path.join(copy, path.basename(source)) : copy;
}

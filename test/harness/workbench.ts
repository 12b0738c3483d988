import fs from 'node:fs';
import path from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser, viewport } from '../../scripts/editor/browser.ts';
import { quiet } from '../../scripts/editor/quiet.ts';
import { installVsix, type ServedEditor, serveEditor } from '../../scripts/editor/serve.ts';
import { installUnpacked, packVsix } from '../../scripts/extension.ts';
import { at, freshFolder } from '../../scripts/paths.ts';
import type { RunningSandbox } from '../../scripts/sandbox.ts';
import { connectionFolderName, stateRoot, thisMachine } from '../../src/core/oauth/rotation/statePaths.ts';

/** What survives a restart: the editor's folders, its port (the browser keeps secrets by origin), and the browser's storage. */
export interface Profile {
  readonly folder: string;
  port: number;
  storage: Awaited<ReturnType<BrowserContext['storageState']>> | undefined;
  /** In the user's home, where the windows of all profiles agree on the session: of the services this run has talked to. */
  readonly stateFolders: Set<string>;
  /** Deletes it from disk. */
  remove(): void;
}

export interface WorkbenchOptions {
  /** Copied, so that a test may write into it; absent: no folder is open. A `.code-workspace` file is copied with its folder. */
  readonly folder?: string;
  /** Over the quiet ones. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Given to several workbenches in turn, it makes the later ones restarts of the first. Absent: a fresh one. */
  readonly profile?: Profile;
  /** How Rolecall gets there: the files of the VSIX copied (quick, the default), the VSIX installed, or not at all. */
  readonly extension?: 'unpacked' | 'vsix' | 'none';
  /** Handed to the extension, which then attaches to it instead of starting its own. */
  readonly sandbox?: RunningSandbox;
  /** False: the folder opens in Restricted Mode. Default true. */
  readonly trust?: boolean;
  /** Added to the environment of the server and the extension host. */
  readonly env?: NodeJS.ProcessEnv;
  readonly extraArgs?: readonly string[];
}

export interface Workbench {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The copy that is open. */
  readonly folder: string | undefined;
  readonly editor: ServedEditor;
  readonly userDataDir: string;
  readonly extensionsDir: string;
  /** Another window of the same editor on the same folder: a second tab. */
  openWindow(): Promise<Page>;
  /** out/screenshots/NAME.png. */
  screenshot(name: string, page?: Page): Promise<void>;
  /** Ends browser and editor. A profile of the caller's is kept, with what the browser stored. */
  stop(): Promise<void>;
}

/** For the picture of a failed test. */
export const openWorkbenches = new Set<Workbench>();

/** A profile that outlives a workbench. */
export function newProfile(): Profile {
  const folder = freshFolder('profile');
  const stateFolders = new Set<string>();
  return {
    folder,
    port: 0,
    storage: undefined,
    stateFolders,
    remove: () => {
      for (const each of [folder, ...stateFolders]) fs.rmSync(each, { recursive: true, force: true });
    },
  };
}

/** Serves a workbench with Rolecall installed as a person would have it, and opens it in a browser. */
export async function openWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const profile = options.profile ?? newProfile();
  const { 'rolecall.identity.url': identity, 'rolecall.identity.clientId': client } = options.settings ?? {};
  if (identity !== undefined) {
    const name = connectionFolderName(String(identity), String(client ?? ''));
    profile.stateFolders.add(path.join(stateRoot(thisMachine()), name));
  }
  const userDataDir = path.join(profile.folder, 'user');
  const extensionsDir = path.join(profile.folder, 'extensions');
  const folder = options.folder === undefined ? undefined : copyOf(options.folder, profile.folder);
  await install(options.extension ?? 'unpacked', userDataDir, extensionsDir);
  const editor = await serveEditor({
    userDataDir,
    extensionsDir,
    port: profile.port,
    trust: options.trust ?? true,
    settings: { ...quiet, ...options.settings },
    env: {
      ...(options.sandbox === undefined ? {} : { ROLECALL_SANDBOX: JSON.stringify(options.sandbox.descriptor) }),
      ...options.env,
    },
    ...(folder === undefined ? {} : { folder }),
    ...(options.extraArgs === undefined ? {} : { extraArgs: options.extraArgs }),
  });
  profile.port = editor.port;
  const browser = await launchBrowser();
  const context = await browser.newContext({
    viewport,
    locale: 'en-US',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(profile.storage === undefined ? {} : { storageState: profile.storage }),
  });
  // Generous: the machine may be busy, and nothing waits longer than it has to.
  context.setDefaultTimeout(45_000);
  let workbench: Workbench | undefined;
  const end = async (): Promise<void> => {
    if (workbench !== undefined) {
      openWorkbenches.delete(workbench);
    }
    if (options.profile !== undefined) {
      profile.storage = await context.storageState({ indexedDB: true });
    }
    await browser.close();
    await editor.stop();
    if (options.profile === undefined) {
      profile.remove();
    }
  };
  let ended: Promise<void> | undefined;
  // A test may stop it to see what is left; the hook after it stops it again.
  const stop = (): Promise<void> => {
    ended ??= end();
    return ended;
  };
  const openWindow = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(editor.url);
    await page.locator('.monaco-workbench .statusbar-item').first().waitFor({ timeout: 60_000 });
    return page;
  };
  try {
    const page = await openWindow();
    const screenshot = async (name: string, of: Page = page): Promise<void> => {
      await of.screenshot({ path: at('out', 'screenshots', `${name}.png`) });
    };
    workbench = { page, context, folder, editor, userDataDir, extensionsDir, openWindow, screenshot, stop };
    openWorkbenches.add(workbench);
    return workbench;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function install(how: 'unpacked' | 'vsix' | 'none', userDataDir: string, extensionsDir: string): Promise<void> {
  if (how === 'unpacked') {
    installUnpacked(extensionsDir);
  } else if (how === 'vsix') {
    await installVsix(userDataDir, extensionsDir, await packVsix());
  }
}

function copyOf(source: string, parent: string): string {
  const isFile = fs.statSync(source).isFile();
  const from = isFile ? path.dirname(source) : source;
  const copy = path.join(parent, path.basename(from));
  // A restart finds what the test left there.
  if (!fs.existsSync(copy)) {
    fs.cpSync(from, copy, { recursive: true });
  }
  return isFile ? path.join(copy, path.basename(source)) : copy;
}

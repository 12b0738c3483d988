import fs from 'node:fs';
import path from 'node:path';
import { format } from 'node:util';
import { at, freshFolder } from '../paths.ts';
import type { Write } from '../run.ts';
import { launchBrowser, lighterPage } from './browser.ts';
import { serveEditor } from './serve.ts';

export interface HostRun {
  /** Environment of the extension host. */
  readonly env: NodeJS.ProcessEnv;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Copied before it is opened. */
  readonly workspace: string;
  readonly limitMs: number;
  /** Receives the suite's report. Absent: it is printed. */
  readonly write?: Write | undefined;
}

/** The prefix of each line of the suite's own report, which distinguishes it from the workbench's log. */
const mark = '⟦rolecall⟧ ';

/**
 * Runs out/test/host/index.cjs inside the served editor's extension host, with the project as extension under development,
 * and gives the suite's exit code, or undefined when none came within the limit. The suite's report is printed as it comes;
 * everything the workbench and the server said is kept in out/results/host.log.
 */
export async function runInServedEditor(run: HostRun): Promise<number | undefined> {
  const folder = freshFolder('host');
  const { write = (text) => process.stdout.write(text) } = run;
  // The built-in extensions are left out: the suite starts in half the time, and nothing of theirs answers in our place.
  const builtin = path.join(folder, 'builtin');
  const workspace = path.join(folder, 'workspace');
  fs.mkdirSync(builtin);
  fs.cpSync(run.workspace, workspace, { recursive: true });
  const serving = serveEditor({
    userDataDir: path.join(folder, 'user'),
    extensionsDir: path.join(folder, 'extensions'),
    folder: workspace,
    env: { ...run.env, ROLECALL_MARK: mark },
    settings: run.settings,
    trust: true,
    // Without this option the workbench ignores the payload.
    extraArgs: ['--vscode-option', 'enable-smoke-test-driver', '--builtin-extensions-dir', builtin],
  });
  const [editor, browser] = await Promise.all([serving, launchBrowser()]);
  const logged: string[] = [];
  try {
    // Nobody looks at it.
    const page = await browser.newPage({ reducedMotion: 'reduce', viewport: { width: 640, height: 480 } });
    await page.addInitScript(lighterPage);
    const exit = new Promise<number>((resolve, reject) => {
      void page.exposeFunction('codeAutomationExit', (code: number) => resolve(code));
      // Nothing more would come from a browser that has crashed.
      browser.on('disconnected', () => reject(new Error('The browser of the host tests ended before them.')));
      page.on('crash', () => reject(new Error('The page of the host tests crashed.')));
    });
    exit.catch(() => {}); // `within` reports it, unless the page could not even be opened.
    await page.exposeFunction('codeAutomationLog', (type: string, values: unknown[]) => {
      const text = format(...values);
      logged.push(`[${type}] ${text}`);
      if (text.startsWith(mark)) {
        write(`${text.slice(mark.length)}\n`);
      }
    });
    const remote = (file: string): string => `vscode-remote://127.0.0.1:${editor.port}${file}`;
    const payload = [
      ['extensionDevelopmentPath', remote(at())],
      ['extensionTestsPath', remote(at('out', 'test', 'host', 'index.cjs'))],
    ];
    await page.goto(`${editor.url}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
    return await within(exit, run.limitMs);
  } finally {
    fs.mkdirSync(at('out', 'results'), { recursive: true });
    fs.writeFileSync(at('out', 'results', 'host.log'), `${logged.join('\n')}\n\n${editor.output()}`);
    await browser.close();
    await editor.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    limit = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(limit);
  }
}

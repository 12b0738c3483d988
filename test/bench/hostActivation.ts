import fs from 'node:fs';
import path from 'node:path';
import { launchBrowser } from '../../scripts/editor/browser.ts';
import { quietSettings } from '../../scripts/editor/quietSettings.ts';
import { serveEditor } from '../../scripts/editor/serve.ts';
import { installUnpacked } from '../../scripts/extension.ts';
import { freshFolder } from '../../scripts/paths.ts';
import { extensionId } from '../../src/ids.ts';

/** The authentication extension that comes with the editor. */
const rivalId = 'vscode.github-authentication';

/** What an extension cost the extension host. */
export interface HostActivation {
  /** Reading and evaluating its code, in whole milliseconds. */
  readonly loadMs: number;
  /** Its `activate`, until what that returns is settled, in whole milliseconds. */
  readonly activateMs: number;
  /** JavaScript that was read by then, in bytes. */
  readonly bytes: number;
  /** The same some seconds later, with what it went on to read by itself. */
  readonly bytesSettled: number;
}

const LIMIT_MS = 120_000;

/**
 * Starts the served editor in a fresh profile with Rolecall installed as it is shipped. The figures are the host's own: the
 * marks of which it makes what "Developer: Show Running Extensions" shows. The editor asks for accounts as soon as its host
 * runs, which activates the other extension; Rolecall is activated in the same moments, not after them.
 */
export async function activateInHost(): Promise<Readonly<Record<'ours' | 'rival', HostActivation>>> {
  const folder = freshFolder('bench');
  const extensionsDir = path.join(folder, 'extensions');
  const result = path.join(folder, 'activation.json');
  installUnpacked(extensionsDir);
  installProbe(path.join(extensionsDir, 'rolecall.probe-1.0.0'));
  const editor = await serveEditor({
    userDataDir: path.join(folder, 'user'),
    extensionsDir,
    settings: quietSettings,
    trust: true,
    env: { ROLECALL_PROBE: JSON.stringify({ ids: [extensionId, rivalId], result }) },
  });
  const browser = await launchBrowser();
  try {
    await (await browser.newPage()).goto(editor.url);
    const { [extensionId]: ours, [rivalId]: rival } = await written(result);
    if (!ours || !rival) throw new Error('The extension host did not tell of both extensions.');
    return { ours, rival };
  } finally {
    await browser.close();
    await editor.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** An extension that activates the others as soon as the host runs. */
function installProbe(folder: string): void {
  const manifest = {
    ...{ name: 'probe', publisher: 'rolecall', version: '1.0.0', engines: { vscode: '^1.100.0' } },
    ...{ main: './probe.cjs', activationEvents: ['*'] },
  };
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  fs.copyFileSync(path.join(import.meta.dirname, 'hostProbe.cjs'), path.join(folder, 'probe.cjs'));
}

async function written(file: string): Promise<Record<string, HostActivation>> {
  const late = Date.now() + LIMIT_MS;
  while (!fs.existsSync(file)) {
    if (Date.now() > late) throw new Error(`The extension host told nothing within ${LIMIT_MS / 1000} s.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const { error, ...found } = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (error !== undefined) throw new Error(`The extension host could not activate both extensions: ${error}`);
  return found;
}

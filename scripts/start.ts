// npm start -- [options]: builds Rolecall and opens a real editor with it, beside a sandbox cloud or with real services.
// Everything that was started ends with Ctrl-C, or when the editor is closed.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildProduction, sizeLines } from '../esbuild.mjs';
import { chooseEditor } from './editor/chooseHost.ts';
import { findDesktopCommand, hostFacts } from './editor/findDesktop.ts';
import { at } from './paths.ts';
import { endAll } from './processes.ts';
import { startSandbox } from './sandbox.ts';
import { openDesktop, openServed, type StartProfile } from './startEditors.ts';
import { writeSettings } from './startSettings.ts';

const usage = `Usage: npm start -- [options]
  --editor PATH        this editor instead of code, code-insiders or codium on PATH
  --served             the editor in a browser, also where there is a desktop one
  --port N             the port of the served editor
  --profile FOLDER     where settings and state are kept; by default below out/start
  --no-open            only say the address of the served editor
  --identity URL --inference URL [--client-id ID] [--redirect-uri URI]
                       your own services instead of a sandbox`;

const flags = {
  editor: { type: 'string' },
  served: { type: 'boolean', default: false },
  port: { type: 'string' },
  profile: { type: 'string' },
  'no-open': { type: 'boolean', default: false },
  identity: { type: 'string' },
  inference: { type: 'string' },
  'client-id': { type: 'string' },
  'redirect-uri': { type: 'string' },
} as const;

function readCommandLine() {
  const { values } = parseArgs({ options: flags });
  if ((values.identity === undefined) !== (values.inference === undefined)) {
    throw new Error('--identity and --inference belong together.');
  }
  if (values.identity === undefined && (values['client-id'] ?? values['redirect-uri']) !== undefined) {
    throw new Error('--client-id and --redirect-uri belong to --identity and --inference.');
  }
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port)) {
    throw new Error(`--port wants a number, not “${values.port}”.`);
  }
  return values;
}

async function main(): Promise<void> {
  let asked: ReturnType<typeof readCommandLine>;
  try {
    asked = readCommandLine();
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
  // Ctrl-C is how this is meant to end: no error.
  process.on('SIGINT', () => void endAll(0));

  const editor = chooseEditor({
    asked: asked.editor,
    servedAsked: asked.served,
    found: findDesktopCommand(),
    platform: process.platform,
    display: hostFacts(false).display,
  });
  if (editor.kind === 'none') {
    console.error(editor.reason);
    process.exit(1);
  }

  console.log(`Built ${sizeLines(await buildProduction()).join(', ')}.`);
  const profile = await prepare(asked);
  const { closed } =
    editor.kind === 'desktop'
      ? openDesktop(editor.command, profile)
      : await openServed(profile, { port: asked.port, open: !asked['no-open'] });
  console.log('Ctrl-C ends everything that was started here.');
  console.log(await closed);
  await endAll(0);
}

/** A profile of its own for the sandbox and one for real services: neither sees the other's settings and sessions. */
async function prepare(asked: ReturnType<typeof readCommandLine>): Promise<StartProfile> {
  const isSandbox = asked.identity === undefined;
  const folder = path.resolve(asked.profile ?? at('out', 'start', isSandbox ? 'sandbox' : 'services'));
  const profile = { folder, userDataDir: path.join(folder, 'user'), extensionsDir: path.join(folder, 'extensions') };
  fs.mkdirSync(profile.userDataDir, { recursive: true });
  writeSettings(profile.userDataDir, {
    'rolecall.identity.url': asked.identity,
    'rolecall.inference.url': asked.inference,
    'rolecall.identity.clientId': asked['client-id'],
    'rolecall.identity.redirectUri': asked['redirect-uri'],
  });
  console.log(`Settings and state: ${folder}`);
  if (!isSandbox) {
    console.log(`Services: ${asked.identity} (identity), ${asked.inference} (inference). No sandbox.`);
    return { ...profile, env: {} };
  }
  const { descriptor } = await startSandbox();
  console.log(`Sandbox: ${descriptor.identity} (identity), ${descriptor.inference} (inference).`);
  console.log('In the editor: the Rolecall view, Try the Sandbox.');
  return { ...profile, env: { ROLECALL_SANDBOX: JSON.stringify(descriptor) } };
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  await endAll(1);
}

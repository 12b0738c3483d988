// npm start -- [options]: builds Rolecall and opens a real editor with it, beside a sandbox cloud or with real services.
// Everything that was started ends with Ctrl-C, or when the editor is closed.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildProduction } from '../esbuild.mjs';
import { chooseEditor } from './editor/chooseHost.ts';
import { hostFacts } from './editor/findDesktop.ts';
import { installEditor } from './editor/install.ts';
import { findDesktopCommand } from './find.mjs';
import { at, root } from './paths.ts';
import { endAll } from './processes.ts';
import { startDemo } from './sandbox.ts';
import { openDesktop, openProfile, openServed } from './startEditors.ts';
import { writeSettings } from './startSettings.ts';
import { step } from './steps.mjs';

const usage = `Usage: npm start -- [options]
  --editor PATH        this editor instead of code, code-insiders or codium on PATH
  --served             the editor in a browser, also where there is a desktop one
  --port N             the port of the served editor
  --profile FOLDER     where settings, state and your copy of examples/workspace are kept, by default below out/start;
                       delete the folder to start over
  --no-open            only say the address of the served editor
  --identity URL --inference URL [--client-id ID] [--redirect-uri URI]
                       your own services instead of a sandbox`;

const firstSteps = `1. Select Try the Sandbox in the Rolecall view and sign in as one of its people.
2. The chat opens with a first prompt: press Enter.
3. Then ask in chat: @rolecall use the count_words tool on README.md`;

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

  await step('Extension and sandbox, built', buildProduction);
  if (editor.kind === 'served') {
    await installEditor();
  }
  // A profile of its own for the sandbox and one for real services: neither sees the other's settings and sessions.
  const isSandbox = asked.identity === undefined;
  const folder = path.resolve(asked.profile ?? at('out', 'start', isSandbox ? 'sandbox' : 'services'));
  const sandbox = isSandbox ? (await step('Sandbox cloud, started', () => startDemo())).descriptor : undefined;
  const profile = openProfile(folder, {
    ROLECALL_SHOW_VIEW: 'true',
    ...(sandbox && { ROLECALL_SANDBOX: JSON.stringify(sandbox) }),
  });
  writeSettings(profile.userDataDir, {
    'rolecall.identity.url': asked.identity,
    'rolecall.inference.url': asked.inference,
    'rolecall.identity.clientId': asked['client-id'],
    'rolecall.identity.redirectUri': asked['redirect-uri'],
  });
  const { name, closed } =
    editor.kind === 'desktop'
      ? openDesktop(editor.command, profile)
      : await step('Editor, served', () => openServed(profile, { port: asked.port, open: !asked['no-open'] }));

  const inside = path.relative(root, folder);
  const services = sandbox ?? { identity: asked.identity, inference: asked.inference };
  console.log(`
Editor: ${name}
${isSandbox ? 'Sandbox' : 'Services'}: ${services.identity} (identity), ${services.inference} (inference)
Files: ${inside.startsWith('..') ? folder : inside} (settings, state and a copy of examples/workspace; delete it to start over)

${isSandbox ? firstSteps : 'Press Sign In in the Rolecall view.'}
Ctrl-C ends everything that was started here.`);
  console.log(await closed);
  await endAll(0);
}

try {
  await main();
} catch (error) {
  console.error((error as Error).message);
  await endAll(1);
}

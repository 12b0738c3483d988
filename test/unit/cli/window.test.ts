import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { readConfiguration } from '../../../src/cli/configuration.ts';
import { servicesOfWindow } from '../../../src/cli/servicesOfWindow.ts';
import type { RolecallError } from '../../../src/core/base/errors.ts';
import { SecretSearch } from '../../harness/secretSearch.ts';
import { silentLog } from '../../support/silentLog.ts';
import { eventually } from '../core/eventually.ts';
import { signInOf, TOKEN, World } from '../core/oauth/joining/world.ts';
import { useCommandLine } from './harness.ts';

const resource = (id: string, name: string) => ({
  id,
  name,
  creationTime: '2025-01-01T00:00:00Z',
  provisioningStatus: 'provisioned',
  healthStatus: 'healthy',
});

describe('the command line and a window', function () {
  this.timeout(60_000);
  const commandLine = useCommandLine();
  let world: World;

  beforeEach(() => {
    world = new World();
    world.network = async (input) => {
      const url = String(input);
      if (url.endsWith('/groups')) {
        const spec = { userIDs: ['eve'], serviceAccountIDs: [], roleIDs: ['r-1'] };
        return Response.json([{ metadata: { ...resource('g-1', 'ops'), organizationId: 'acme' }, spec }]);
      }
      if (url.endsWith('/roles')) return Response.json([{ metadata: resource('r-1', 'operator') }]);
      return Response.json({ data: [{ id: 'model-1' }] });
    };
  });
  afterEach(() => world.close());

  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    commandLine.run(args, { env: { ROLECALL_STATE: world.state, ...more } });

  it('asks once, then answers with the window’s sign-in', async () => {
    await world.open();
    const first = await run(['who-has', 'operator']);
    assert.match(first.stdout, /^operator \(id r-1\) in acme: 1 user ID through 1 group\.\n/);
    const elsewhere =
      'No signed-in window has this folder open. Using ada at https://identity.example, from Code, in the window of /work.\n';
    const asking = 'Waiting for your permission in Code, in the window of /work…\n';
    assert.deepEqual([first.code, first.stderr], [0, asking + elsewhere]);
    const second = await run(['who-has', 'operator', '-o', 'ACME', '--json']);
    assert.equal(JSON.parse(second.stdout).organizations[0].organization, 'acme', 'by the name the window has');
    assert.deepEqual([second.code, second.stderr, world.asked], [0, elsewhere, 1]);
    const [claim] = world.claims;
    assert.deepEqual(claim, { command: 'rolecall who-has', folder: fs.realpathSync(commandLine.folder) });
    const whoami = await run(['whoami']);
    assert.equal(whoami.stdout, 'ada at https://identity.example\nSign-in: a window of Code\nOrganizations: acme\n');
    assert.equal((await run(['models'])).stdout, 'model-1\n');
  });

  it('ends with 3 where there is no window, nobody is signed in, or the user says no', async () => {
    const none = await run(['whoami']);
    assert.deepEqual([none.code, none.stdout], [3, '']);
    assert.match(none.stderr, /^error: No editor window is signed in\. Open one and sign in, or set ROLECALL_TOKEN/);
    await world.open();
    world.signIn = undefined;
    assert.equal((await run(['whoami'])).code, 3);
    world.signIn = signInOf();
    const other = await run(['whoami', '--identity-url', 'https://other.example']);
    assert.match(other.stderr, /No editor window is signed in to https:\/\/other\.example\./);
    world.answer = false;
    const refused = await run(['whoami']);
    assert.deepEqual([refused.code, refused.stdout], [3, '']);
    assert.match(refused.stderr, /error: You did not allow this program to use your sign-in\.\n$/);
  });

  it('chooses the window that has the current folder open', async () => {
    await world.open({ about: () => ({ editor: 'Here', folders: [commandLine.folder] }) });
    await world.open({ about: () => ({ editor: 'Elsewhere', folders: ['/elsewhere'] }) });
    const { stdout, stderr } = await run(['whoami']);
    assert.match(stdout, /a window of Here/);
    assert.match(stderr, /^Waiting for your permission in Here/);
    assert.equal((await run(['whoami'])).stderr, '');
  });

  it('chooses it by any of its names', async function () {
    if (process.platform === 'win32') this.skip();
    const link = path.join(world.state, 'link');
    fs.symlinkSync(commandLine.folder, link);
    await world.open({ about: () => ({ editor: 'Here', folders: [link] }) });
    await world.open({ about: () => ({ editor: 'Elsewhere', folders: ['/elsewhere'] }) });
    assert.match((await run(['whoami'])).stdout, /a window of Here/);
  });

  it('ends when nobody answers the question', async () => {
    await world.open();
    world.answer = new Promise(() => {});
    const joining = servicesOfWindow(
      {
        configuration: readConfiguration({}, {}),
        state: world.state,
        folder: commandLine.folder,
        address: undefined,
        command: 'rolecall check',
        log: silentLog,
        note: () => {},
        answerMs: 300,
      },
      new AbortController().signal,
    );
    await assert.rejects(joining, (error: RolecallError) => {
      assert.equal(error.kind, 'timeout');
      assert.match(error.message, /^The question in Code, in the window of \/work was not answered within 1 second\./);
      return true;
    });
  });

  it('asks the window that started it and no other', async () => {
    const own = await world.open({ about: () => ({ editor: 'Own', folders: [] }) });
    await world.open({ about: () => ({ editor: 'Other', folders: [commandLine.folder] }) });
    const ROLECALL_WINDOW = own.address ?? '';
    assert.match((await run(['whoami'], { ROLECALL_WINDOW })).stdout, /a window of Own/);
    await own.close();
    assert.equal((await run(['whoami'], { ROLECALL_WINDOW })).code, 3);
  });

  it('ends with 3 when the window closes in the middle, whatever was printed', async () => {
    const line = await world.open();
    await run(['whoami']);
    world.network = async () => {
      const text = { choices: [{ index: 0, delta: { content: 'the first half' }, finish_reason: null }] };
      const stream = new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from(`data: ${JSON.stringify(text)}\n\n`)),
      });
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    };
    const running = commandLine.start(['chat', 'x', '-m', 'm'], { env: { ROLECALL_STATE: world.state } });
    let printed = '';
    running.process.stdout.on('data', (text: string) => {
      printed += text;
    });
    await eventually(() => printed.includes('first half'));
    await line.close();
    const { code, stderr } = await running.ended;
    assert.equal(code, 3);
    assert.match(stderr, /error: The editor window closed before it responded/);
  });

  it('ends the window’s request at Ctrl-C, also while the user is asked', async () => {
    await world.open();
    world.answer = new Promise(() => {});
    const asking = commandLine.start(['whoami'], { env: { ROLECALL_STATE: world.state } });
    await eventually(() => world.asked === 1);
    asking.process.kill('SIGINT');
    assert.equal((await asking.ended).code, 130);
    world.answer = true;
    await run(['whoami']);
    let aborted = false;
    world.network = (_input, init) => {
      init?.signal?.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise(() => {});
    };
    const before = world.sent.length;
    const running = commandLine.start(['models'], { env: { ROLECALL_STATE: world.state } });
    await eventually(() => world.sent.length > before);
    running.process.kill('SIGKILL');
    await running.ended;
    await eventually(() => aborted);
  });

  it('has the window’s token nowhere: output, arguments, environment, files', async () => {
    await world.open();
    await run(['whoami']);
    const search = new SecretSearch([TOKEN]);
    const { network } = world;
    let seen = '';
    world.network = async (...request) => {
      const processes = process.platform === 'linux' ? fs.readdirSync('/proc') : [];
      for (const pid of processes.filter((name) => /^\d+$/.test(name))) {
        try {
          const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1');
          if (line.includes(commandLine.program)) seen += line + fs.readFileSync(`/proc/${pid}/environ`, 'latin1');
        } catch {
          // Ended meanwhile.
        }
      }
      return network(...request);
    };
    const shown = commandLine.start(['who-has', 'operator', '--verbose'], { env: { ROLECALL_STATE: world.state } });
    const { code, stdout, stderr } = await shown.ended;
    assert.equal(code, 0, stderr);
    if (process.platform === 'linux') assert.match(seen, /who-has/);
    assert.deepEqual(
      [seen, stdout, stderr].flatMap((text) => search.inText('what it showed', text)),
      [],
    );
    assert.deepEqual(search.inFolder(world.state), []);
    assert.ok(fs.existsSync(path.join(world.state, 'command-line', 'program.key')));
  });
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SecretSearch } from '../../harness/secretSearch.ts';
import { deferred } from '../core/deferred.ts';
import { eventually } from '../core/eventually.ts';
import { TOKEN, World } from '../core/oauth/joining/world.ts';
import { useSandbox } from '../sandbox/fixture.ts';
import { COMPILED, useCommandLine } from './harness.ts';

describe('the server for agents, through the official client', function () {
  this.timeout(60_000);
  const sandbox = useSandbox({ paceMs: 0 });
  const commandLine = useCommandLine();
  let client: Client;
  let transport: StdioClientTransport;
  let told: string;

  /** Started as an agent starts it. */
  async function connect(env: Record<string, string>): Promise<void> {
    transport = new StdioClientTransport({
      command: process.execPath,
      args: [commandLine.program, 'mcp', '--verbose'],
      env: { ...COMPILED, ...env },
      cwd: commandLine.folder,
      stderr: 'pipe',
    });
    told = '';
    transport.stderr?.on('data', (chunk: Buffer) => {
      told += chunk.toString();
    });
    client = new Client({ name: 'Agent <b>', version: '1' });
    await client.connect(transport);
  }

  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const text = (content as { type: string; text: string }[]).map((part) => part.text).join('');
    return { text, isError: isError === true };
  };

  describe('with a service token', () => {
    before(async () => {
      const { descriptor } = sandbox;
      const issued = await sandbox.control('POST', '/service-tokens', { person: descriptor.people[0]?.id });
      const { token } = (await issued.json()) as { token: string };
      await connect({
        ROLECALL_TOKEN: token,
        ROLECALL_IDENTITY_URL: descriptor.identity,
        ROLECALL_STATE: commandLine.folder,
      });
    });
    after(() => client.close());
    afterEach(() => sandbox.control('DELETE', '/faults'));

    it('offers the four access tools, read-only, with their schemas', async () => {
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['list_groups', 'list_roles', 'who_has_role', 'effective_access'],
      );
      for (const { annotations, description, inputSchema, title } of tools) {
        assert.equal(annotations?.readOnlyHint, true);
        assert.match(description ?? '', /Read-only\.$/);
        assert.equal(inputSchema.type, 'object');
        assert.doesNotMatch(title ?? '%', /%/);
      }
    });

    it('answers, and says what it could not read', async () => {
      const whole = await call('who_has_role', { role: 'administrator', organization: 'meridian' });
      assert.match(whole.text, /^administrator \(id .*\) in meridian: .*\n[\s\S]*ada\.moreau@meridian\.example/);
      await sandbox.fault({ service: 'identity', path: '/roles', kind: 'status', status: 403, times: 10 });
      const partial = await call('list_groups', { organization: 'meridian' });
      assert.match(partial.text, /INCOMPLETE: The roles could not be read\./);
      const nobody = await call('effective_access', { who: 'nobody.at.all', organization: 'meridian' });
      assert.match(nobody.text, /Nobody in the groups .*\nINCOMPLETE/);
    });

    it('names no organization to an agent that has not named one, and reads none that is not listed', async () => {
      const asked = await call('list_roles');
      assert.deepEqual(asked, {
        text: 'Rolecall could not answer: Ask the user which organization is meant, and call again with its id.',
        isError: true,
      });
      assert.equal((await call('list_roles', { organization: 'empty-nest' })).isError, true);
      assert.equal((await call('list_roles', { organization: 17 })).isError, true);
    });

    it('tells as much as fits', async () => {
      const { text } = await call('list_groups', { organization: 'big-sky' });
      assert.ok(text.length <= 12_000, `${text.length} characters`);
      assert.match(text, /left out for length: ask for something narrower\.\n$/);
    });

    it('knows no other tool', async () => {
      assert.deepEqual(await call('run_anything'), { text: 'There is no tool with this name.', isError: true });
    });
  });

  describe('with the sign-in of a window', () => {
    let world: World;
    let asked: unknown[];
    let shares: boolean;

    beforeEach(async () => {
      world = new World();
      asked = [];
      shares = true;
      world.network = async (input) =>
        String(input).endsWith('/roles')
          ? Response.json([
              {
                metadata: {
                  id: 'r-1',
                  name: 'operator',
                  creationTime: '2025-01-01T00:00:00Z',
                  provisioningStatus: 'provisioned',
                  healthStatus: 'healthy',
                },
              },
            ])
          : Response.json([]);
    });
    afterEach(async () => {
      await client.close();
      await world.close();
    });

    const open = () =>
      world.open({
        about: () => ({ editor: 'Code', folders: [commandLine.folder] }),
        calls: {
          share: async (input) => {
            asked.push(input);
            return shares;
          },
          listTools: async (input) => {
            asked.push(input);
            return [{ name: 'count_words', description: 'Counts.', parameters: { type: 'object', properties: {} } }];
          },
          callTool: async (input, signal) => {
            asked.push(input);
            if ((input as { arguments?: { hang?: boolean } }).arguments?.hang) {
              signal.addEventListener('abort', () => asked.push('stopped'));
              return new Promise(() => {});
            }
            return { content: '17', isError: false };
          },
        },
      });
    const start = () => connect({ ROLECALL_STATE: world.state });

    it('asks to share an organization before anything is read, in the name of the client', async () => {
      await open();
      await start();
      shares = false;
      const refused = await call('list_roles', { organization: 'acme' });
      assert.equal(refused.text, 'The user did not allow this. Nothing was read. Do not ask again.');
      assert.deepEqual(asked, [{ tool: 'list_roles', organization: 'acme', recipient: 'the MCP client "Agent <b>"' }]);
      assert.deepEqual(world.sent, []);
      shares = true;
      assert.match((await call('list_roles')).text, /^Roles of acme: 1\.\n/);
    });

    it('offers the tools of the workspace, and has the window run them', async () => {
      await open();
      await start();
      await eventually(async () => (await client.listTools()).tools.at(-1)?.name === 'count_words');
      assert.deepEqual(asked.at(-1), { folder: commandLine.folder });
      assert.deepEqual(await call('count_words', { file: 'a' }), { text: '17', isError: false });
      const { folder } = commandLine;
      assert.deepEqual(asked.at(-1), { folder, name: 'count_words', arguments: { file: 'a' } });
    });

    it('stops what the client cancels', async () => {
      await open();
      await start();
      const stop = new AbortController();
      const calling = client.callTool({ name: 'count_words', arguments: { hang: true } }, { signal: stop.signal });
      await eventually(() => asked.length === 1);
      stop.abort();
      await assert.rejects(calling);
      await eventually(() => asked.includes('stopped'));
    });

    it('lists without waiting for a permission, and tells of the rest when it comes', async () => {
      await open();
      const answer = deferred<boolean>();
      world.answer = answer.promise;
      await start();
      const changed = deferred<void>();
      client.setNotificationHandler('notifications/tools/list_changed', async () => changed.resolve());
      assert.equal((await client.listTools()).tools.length, 4);
      answer.resolve(true);
      await changed.promise;
      assert.equal((await client.listTools()).tools.length, 5);
      assert.equal(world.asked, 1);
    });

    it('asks a user who said no only once', async () => {
      await open();
      world.answer = false;
      await start();
      for (const name of ['list_roles', 'list_groups', 'count_words']) {
        assert.match((await call(name)).text, /You did not allow this program to use your sign-in/);
      }
      assert.equal((await client.listTools()).tools.length, 4);
      assert.equal(world.asked, 1);
    });

    it('says that there is no window, and finds one that opens later', async () => {
      await start();
      assert.match((await call('list_roles')).text, /No editor window is signed in/);
      assert.equal((await client.listTools()).tools.length, 4);
      const line = await open();
      assert.match((await call('list_roles')).text, /^Roles of acme/);
      await line.close();
      assert.equal((await call('list_roles')).isError, true);
      await open();
      assert.match((await call('list_roles')).text, /^Roles of acme/);
    });

    it('shows no token, and ends with its client', async () => {
      await open();
      await start();
      await call('list_roles');
      const pid = transport.pid;
      assert.ok(pid);
      const ofSystem = (file: string) =>
        process.platform === 'linux' ? fs.readFileSync(`/proc/${pid}/${file}`, 'latin1') : '';
      const texts = [ofSystem('cmdline'), ofSystem('environ'), told];
      assert.deepEqual(
        texts.flatMap((text) => new SecretSearch([TOKEN]).inText('the server', text)),
        [],
      );
      await client.close();
      await eventually(() => {
        try {
          process.kill(pid, 0);
          return false;
        } catch {
          return true;
        }
      });
    });
  });
});

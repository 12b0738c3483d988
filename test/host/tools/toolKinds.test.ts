// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { isCancelled, RolecallError } from '../../../src/core/base/errors.ts';
import { type ConsentRequest, ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { ToolFiles } from '../../../src/host/tools/toolFiles.ts';
import { prepareTool } from '../../../src/host/tools/toolKinds.ts';
import { WorkspaceTools } from '../../../src/host/tools/workspaceTools.ts';
import { languageModelTool, TOOL_FILE } from '../../../src/ids.ts';
import { notContaining } from '../support/containment.ts';
import { FakeLog, FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';
import { folder, workspaceFile } from '../support/workspace.ts';

const never = new AbortController().signal;

class FakeConsent extends ToolConsent {
  readonly asked: ConsentRequest[] = [];
  answer: () => boolean | Promise<boolean> = () => true;

  override async ask(question: ConsentRequest): Promise<boolean> {
    this.asked.push(question);
    return this.answer();
  }
}

describe('workspace tools of other kinds', () => {
  const patches = usePatches();
  const file = workspaceFile(TOOL_FILE);
  const disposables: vscode.Disposable[] = [];
  let consent: FakeConsent;
  let allowedHosts: string[];
  let tools: WorkspaceTools;

  beforeEach(() => {
    const log = new FakeLog();
    const files = new ToolFiles(log);
    disposables.push(files);
    consent = new FakeConsent(new FakeMemento());
    allowedHosts = [];
    tools = new WorkspaceTools({
      files,
      consent,
      settings: { allowedToolHosts: () => allowedHosts },
      containment: async () => notContaining,
      fetch,
      log,
    });
  });
  afterEach(() => vscode.Disposable.from(...disposables.splice(0)).dispose());

  const define = (run: Record<string, unknown>) =>
    file.write(
      JSON.stringify({
        tools: [
          {
            name: 'it',
            description: 'Does it.',
            parameters: { type: 'object', properties: { a: { description: 'A.' } } },
            run,
          },
        ],
      }),
    );
  const call = async (args: Record<string, unknown> = {}, signal = never) =>
    (await tools.open()).invoke({ id: 'c', name: 'it', arguments: args }, signal);
  const shown = () => consent.asked.at(-1)?.lines.map(({ kind, text }) => `${kind} ${text}`);

  describe('a command of the editor', () => {
    let got: unknown[][];
    let answer: (...args: unknown[]) => unknown;

    beforeEach(() => {
      got = [];
      answer = () => ({ done: true });
      const run = (...args: unknown[]) => {
        got.push(args);
        return answer(...args);
      };
      disposables.push(vscode.commands.registerCommand('toolKinds.test', run));
    });
    const run = { kind: 'command', command: 'toolKinds.test', arguments: [{ x: '${a}' }, 'is ${a}', '${a}'] };

    it('runs with the arguments that were shown, and gives its value', async () => {
      await define(run);
      const result = await call({ a: 7 });
      assert.deepEqual(result, { content: '{\n  "done": true\n}', isError: false });
      assert.deepEqual(got, [[{ x: 7 }, 'is 7', 7]]);
      assert.deepEqual(shown(), [
        'command "toolKinds.test"',
        'argument {"x":7}',
        'argument "is 7"',
        'argument 7',
        'timeout 60 s',
      ]);
    });

    it('does not run after a no', async () => {
      await define(run);
      consent.answer = () => false;
      await assert.rejects(call(), isCancelled);
      assert.deepEqual(got, []);
    });

    it('is asked for each time, with fixed arguments too: it may run what the workspace defines', async () => {
      await define({ kind: 'command', command: 'toolKinds.test', arguments: ['fixed'] });
      await call();
      const [{ always, permissions } = {}] = consent.asked;
      assert.deepEqual([always, permissions], ['never', { kind: 'editor' }]);
    });

    it('that is not there is said before anybody is asked', async () => {
      await define({ kind: 'command', command: 'toolKinds.absent' });
      await assert.rejects(call(), /no command "toolKinds\.absent"/);
      assert.deepEqual(consent.asked, []);
    });

    it('is not waited for after Stop and after its time', async () => {
      await define({ ...run, timeoutSeconds: 0.05 });
      answer = () => new Promise(() => {});
      await assert.rejects(call(), (error) => error instanceof RolecallError && error.kind === 'timeout');
      await define(run);
      const stop = new AbortController();
      answer = () => {
        stop.abort();
        return new Promise(() => {});
      };
      await assert.rejects(call({}, stop.signal), isCancelled);
    });

    it('of Rolecall itself is never offered', async () => {
      await define({ kind: 'command', command: 'rolecall.signOut' });
      assert.deepEqual((await tools.open()).tools, []);
    });
  });

  describe('a tool the editor knows', () => {
    const known = { name: 'mcp_a_b', description: 'Says of itself.', inputSchema: { type: 'object' }, tags: [] };
    let invoked: { name: string; input: unknown; token: unknown; stop: vscode.CancellationToken }[];
    let answer: () => Promise<vscode.LanguageModelToolResult>;

    beforeEach(() => {
      invoked = [];
      answer = async () =>
        new vscode.LanguageModelToolResult([
          new vscode.LanguageModelTextPart('found'),
          vscode.LanguageModelDataPart.image(new Uint8Array(3), 'image/png'),
        ]);
      patches.set(vscode.lm, 'tools', [known]);
      patches.set(
        vscode.lm,
        'invokeTool',
        (
          name: string,
          { input, toolInvocationToken: token }: vscode.LanguageModelToolInvocationOptions<object>,
          stop: vscode.CancellationToken,
        ) => {
          invoked.push({ name, input, token, stop });
          return answer();
        },
      );
    });

    it('is found in the running editor, and called through it', async () => {
      patches.restore();
      await until('the editor lists it', () => vscode.lm.tools.find(({ name }) => name === languageModelTool));
      // A tool file may not name one of Rolecall's own; the editor of these tests has no others.
      const run = {
        kind: 'tool',
        tool: languageModelTool,
        input: {},
        timeoutSeconds: 20,
        outputLimit: 10_000,
      } as const;
      const place = { offset: 0, length: 0, line: 0, column: 0 };
      const prepared = await prepareTool(
        {
          ...{ name: 'it', description: 'd', parameters: { type: 'object', properties: {}, required: [] } },
          ...{ run, folder: folder().uri.fsPath, place },
        },
        {},
        { containment: notContaining, folders: [], allowedHosts: [], fetch, token: undefined },
      );
      assert.equal(prepared.lines.find(({ kind }) => kind === 'toolDescription')?.text.includes('workspace'), true);
      const { content, isError } = await prepared.run(never);
      assert.match(content, /^The tools of this workspace.*"name": "count_words"/s);
      assert.equal(isError, false);
    });

    it('is called with the input that was shown, and for the chat it serves', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b', input: { query: '${a}' } });
      const token = {} as vscode.ChatParticipantToolToken;
      const toolRegistry = await tools.open({ token });
      const result = await toolRegistry.invoke({ id: 'c', name: 'it', arguments: { a: 'x' } }, never);
      assert.deepEqual(result, { content: 'found\n[3 bytes of image/png left out]', isError: false });
      assert.deepEqual(
        invoked.map(({ name, input }) => [name, input]),
        [['mcp_a_b', { query: 'x' }]],
      );
      assert.equal(invoked[0]?.token, token);
      assert.deepEqual(shown(), [
        'tool "mcp_a_b"',
        'toolDescription "Says of itself."',
        'input {"query":"x"}',
        'timeout 60 s',
      ]);
      assert.deepEqual(consent.asked[0]?.permissions, { kind: 'editor' });
    });

    it('gets the arguments as they are where no input is written', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b' });
      await call({ a: [1] });
      assert.deepEqual(invoked[0]?.input, { a: [1] });
    });

    it('is asked for each time, as a command', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b', input: { query: 'fixed' } });
      await call();
      assert.equal(consent.asked[0]?.always, 'never');
    });

    it('asks again when another tool has taken the name', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b' });
      await call();
      patches.set(vscode.lm, 'tools', [{ ...known, description: 'Is another.' }]);
      await call();
      assert.equal(new Set(consent.asked.map(({ hash }) => hash)).size, 2);
    });

    it('is not called when another took the name while the user was asked', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b' });
      consent.answer = () => {
        patches.set(vscode.lm, 'tools', [{ ...known, inputSchema: {} }]);
        return true;
      };
      await assert.rejects(call(), /changed while you were being asked/);
      assert.deepEqual(invoked, []);
    });

    it('hears of Stop', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_b' });
      const stop = new AbortController();
      answer = () => {
        stop.abort();
        return new Promise(() => {});
      };
      await assert.rejects(call({}, stop.signal), isCancelled);
      assert.equal(invoked[0]?.stop.isCancellationRequested, true);
    });

    it('that is not there is said before anybody is asked', async () => {
      await define({ kind: 'tool', tool: 'mcp_a_c' });
      await assert.rejects(call(), /tool "mcp_a_c" is not available/);
      assert.deepEqual(consent.asked, []);
    });
  });

  describe('a request', () => {
    let host: string;
    let seen: { url: string | undefined; headers: IncomingHttpHeaders }[];

    beforeEach(async () => {
      seen = [];
      const server = createServer(({ url, headers }, response) => {
        seen.push({ url, headers });
        response.end('answered');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      disposables.push({
        dispose: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });

    it('is sent as it was shown, to a host the user allowed, without any credentials', async () => {
      await define({ kind: 'http', url: `http://${host}/x/\${a}?a=\${a}` });
      allowedHosts = [host];
      const result = await call({ a: 'b/c' });
      assert.deepEqual(result, { content: 'The server returned status 200.\nanswered', isError: false });
      assert.deepEqual(consent.asked[0]?.permissions, { kind: 'request', host });
      assert.deepEqual(shown(), [`request GET "http://${host}/x/b%2Fc?a=b%2Fc"`, 'timeout 60 s']);
      assert.deepEqual(
        seen.map(({ url, headers }) => [url, headers.authorization, headers.cookie]),
        [['/x/b%2Fc?a=b%2Fc', undefined, undefined]],
      );
    });

    it('is not sent, nor asked about, to a host the user did not allow', async () => {
      await define({ kind: 'http', url: `http://${host}/\${a}` });
      await assert.rejects(call({ a: 1 }), /rolecall\.tools\.allowedHosts/);
      assert.deepEqual([seen, consent.asked], [[], []]);
    });
  });
});

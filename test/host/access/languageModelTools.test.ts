import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { accessToolRegistry, mergeToolRegistries } from '../../../src/host/access/accessTools.ts';
import { registerLanguageModelTools } from '../../../src/host/access/register.ts';
import type { ToolRegistry } from '../../../src/host/conversation.ts';
import { ownAccessToolNames } from '../../../src/host/ownAccessTools.ts';
import { extensionId, languageModelTools } from '../../../src/ids.ts';
import { Commands } from '../support/commands.ts';
import { useChat } from '../support/participant.ts';
import { Patches, usePatches } from '../support/patches.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';
import { until } from '../support/wait.ts';

const { listGroups, listRoles, whoHasRole, effectiveAccess } = languageModelTools;

describe('tools for models', () => {
  const scene = useScene();
  const tree = useTree(scene);
  const chat = useChat(scene);
  const patches = usePatches();
  let given: Commands;

  beforeEach(() => {
    given = new Commands(patches);
  });
  /** What was read of organizations; the chat asks for models besides. */
  const read = () => scene().asked.filter((address) => address.includes('/organizations/'));
  afterEach(clearFaults);

  describe('of other chat agents', () => {
    let tools: Map<string, vscode.LanguageModelTool<unknown>>;
    let answered: Set<string>;

    beforeEach(() => {
      tools = new Map();
      answered = new Set();
      const { data } = tree();
      // Only for this moment: the running extension may register its own at any other.
      const registration = new Patches();
      registration.set(vscode.lm, 'registerTool', (name: string, tool: vscode.LanguageModelTool<unknown>) => {
        tools.set(name, tool);
        return new vscode.Disposable(() => {});
      });
      scene().own(registerLanguageModelTools(data, answered, scene().log));
      registration.restore();
    });

    async function invoke(
      name: string,
      input: object,
      more: object = {},
      token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
    ): Promise<string> {
      const tool = tools.get(name) ?? assert.fail(`${name} is not registered`);
      const result = await tool.invoke({ input, toolInvocationToken: undefined, ...more }, token);
      const parts = result?.content ?? [];
      return parts.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '?')).join('');
    }

    it('ask first, naming organization and recipient, before anything is read', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const said = await invoke(listGroups, {});
      assert.match(said, /did not allow this\. Nothing was read/);
      assert.deepEqual(read(), []);
      assert.match(given.told[0] ?? '', /in "meridian" with another chat agent or model\?/);
      assert.match(given.told[0] ?? '', /email addresses/);
      await invoke(listGroups, {}, { model: { vendor: 'copilot', name: 'GPT', id: 'g' } });
      assert.match(given.told[1] ?? '', /in "meridian" with GPT \(copilot\)\?/);
      assert.deepEqual(read(), []);
    });

    it('are noted when they have answered, and not when they were refused', async () => {
      await tree().serviceOf('administrator', 'meridian');
      await invoke('rolecall_list_groups', {});
      assert.deepEqual([...answered], []);
      given.press = /^Allow Once$/;
      await invoke('rolecall_list_groups', {});
      assert.deepEqual([...answered], ['list_groups']);
    });

    it('answer once they may', async () => {
      await tree().serviceOf('administrator', 'meridian');
      given.press = /^Allow Once$/;
      assert.match(
        await invoke(listGroups, { filter: 'role:administrator' }),
        /^Groups of meridian: 1 of 12\.\nA subject comes from .*\n\nadministrators \(id \S+: 2 subjects, 2 user IDs;/,
      );
      assert.match(await invoke(listRoles, {}), /^Roles of meridian: 10\.\n/);
      assert.match(
        await invoke(whoHasRole, { role: 'administrator' }),
        /^administrator \(id .*\nA subject comes from .*\n\nada\..* through administrators/,
      );
      assert.match(
        await invoke(effectiveAccess, { who: 'ada.moreau@meridian.example' }),
        /^ada\.moreau@.*roles? through/,
      );
      assert.equal(given.told.length, 4, 'each call asks');
    });

    it('ask again of a recipient that cannot be named; of a named one, only for another organization or account', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian', 'big-sky');
      given.press = /Until This Window Closes|^Allow Once$/;
      const asked = async (input: object, more: object = {}) => {
        const before = given.told.length;
        await invoke(listRoles, input, more);
        return given.told.length - before;
      };
      const model = { vendor: 'copilot', name: 'GPT' };
      assert.deepEqual([await asked({ organization: 'meridian' }), await asked({ organization: 'meridian' })], [1, 1]);
      given.press = /Until This Window Closes/;
      assert.equal(await asked({ organization: 'meridian' }, { model }), 1);
      assert.equal(await asked({ organization: 'meridian' }, { model }), 0);
      assert.equal(await asked({ organization: 'big-sky' }, { model }), 1);
      assert.equal(await asked({ organization: 'meridian' }, { model: { vendor: 'other', name: 'GPT' } }), 1);
      await signInAs(cloud, 'ordinaryUser');
      await signInAs(cloud, 'administrator');
      assert.equal(await asked({ organization: 'meridian' }, { model }), 1);
    });

    it('stay within the budget of tokens they are given', async () => {
      await tree().serviceOf('administrator', 'big-sky');
      given.press = /^Allow Once$/;
      let counted = 0;
      const countTokens = async (text: string) => {
        counted += 1;
        return Math.ceil(text.length / 4);
      };
      const said = await invoke(listGroups, {}, { tokenizationOptions: { tokenBudget: 300, countTokens } });
      assert.ok(said.length <= 1200, String(said.length));
      assert.match(said, /^Groups of big-sky: 2000\./);
      assert.match(said, /… \d+ of 2000 left out for length/);
      assert.ok(counted < 20);
    });

    it('say what to do when nobody is signed in, the organization is not clear, or nothing is called so', async () => {
      assert.match(await invoke(listGroups, {}), /Rolecall could not answer: /);
      await tree().serviceOf('administrator', 'meridian', 'big-sky');
      for (const input of [{}, { organization: 'secret' }]) {
        const said = await invoke(listGroups, input);
        assert.match(said, /Ask the user which organization is meant/);
        assert.doesNotMatch(said, /meridian|big-sky/, 'which there are is told to nobody unasked');
      }
      assert.deepEqual([given.told, read()], [[], []]);
      given.press = /^Allow Once$/;
      const organization = 'MERIDIAN';
      assert.match(
        await invoke(whoHasRole, { organization, role: 'emperor' }),
        /No role of meridian matches "emperor"/,
      );
      assert.match(await invoke(effectiveAccess, { organization, who: 'nobody@' }), /Nobody in the groups of meridian/);
      assert.match(
        await invoke(effectiveAccess, { organization, who: 'example' }),
        /match\. Ask for one of them by its ID/,
      );
    });

    it('tell failures as failures', async () => {
      await tree().serviceOf('ordinaryUser', 'meridian');
      given.press = /^Allow Once$/;
      assert.match(await invoke(listGroups, {}), /could not answer: You don’t have permission to view "meridian"/);
    });

    it('stop when they are told to', async () => {
      await tree().serviceOf('administrator', 'meridian');
      given.press = /^Allow Once$/;
      await addFault({ service: 'identity', path: '/groups$', kind: 'latency', ms: 60_000, times: 1 });
      const source = new vscode.CancellationTokenSource();
      const reading = invoke(listGroups, {}, {}, source.token);
      await until('it is read', () => read().length > 0);
      source.cancel();
      await assert.rejects(reading, vscode.CancellationError);
    });

    it('give nothing of another account than the one the yes was given for', async () => {
      const cloud = await tree().serviceOf('administrator', 'meridian');
      patches.set(vscode.window, 'showWarningMessage', async (_message: string, _options: unknown, once: string) => {
        await signInAs(cloud, 'ordinaryUser');
        return once;
      });
      await assert.rejects(invoke(listGroups, {}), vscode.CancellationError);
      assert.deepEqual(read(), []);
    });
  });

  describe('of @rolecall', () => {
    const contributed = () => vscode.extensions.getExtension(extensionId)?.packageJSON.contributes.languageModelTools;
    const open = (wanted: ReadonlySet<string> = ownAccessToolNames) =>
      accessToolRegistry(tree().data, contributed(), scene().log, wanted);
    const call = (box: ToolRegistry, name: string, args: Record<string, unknown>) =>
      box.invoke({ id: '1', name, arguments: args }, new AbortController().signal);

    it('are none while nobody is signed in', async () => {
      await scene().startService();
      assert.deepEqual((await open()).tools, []);
      assert.equal((await call(await open(), 'list_groups', {})).isError, true);
    });

    it('are the contributed ones without the prefix, answered without a question', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const box = await open();
      assert.deepEqual(
        box.tools.map(({ name }) => name),
        ['list_groups', 'list_roles', 'who_has_role', 'effective_access'],
      );
      const [, , who] = box.tools;
      assert.deepEqual(who?.check({ role: 'reader' }), []);
      assert.equal(who?.check({}).length, 1);
      const said = await call(box, 'who_has_role', { role: 'administrator' });
      assert.match(said.content, /through administrators/);
      assert.deepEqual([said.isError, given.told], [false, []]);
    });

    it('let @rolecall answer with real data what Ask @rolecall About This types', async () => {
      scene().settings.ids = ['meridian'];
      await chat().signedIn();
      chat().toolRegistry = await open();
      await chat().ask('Who has the role "administrator", and through which groups? Organization: "meridian"');
      assert.match(chat().read(), /Used who_has_role/);
      assert.match(chat().read(), /ada\.moreau@meridian\.example\b.* through administrators/);
      assert.deepEqual(given.told, []);
    });

    it('are only those that are wanted', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const names = async (...wanted: string[]) => (await open(new Set(wanted))).tools.map(({ name }) => name);
      assert.deepEqual(await names('who_has_role', 'other'), ['who_has_role']);
      assert.deepEqual(await names(), []);
      assert.equal((await call(await open(new Set()), 'list_groups', {})).isError, true);
    });

    it('tell @rolecall which organizations there are, where it does not say one', async () => {
      await tree().serviceOf('administrator', 'meridian', 'big-sky');
      await assert.rejects(call(await open(), 'list_groups', {}), /The organizations are: meridian, big-sky\./);
    });

    it('are bounded', async () => {
      await tree().serviceOf('administrator', 'big-sky');
      const { content } = await call(await open(), 'list_groups', {});
      assert.ok(content.length <= 12_000 && content.length > 8000, String(content.length));
    });

    it('stand before tools of the workspace that have their names', async () => {
      await tree().serviceOf('administrator', 'meridian');
      const [first] = (await open()).tools;
      assert.ok(first);
      const tool = (name: string) => ({ name, definition: first.definition, check: () => [] });
      const called: string[] = [];
      const workspace: ToolRegistry = {
        tools: [tool('list_groups'), tool('count_words')],
        problems: [{ file: vscode.Uri.file('/a'), line: 0, severity: 'warning', message: 'x' }],
        invoke: async ({ name }) => {
          called.push(name);
          return { content: 'workspace', isError: false };
        },
      };
      const noted = new Set<string>();
      const box = mergeToolRegistries(await open(), workspace, { answered: noted });
      assert.equal(box.tools.filter(({ name }) => name === 'list_groups').length, 1);
      assert.match((await call(box, 'list_groups', {})).content, /^Groups of meridian/);
      assert.equal((await call(box, 'count_words', {})).content, 'workspace');
      assert.deepEqual([called, [...noted]], [['count_words'], ['list_groups']]);
      assert.deepEqual(box.problems, workspace.problems);
    });
  });
});

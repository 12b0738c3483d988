import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { RolecallError } from '../../src/core/base/errors.ts';
import { resolveParameters } from '../../src/core/completions/parameters.ts';
import { Settings } from '../../src/host/settings.ts';
import { usePatches } from './support/patches.ts';
import { until } from './support/wait.ts';
import { userSettings, workspaceFile } from './support/workspace.ts';

const complete = {
  'identity.url': 'https://identity.example.com',
  'inference.url': 'https://inference.example.com/prefix',
  'identity.clientId': 'c-1',
  'identity.redirectUri': 'http://127.0.0.1:18155/callback',
};

describe('settings', () => {
  const patches = usePatches();
  const user = userSettings();
  const settings = new Settings();

  it('are no connection while nothing is written, and one when all is', async () => {
    assert.equal(settings.serviceConnection(), undefined);
    await user.write({ ...complete, 'identity.scopes': '  openid email ' });
    assert.deepEqual(settings.serviceConnection(), {
      id: 'service',
      label: 'identity.example.com',
      identityUrl: 'https://identity.example.com',
      inferenceUrl: 'https://inference.example.com/prefix',
      clientId: 'c-1',
      clientAuthentication: 'client_secret_post',
      redirectUri: 'http://127.0.0.1:18155/callback',
      scope: 'openid email',
    });
  });

  it('do without a client id, which a service token does not need', async () => {
    await user.write({ ...complete, 'identity.clientId': '  ' });
    assert.equal(settings.serviceConnection()?.clientId, '');
  });

  const mistakes: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ['no identity address beside the other', { 'identity.url': '' }, /identity\.url must be an address such as https:/],
    [
      'no inference address beside the other',
      { 'inference.url': '' },
      /inference\.url must be an address such as https:/,
    ],
    ['a host without a scheme', { 'identity.url': 'identity.example.com' }, /identity\.url must be an address such as/],
    ['http to another machine', { 'identity.url': 'http://identity.example.com' }, /must begin with https:\/\//],
    ['a path behind the identity host', { 'identity.url': 'https://i.example/api' }, /such as https:\/\/i\.example/],
    ['/v1 at the end', { 'inference.url': 'https://m.example/v1' }, /Use https:\/\/m\.example/],
    ['/v1 and a slash', { 'inference.url': 'https://m.example/v1/' }, /Use https:\/\/m\.example/],
    ['a client id with a space', { 'identity.clientId': 'c 1' }, /clientId must not contain spaces/],
    ['a redirect URI with a query', { 'identity.redirectUri': 'http://127.0.0.1:1/c?x=1' }, /must not contain a query/],
    ['a redirect URI that is none', { 'identity.redirectUri': 'callback' }, /such as http:\/\/127\.0\.0\.1:18155/],
  ];
  for (const [title, slip, sentence] of mistakes) {
    it(`say what to write instead of ${title}`, () => {
      const written: Record<string, unknown> = { ...complete, ...slip };
      patches.set(vscode.workspace, 'getConfiguration', () => ({ get: (name: string) => written[name] }));
      assert.throws(
        () => settings.serviceConnection(),
        (error) => error instanceof RolecallError && error.kind === 'configuration' && sentence.test(error.message),
      );
    });
  }

  describe('of a workspace', () => {
    const file = workspaceFile('.vscode/settings.json');
    afterEach(async () => {
      const inspect = () => vscode.workspace.getConfiguration('rolecall').inspect('defaultModel');
      await until('the settings of the workspace are gone', () => inspect()?.workspaceValue === undefined);
    });

    it('decide nothing about the hosts of tools, the rounds and the headers', async () => {
      await user.write({
        'tools.allowedHosts': ['a.example'],
        'tools.maxRounds': 4,
        'inference.headers': { 'X-Tenant': 'mine' },
      });
      const theirs = {
        'rolecall.tools.allowedHosts': ['evil.example'],
        'rolecall.tools.maxRounds': 99,
        'rolecall.inference.headers': { 'X-Tenant': 'evil', 'X-More': 'evil' },
        'rolecall.defaultModel': 'theirs/model',
      };
      await settled(() => file.write(JSON.stringify(theirs)), 'defaultModel');
      assert.equal(settings.defaultModel(), 'theirs/model');
      assert.deepEqual([settings.allowedToolHosts(), settings.maxToolRounds()], [['a.example'], 4]);
      assert.deepEqual(settings.inferenceHeaders().headers, { 'X-Tenant': 'mine' });
    });

    it('cannot re-point the hosts that receive tokens, nor the client, nor make a connection where the user has none', async () => {
      await user.write(complete);
      const before = settings.serviceConnection();
      const theirs = {
        'rolecall.identity.url': 'https://evil.example',
        'rolecall.inference.url': 'https://evil.example',
        'rolecall.identity.clientId': 'evil',
        'rolecall.identity.redirectUri': 'http://127.0.0.1:6666/evil',
        'rolecall.identity.clientAuthentication': 'none',
        'rolecall.identity.scopes': 'evil',
        'rolecall.defaultModel': 'theirs/model',
      };
      await settled(() => file.write(JSON.stringify(theirs)), 'defaultModel');
      // The file was read: what a workspace may say is heard.
      assert.equal(settings.defaultModel(), 'theirs/model');
      assert.deepEqual(settings.serviceConnection(), before);
      await user.clear();
      assert.equal(settings.serviceConnection(), undefined);
    });

    it('may set those parameters of chat that the specification knows', async () => {
      await user.write({ 'chat.parameters': { min_p: 0.1, temperature: 1 } });
      const theirs = { temperature: 0, min_p: 0.9, chat_template: 'theirs' };
      await settled(() => file.write(JSON.stringify({ 'rolecall.chat.parameters': theirs })), 'chat.parameters');
      assert.deepEqual(resolveParameters(settings.chatParameters()).parameters, { temperature: 0, min_p: 0.1 });
    });

    it('may set no others, in whatever file of it', () => {
      for (const place of ['workspaceValue', 'workspaceFolderValue']) {
        const inspect = () => ({
          globalValue: { min_p: 0.1 },
          [place]: { temperature: 0, min_p: 0.9, chat_template: 'x' },
        });
        patches.set(vscode.workspace, 'getConfiguration', () => ({ inspect }));
        assert.deepEqual(
          resolveParameters(settings.chatParameters()).parameters,
          { temperature: 0, min_p: 0.1 },
          place,
        );
      }
    });

    it('add organizations and names for them, and take nothing that a person chooses', async () => {
      const theirs = {
        'rolecall.organizations': ['shared'],
        'rolecall.organizationLabels': { shared: 'Shared', mine: 'Theirs' },
      };
      await settled(() => file.write(JSON.stringify(theirs)), 'organizations');
      await settings.addOrganization('mine');
      await settings.addOrganization('shared');
      await settings.labelOrganization('mine', 'Mine');
      assert.deepEqual(settings.organizations(), ['mine', 'shared']);
      assert.deepEqual([...settings.organizationLabels()].sort(), [
        ['mine', 'Mine'],
        ['shared', 'Shared'],
      ]);
      const written = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(file.uri())));
      assert.deepEqual(written, theirs);
      const { globalValue } = vscode.workspace.getConfiguration('rolecall').inspect('organizations') ?? assert.fail();
      assert.deepEqual(globalValue, ['mine']);
      await settings.labelOrganization('mine', '');
    });
  });

  it('list organizations once each, trimmed, whatever else stands among them', async () => {
    await user.write({ organizations: [' a ', 'b', 'a', '', '  ', 7, null, 'B'] });
    assert.deepEqual(settings.organizations(), ['a', 'b', 'B']);
    await user.write({ organizations: 'a' });
    assert.deepEqual(settings.organizations(), []);
  });

  it('describe models once each and pass over what describes none', async () => {
    const described = [
      { id: 'm/1', label: 'One', contextLength: 10 },
      { id: '' },
      'm/2',
      { id: 'm/1', label: 'Again' },
    ];
    await user.write({ models: described });
    assert.deepEqual(settings.models(), [{ id: 'm/1', label: 'One', contextLength: 10 }]);
    assert.deepEqual(
      settings.problems().map(({ setting, message }) => [setting, message.replace(/^.*?: /, '')]),
      [
        ['models', 'entry 2 is ignored because it has no "id".'],
        ['models', 'entry 3 is ignored because it has no "id".'],
      ],
    );
  });

  it('leave out what is wrong in the description of a model, and say so', async () => {
    const price = { input: 0.5, output: 1.5, currency: 'EUR' };
    await user.write({ models: [{ id: 'm/1', price, warning: 'Slow', reasoningEfforts: ['low', 'xhigh'] }] });
    assert.deepEqual(settings.models(), [{ id: 'm/1', price, warning: 'Slow', reasoningEfforts: ['low', 'xhigh'] }]);
    assert.deepEqual(settings.problems(), []);
    const wrong = [
      { price: 1 },
      { price: { ...price, input: -1 } },
      { price: { ...price, output: '1' } },
      { price: { ...price, currency: '€' } },
      { price: { input: 1, output: 1 } },
      { warning: ['x'] },
      { reasoningEfforts: 'low' },
      { reasoningEfforts: [''] },
      { contextLength: 'long' },
    ].map((values, index) => ({ id: `m/${index}`, label: 'One', ...values }));
    await user.write({ models: wrong });
    assert.deepEqual(
      settings.models(),
      wrong.map(({ id, label }) => ({ id, label })),
    );
    assert.deepEqual(
      settings.problems().map(({ message }) => message),
      wrong.map(({ id, label: _, ...values }) => {
        const [name] = Object.keys(values);
        return `rolecall.models: "${name}" of ${id} is ignored because its value is not valid.`;
      }),
    );
  });

  it('hold the parameters of chat, in the order of the specification, with what is wrong', async () => {
    assert.deepEqual(resolveParameters(settings.chatParameters()).parameters, {});
    await user.write({ 'chat.parameters': { top_p: 0.5, temperature: 'hot', seed: 7 } });
    const { parameters, entries } = resolveParameters(settings.chatParameters());
    assert.deepEqual(parameters, { seed: 7, top_p: 0.5 });
    assert.deepEqual(
      entries.map(({ field, sources, problem }) => [field, ...sources, problem !== undefined]),
      [
        ['seed', 'user', false],
        ['temperature', 'user', true],
        ['top_p', 'user', false],
      ],
    );
  });

  it('hold three time limits, whatever was typed', async () => {
    assert.deepEqual(settings.deadlines(), { connectMs: 120_000, firstEventMs: 280_000, idleMs: 240_000 });
    await user.write({
      'chat.timeouts.connect': 5,
      'chat.timeouts.firstEvent': 100_000,
      'chat.timeouts.idle': 'long',
    });
    assert.deepEqual(settings.deadlines(), { connectMs: 5_000, firstEventMs: 290_000, idleMs: 240_000 });
  });

  it('take the model that is selected as the default', async () => {
    await settings.setDefaultModel('mine/one');
    await user.write({ defaultModel: 'mine/two' });
    assert.equal(settings.defaultModel(), 'mine/two');
    await settings.setDefaultModel('mine/three');
    assert.equal(settings.defaultModel(), 'mine/three');
  });

  it('hold the hosts for tools, and a limit of rounds that makes sense', async () => {
    assert.deepEqual([settings.allowedToolHosts(), settings.maxToolRounds()], [[], 10]);
    await user.write({ 'tools.allowedHosts': ['a.example', 7], 'tools.maxRounds': 3 });
    assert.deepEqual([settings.allowedToolHosts(), settings.maxToolRounds()], [['a.example'], 3]);
    for (const [written, taken] of [
      [0, 1],
      [1000, 100],
      ['many', 10],
    ] as const) {
      await user.write({ 'tools.maxRounds': written });
      assert.equal(settings.maxToolRounds(), taken);
    }
  });

  it('tell of their own changes only', async () => {
    let changes = 0;
    const subscription = settings.onDidChange(() => {
      changes += 1;
    });
    try {
      await user.writeElsewhere('editor.tabSize', 3);
      assert.equal(changes, 0);
      await user.write({ defaultModel: 'm' });
      assert.equal(changes, 1);
    } finally {
      subscription.dispose();
    }
  });
});

/** Runs `action` and waits until VS Code has taken up the setting it writes. */
async function settled(action: () => Promise<void>, name: string): Promise<void> {
  const changed = new Promise<void>((resolve) => {
    const subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(`rolecall.${name}`)) return;
      subscription.dispose();
      resolve();
    });
  });
  await action();
  await changed;
}

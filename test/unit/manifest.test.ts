import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { FILTER_KEYS } from '../../src/core/access/filter.ts';
import { checkIdentityUrl, checkInferenceUrl, checkRedirectUri } from '../../src/core/base/addresses.ts';
import type { ClientAuthentication } from '../../src/core/base/connection.ts';
import { defaultDeadlines } from '../../src/core/completions/deadlineSignal.ts';
import { requestFields } from '../../src/core/completions/request.ts';
import { END_REASONS } from '../../src/core/oauth/rotation/reconcile.ts';
import type { SessionState } from '../../src/core/oauth/rotation/windowSession.ts';
import type { ParametersSchema } from '../../src/core/tools/definition.ts';
import { compileParameters } from '../../src/core/tools/validate.ts';
import * as ids from '../../src/ids.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const words: Record<string, string> = JSON.parse(readFileSync(at('package.nls.json'), 'utf8'));
const { contributes } = manifest;

interface Setting {
  readonly scope?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly markdownEnumDescriptions?: readonly string[];
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly ignoreSync?: boolean;
}
const settings = new Map<string, Setting>(
  contributes.configuration.flatMap(({ properties }: { properties: object }) => Object.entries(properties)),
);
const commandIds: string[] = contributes.commands.map(({ command }: { command: string }) => command);
const viewIds: string[] = Object.values<{ id: string }[]>(contributes.views)
  .flat()
  .map(({ id }) => id);

/** Every string of the manifest, with the path of members that leads to it. */
function* strings(value: unknown, path: readonly string[] = []): Generator<{ text: string; path: readonly string[] }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* strings(inner, [...path, key]);
}
const everyString = [...strings(manifest)];
const whens = everyString.filter(({ path }) => path.at(-1) === 'when').map(({ text }) => text);
const links = Object.values(words).flatMap((text) =>
  [...text.matchAll(/\]\((command:[^)\s]+)\)/g)].map(([, to]) => to ?? ''),
);

const sorted = (values: Iterable<string>) => [...values].sort();
const same = (a: Iterable<string>, b: Iterable<string>) => assert.deepEqual(sorted(a), sorted(b));

describe('names stand once: src/ids.ts and package.json', () => {
  it('commands', () => same(commandIds, [...Object.values(ids.commands), ...Object.values(ids.promptCommands)]));

  it('commands about prompt files say so in their names, by which they are registered', () => {
    const named = commandIds.filter((id) => id.includes('Prompt'));
    same(named, Object.values(ids.promptCommands));
  });

  it('views and their container', () => {
    same(viewIds, [ids.views.organizations]);
    same(Object.keys(contributes.views), [ids.views.container]);
    assert.deepEqual(
      contributes.viewsContainers.activitybar.map(({ id }: { id: string }) => id),
      [ids.views.container],
    );
  });

  it('the file of tools', () => {
    const pattern = `**/${ids.TOOL_FILE}`;
    same(
      contributes.jsonValidation.map(({ fileMatch }: { fileMatch: string }) => fileMatch),
      [pattern],
    );
    same(contributes.languages[0].filenamePatterns, [pattern]);
  });

  it('settings', () => {
    const { section, ...names } = ids.settings;
    same(
      settings.keys(),
      Object.values(names).map((name) => `${section}.${name}`),
    );
  });

  it('context keys: all are used, and nothing else of ours is asked for', () => {
    const places = new Set<string>([
      ...viewIds,
      ids.authenticationProvider,
      ids.matrixPanel,
      ids.answerPanel,
      ids.documentPanel,
    ]);
    const asked = [...whens, ...everyString.filter(({ text }) => text.startsWith('onContext:')).map(({ text }) => text)]
      .flatMap((clause) => clause.match(/rolecall[.\w]*/g) ?? [])
      .filter((name) => !places.has(name));
    same(new Set(asked), [...Object.values(ids.contextKeys), ...Object.values(ids.promptContextKeys)]);
  });

  it('slash commands of the participant', () =>
    same(
      contributes.chatParticipants[0].commands.map(({ name }: { name: string }) => name),
      Object.values(ids.chatCommands),
    ));

  it('authentication provider, chat participant, model vendor, walkthrough, extension', () => {
    assert.deepEqual(
      [contributes.authentication, contributes.chatParticipants, contributes.languageModelChatProviders].map((list) =>
        list.map((item: { id?: string; vendor?: string }) => item.id ?? item.vendor),
      ),
      [[ids.authenticationProvider], [ids.chatParticipant], [ids.languageModelVendor]],
    );
    assert.deepEqual(
      contributes.mcpServerDefinitionProviders.map(({ id }: { id: string }) => id),
      [ids.mcpServers],
    );
    assert.deepEqual(
      contributes.languageModelTools.map(({ name }: { name: string }) => name),
      [...Object.values(ids.languageModelTools), ids.languageModelTool],
    );
    assert.deepEqual(
      contributes.walkthroughs.map(({ id }: { id: string }) => id),
      [ids.walkthrough],
    );
    assert.equal(`${manifest.publisher}.${manifest.name}`, ids.extensionId);
    assert.equal(contributes.chatParticipants[0].name, 'rolecall', 'people type @rolecall');
  });
});

describe('the tools for every chat agent', () => {
  const tools: {
    readonly name: string;
    readonly toolReferenceName: string;
    readonly canBeReferencedInPrompt: boolean;
    readonly modelDescription: string;
    readonly inputSchema: ParametersSchema;
  }[] = contributes.languageModelTools.filter(({ name }: { name: string }) => name !== ids.languageModelTool);

  it('are those of the code', () => {
    same(
      tools.map(({ name }) => name),
      Object.values(ids.languageModelTools),
    );
  });

  it('can be referenced, each by a name of its own', () => {
    assert.ok(tools.every(({ canBeReferencedInPrompt }) => canBeReferencedInPrompt));
    const names = tools.map(({ toolReferenceName }) => toolReferenceName);
    assert.equal(new Set(names).size, tools.length);
    for (const name of names) assert.match(name, /^[\w-]+$/);
  });

  for (const { name, modelDescription, inputSchema } of tools) {
    it(`${name} says that it changes nothing, and what its arguments are`, () => {
      assert.match(modelDescription, /Read-only\.$/);
      assert.equal(compileParameters(inputSchema).kind, 'ok');
      for (const property of Object.values(inputSchema.properties ?? {})) {
        assert.match((property as { description?: string }).description ?? '', /\S/);
      }
    });
  }

  it('name every key of the filter language', () => {
    const described = JSON.stringify(tools);
    for (const key of FILTER_KEYS) assert.match(described, new RegExp(`Keys: [^"]*\\b${key}\\b`));
  });
});

describe('the states of a session', () => {
  // The compiler holds this list to the code.
  const states: Record<SessionState['kind'] | 'unconfigured' | 'misconfigured', true> = {
    unconfigured: true,
    misconfigured: true,
    starting: true,
    signedOut: true,
    signingIn: true,
    signedIn: true,
    refreshing: true,
    offline: true,
    ended: true,
    storeUnavailable: true,
  };
  const statesIn = (clause: string) =>
    [...clause.matchAll(/rolecall\.session (?:== (\w+)|=~ \/([\w|]+)\/)/g)].flatMap(([, one, several]) =>
      one === undefined ? (several ?? '').split('|') : [one],
    );

  it('only states that exist are asked for', () => {
    const asked = [...everyString.map(({ text }) => text)].flatMap(statesIn);
    assert.ok(asked.length > 10);
    for (const state of asked) assert.ok(Object.hasOwn(states, state), state);
  });

  it('every reason for which a session ends has a welcome view of its own', () => {
    const views = contributes.viewsWelcome.map(({ when }: { when: string }) => when);
    same(
      views.flatMap((when: string) => /rolecall\.endReason == (\w+)/.exec(when)?.[1] ?? []),
      END_REASONS,
    );
  });

  it('every state but the first moment has a welcome view, so that no emptiness goes unexplained', () => {
    const welcomed = contributes.viewsWelcome.flatMap(({ when }: { when: string }) => statesIn(when));
    same(
      new Set<string>(welcomed),
      Object.keys(states).filter((state) => state !== 'starting'),
    );
  });
});

describe('texts: package.nls.json', () => {
  const keys = everyString.flatMap(({ text }) => [...text.matchAll(/%([\w.]+)%/g)].map(([, key]) => key ?? ''));

  it('every key exists, and none is left over', () => same(new Set(keys), Object.keys(words)));

  it('a key is the whole string, and no text is empty', () => {
    for (const { text } of everyString.filter((each) => /%[\w.]+%/.test(each.text))) assert.match(text, /^%[\w.]+%$/);
    for (const [key, text] of Object.entries(words)) assert.ok(text.trim() !== '' && text === text.trim(), key);
  });

  it('what people read is a key, never a text of its own', () => {
    const read = new Set(['title', 'description', 'contents', 'patternErrorMessage', 'markdownDescription']);
    const own = everyString.filter(
      ({ path, text }) =>
        path[0] === 'contributes' &&
        !path.includes('inputSchema') && // Models read these.
        read.has(path.at(-1) ?? '') &&
        !text.startsWith('%') &&
        text !== 'Rolecall',
    );
    assert.deepEqual(own, []);
  });
});

describe('settings', () => {
  const entries = [...settings];

  for (const [name, setting] of entries) {
    it(`${name} states its scope, its default and what it is for`, () => {
      assert.match(setting.scope ?? '', /^(application|machine|window|resource|machine-overridable)$/);
      assert.notEqual(setting.default, undefined);
      assert.match(setting.markdownDescription ?? setting.description ?? '', /^%.+%$/);
      assert.equal(setting.enum?.length, setting.markdownEnumDescriptions?.length);
      // What is not set yet is no mistake: the settings editor would open on an error. It takes no empty text for a URI.
      if (setting.pattern !== undefined) assert.match(String(setting.default), new RegExp(setting.pattern));
      if (setting.default === '') assert.equal(setting.format, undefined);
    });
  }

  it('a workspace cannot re-point what receives tokens or how the client proves itself', () => {
    const dangerous = entries.filter(([name]) => /url|uri|host|identity|client|proxy/i.test(name));
    assert.ok(dangerous.length >= 6);
    for (const [name, { scope }] of dangerous) assert.equal(scope, 'application', name);
  });

  it('what a workspace can change is restricted until it is trusted', () => {
    const open = entries.filter(([, { scope }]) => scope !== 'application' && scope !== 'machine');
    same(
      manifest.capabilities.untrustedWorkspaces.restrictedConfigurations,
      open.map(([name]) => name),
    );
  });

  it('ports and paths stay on the machine', () => {
    for (const [name, { ignoreSync, default: value }] of entries) {
      if (/:\d+|port|path$/i.test(`${name} ${value}`)) assert.equal(ignoreSync, true, name);
    }
    assert.equal(settings.get('rolecall.identity.redirectUri')?.ignoreSync, true);
  });

  it('no setting holds a secret', () => {
    for (const name of settings.keys()) assert.doesNotMatch(name, /secret|token|password/i);
  });

  it('the ways of client authentication are those of the code', () => {
    const ways: Record<ClientAuthentication, true> = {
      client_secret_post: true,
      client_secret_basic: true,
      none: true,
    };
    const setting = settings.get('rolecall.identity.clientAuthentication');
    same(setting?.enum ?? [], Object.keys(ways));
    assert.equal(setting?.default, 'client_secret_post');
  });

  it('the parameters of chat are those of the specification, each with what it is for', () => {
    const properties = Object.entries<{ type: unknown; markdownDescription: string }>(
      contributes.configuration.flatMap((each: { properties: Record<string, unknown> }) =>
        Object.entries(each.properties).filter(([name]) => name === 'rolecall.chat.parameters'),
      )[0]?.[1].properties ?? {},
    );
    const ofARequest: readonly string[] = ['model', 'messages', 'tools'];
    same(
      properties.map(([name]) => name),
      requestFields.filter((field) => !ofARequest.includes(field)),
    );
    for (const [name, { markdownDescription }] of properties) {
      assert.ok(words[markdownDescription.replaceAll('%', '')]?.startsWith(`\`${name}\` (`), name);
    }
  });

  it('the time limits are those of the code, and shorter than that of fetch', () => {
    const limits = ['connect', 'firstEvent', 'idle'].map((name) => settings.get(`rolecall.chat.timeouts.${name}`));
    const { connectMs, firstEventMs, idleMs } = defaultDeadlines;
    assert.deepEqual(
      limits.map((limit) => Number(limit?.default) * 1000),
      [connectMs, firstEventMs, idleMs],
    );
    for (const limit of limits) assert.ok(Number((limit as { maximum?: number }).maximum) < 300);
  });

  const samples = [
    'https://host.example.com',
    'https://host.example.com/',
    'https://host.example.com:8443',
    'http://127.0.0.1:4000',
    'http://localhost:4000/',
    'http://[::1]:4000',
    'http://host.example.com',
    'https://host.example.com?x=1',
    'https://host.example.com#x',
    'https://me@host.example.com',
    'https://host.example.com /',
    'ftp://host.example.com',
    'host.example.com',
  ];
  const checks: readonly [name: string, check: (typed: string) => string, more: readonly string[]][] = [
    ['rolecall.identity.url', checkIdentityUrl, ['https://host.example.com/api', 'http://127.0.0.1:4000/api']],
    ['rolecall.inference.url', checkInferenceUrl, ['https://host.example.com/api', 'http://127.0.0.1:4000/api/']],
    [
      'rolecall.identity.redirectUri',
      checkRedirectUri,
      ['vscode://rolecall.rolecall/callback', 'http://127.0.0.1:18155/callback?', 'http://127.0.0.1:18155/call back'],
    ],
  ];
  for (const [name, check, more] of checks) {
    const accepts = (typed: string) => {
      try {
        check(typed);
        return true;
      } catch {
        return false;
      }
    };
    it(`the settings editor and the code agree about ${name}`, () => {
      const pattern = new RegExp(settings.get(name)?.pattern ?? assert.fail());
      const all = name.endsWith('redirectUri') ? more : [...samples, ...more];
      const verdicts = all.map((typed) => [typed, pattern.test(typed)]);
      assert.deepEqual(
        verdicts,
        all.map((typed) => [typed, accepts(typed)]),
      );
      assert.deepEqual(new Set(verdicts.map(([, verdict]) => verdict)), new Set([true, false]));
    });
  }
});

describe('menus, welcome views and the walkthrough lead somewhere', () => {
  type Item = { command?: string; submenu?: string; when?: string; group?: string };
  const menus = Object.entries<Item[]>(contributes.menus);
  const submenus: string[] = contributes.submenus.map(({ id }: { id: string }) => id);

  it('menus name commands and submenus that exist, once each', () => {
    for (const [menu, items] of menus) {
      const named = items.map(({ command, submenu }) => command ?? submenu ?? '');
      assert.equal(new Set(named).size, named.length, menu);
      for (const name of named) assert.ok([...commandIds, ...submenus].includes(name), `${menu}: ${name}`);
    }
    for (const submenu of submenus)
      assert.ok(
        menus.some(([menu]) => menu === submenu),
        submenu,
      );
  });

  it('what stands as a button has an icon', () => {
    const buttons = menus.flatMap(([menu, items]) =>
      items.filter(({ group = '' }) => menu !== 'commandPalette' && /^(navigation|inline)/.test(group)),
    );
    assert.ok(buttons.length > 0);
    for (const { command } of buttons) {
      const { icon } = contributes.commands.find((each: { command: string }) => each.command === command);
      if (command !== ids.commands.generateCommitMessage) assert.match(icon ?? '', /^\$\([\w-]+\)$/, command);
    }
  });

  it('what a row offers ends in "…" only where it asks for something', () => {
    const offered = menus.flatMap(([menu, items]) =>
      menu.endsWith('/context') && !menu.startsWith('editor') ? items : [],
    );
    const asking = contributes.commands
      .filter(({ command }: Item) => offered.some((item) => item.command === command))
      .filter(({ title }: { title: string }) => words[title.slice(1, -1)]?.endsWith('…'))
      .map(({ command }: Item) => command);
    const { filter, renameOrganization, exportReview, compareSnapshot } = ids.commands;
    same(asking, [filter, renameOrganization, exportReview, compareSnapshot]);
  });

  it('what writes a commit message does not look like the button of another vendor', () => {
    const { icon } = contributes.commands.find(({ command }: Item) => command === ids.commands.generateCommitMessage);
    same(Object.keys(icon), ['light', 'dark']);
    for (const file of Object.values<string>(icon)) assert.match(readFileSync(at(file), 'utf8'), /^<svg /);
  });

  it('menus and welcome views speak of views that exist', () => {
    for (const clause of whens) {
      for (const [, view] of clause.matchAll(/\bview == ([\w.]+)/g)) assert.ok(viewIds.includes(view ?? ''), clause);
    }
    for (const { view } of contributes.viewsWelcome) assert.ok(viewIds.includes(view), view);
  });

  it('links run commands that exist', () => {
    const editors = new Set(['workbench.action.openSettings', 'workbench.action.reloadWindow']);
    assert.ok(links.length >= 10);
    for (const link of links) {
      const [command = '', argument] = link.slice('command:'.length).split('?');
      const known =
        commandIds.includes(command) || editors.has(command) || viewIds.some((id) => command === `${id}.focus`);
      assert.ok(known, link);
      if (argument === undefined) continue;
      const values = JSON.parse(decodeURIComponent(argument));
      assert.ok(Array.isArray(values), link);
      if (command === 'workbench.action.openSettings')
        assert.match(values[0], new RegExp(`^@ext:${ids.extensionId}\\b`));
    }
  });

  it('every step of the walkthrough has a picture or page, and can be completed', () => {
    const [{ steps }] = contributes.walkthroughs;
    for (const { id, media, completionEvents } of steps) {
      assert.ok(existsSync(at(media.markdown ?? media.image ?? media.svg)), id);
      assert.ok(completionEvents.length > 0, id);
      for (const event of completionEvents) {
        const [kind, what = ''] = event.split(/:(.*)/s);
        const known =
          (kind === 'onCommand' && commandIds.includes(what)) ||
          (kind === 'onView' && viewIds.includes(what)) ||
          (kind === 'onContext' &&
            Object.values<string>({ ...ids.contextKeys, ...ids.promptContextKeys }).some((key) =>
              new RegExp(`^${key}\\b`).test(what),
            ));
        assert.ok(known, event);
      }
    }
  });

  it('the walkthrough is plain text where it is shown as such', () => {
    for (const [key, text] of Object.entries(words)) {
      if (/^(walkthrough|welcome|view|command)\./.test(key)) assert.doesNotMatch(text, /`/, key);
    }
    for (const { media } of contributes.walkthroughs[0].steps) {
      const page = readFileSync(at(media.markdown), 'utf8').replaceAll(/^```jsonc?\n.*?^```$/gms, '');
      assert.doesNotMatch(page, /`/, media.markdown);
    }
  });

  it('every file the manifest names is there', () => {
    const files = everyString.map(({ text }) => text).filter((text) => /^(\.\/)?media\//.test(text));
    assert.ok(files.length >= 5);
    for (const file of files) assert.ok(existsSync(at(file)), file);
  });
});

describe('the command palette', () => {
  type Context = Readonly<Record<string, string | number | boolean | readonly string[]>>;
  type Entry = { readonly command: string; readonly when: string };
  const entries: Entry[] = contributes.menus.commandPalette;
  const { commands } = ids;

  const operators: Readonly<
    Record<string, (value: Context[string] | undefined, wanted: string, context: Context) => boolean>
  > = {
    '==': (value, wanted) => String(value) === wanted,
    '!=': (value, wanted) => String(value) !== wanted,
    '>': (value, wanted) => Number(value ?? 0) > Number(wanted),
    '=~': (value, wanted) => new RegExp(wanted.slice(1, -1)).test(String(value)),
    in: (value, wanted, context) => [context[wanted] ?? []].flat().includes(String(value)),
  };

  /** Whether a `when` clause of this palette holds: terms with one operator, joined by `&&` and `||`. */
  function holds(clause: string, context: Context): boolean {
    const term = (text: string): boolean => {
      const [, not, key = '', operator, wanted = ''] =
        /^(!?)([\w.]+)(?: (==|!=|>|=~|in) (.+))?$/.exec(text) ?? assert.fail(`cannot read: ${text}`);
      const value = context[key];
      if (key === 'false') return false;
      const compare = operators[operator ?? ''];
      if (compare) return compare(value, wanted, context);
      return Boolean(value) !== (not === '!');
    };
    return clause.split(' || ').some((all) => all.split(' && ').every(term));
  }

  const shown = (context: Context) => {
    const hidden = entries.filter(({ when }) => !holds(when, context)).map(({ command }) => command);
    return commandIds.filter((command) => !hidden.includes(command));
  };
  const fresh = { [ids.contextKeys.session]: 'unconfigured', [ids.contextKeys.connection]: 'service' };
  const signedIn = { [ids.contextKeys.session]: 'signedIn', [ids.contextKeys.connection]: 'service' };
  const always = [
    commands.signIn,
    commands.diagnoseSignIn,
    commands.clearSnapshots,
    commands.openChat,
    commands.showEffectiveParameters,
    commands.showLog,
    commands.openWalkthrough,
    commands.installCommandLine,
    commands.uninstallCommandLine,
    commands.resetCommandLineAccess,
    ids.promptCommands.newPromptFile,
    ids.promptCommands.saveChatAsPromptFile,
    ids.promptCommands.importPrompty,
    ids.promptCommands.clearPromptRuns,
  ];
  const ofOwnCloud = [
    commands.showSession,
    commands.signInWith,
    commands.setClientSecret,
    commands.setInferenceToken,
    commands.selectModel,
    commands.useInNativeChat,
  ];
  const ofOrganizations = [
    commands.renameOrganization,
    commands.filterAll,
    commands.sort,
    commands.reveal,
    commands.whoHasRole,
    commands.showEffectiveAccess,
    commands.showMatrix,
    commands.showReview,
    commands.newAccessRules,
    commands.declareAccess,
    commands.showCheck,
    commands.exportCheck,
    commands.startReview,
    commands.nextUndecided,
    commands.showReviewSummary,
    commands.showAccessGraph,
    commands.exportReview,
    commands.saveSnapshot,
    commands.compareSnapshot,
  ];
  const ofAccount = [commands.signOut, commands.refresh, commands.manageSnapshots];
  const ofEditor = [commands.askAboutSelection, commands.explainSelection, commands.explainProblem];

  it('leaves what belongs to a row or a button to it, in every situation', () => {
    const ofRows = [
      commands.filter,
      commands.addFavorite,
      commands.removeFavorite,
      commands.copyId,
      commands.copyName,
      commands.openAsJson,
      commands.askAboutThis,
      commands.showReasoning,
      ids.promptCommands.foldPromptResult,
      ids.promptCommands.runPromptToolCall,
      commands.addWaiver,
      commands.copyToDo,
      commands.decideAccess,
    ];
    same(
      entries.filter(({ when }) => when === 'false').map(({ command }) => command),
      ofRows,
    );
  });

  const { hasClientSecret, hasInferenceToken, hasOrganizations, isSigningIn, isFiltered, hasChanges } = ids.contextKeys;
  const rows: readonly [situation: string, context: Context, commands: readonly string[]][] = [
    ['before anything is configured, the ways in', fresh, [...always, commands.trySandbox]],
    [
      'signed out of one’s own cloud, what needs no account',
      { ...signedIn, [ids.contextKeys.session]: 'signedOut' },
      [...always, ...ofOwnCloud, commands.trySandbox],
    ],
    [
      'with what can be forgotten, to forget it',
      { ...signedIn, [ids.contextKeys.session]: 'signedOut', [hasClientSecret]: true, [hasInferenceToken]: true },
      [...always, ...ofOwnCloud, commands.trySandbox, commands.forgetClientSecret, commands.forgetInferenceToken],
    ],
    [
      'while the browser is waited for, what becomes of that',
      { ...signedIn, [ids.contextKeys.session]: 'signingIn', [isSigningIn]: true },
      [
        ...always,
        ...ofOwnCloud,
        commands.trySandbox,
        commands.pasteSignInAddress,
        commands.copySignInAddress,
        commands.cancelSignIn,
      ],
    ],
    [
      'signed in without an organization, nothing about organizations but to add one',
      signedIn,
      [...always, ...ofOwnCloud, ...ofAccount, commands.addOrganization, commands.trySandbox],
    ],
    [
      'with organizations, what can be asked about them',
      { ...signedIn, [hasOrganizations]: true },
      [
        ...always,
        ...ofOwnCloud,
        ...ofAccount,
        ...ofOrganizations,
        commands.addOrganization,
        commands.removeOrganization,
        commands.trySandbox,
      ],
    ],
    [
      'with a filter and marked changes, what takes them away',
      { ...signedIn, [hasOrganizations]: true, [isFiltered]: true, [hasChanges]: true },
      [
        ...always,
        ...ofOwnCloud,
        ...ofAccount,
        ...ofOrganizations,
        commands.addOrganization,
        commands.removeOrganization,
        commands.trySandbox,
        commands.clearFilter,
        commands.acknowledgeChanges,
      ],
    ],
    [
      'in the sandbox, nothing that it brings by itself',
      { ...signedIn, [ids.contextKeys.connection]: 'sandbox', [hasOrganizations]: true },
      [
        ...always,
        ...ofAccount,
        ...ofOrganizations,
        commands.showSession,
        commands.selectModel,
        commands.useInNativeChat,
        commands.leaveSandbox,
      ],
    ],
    [
      'with an editor in a trusted folder, what asks about its text and the tools of the folder',
      { ...fresh, editorIsOpen: true, workspaceFolderCount: 1, isWorkspaceTrusted: true, gitOpenRepositoryCount: 1 },
      [
        ...always,
        ...ofEditor,
        commands.rewriteSelection,
        commands.generateCommitMessage,
        commands.newWorkspaceTool,
        commands.runWorkspaceTool,
        commands.forgetToolConsent,
        commands.trySandbox,
      ],
    ],
    [
      'with an editor that cannot be typed into, no rewriting',
      { ...fresh, editorIsOpen: true, activeEditorIsReadonly: true },
      [...always, ...ofEditor, commands.trySandbox],
    ],
    [
      'on a difference of a rewrite, what becomes of it',
      { ...fresh, resourceScheme: 'rolecall-rewrite' },
      [...always, commands.trySandbox, commands.applyRewrite, commands.discardRewrite],
    ],
    [
      'on a prompt file, what runs it',
      { ...fresh, resourceFilename: 'greeting.prompt.yml' },
      [
        ...always,
        commands.trySandbox,
        ids.promptCommands.runPrompt,
        ids.promptCommands.runPromptWithModels,
        ids.promptCommands.copyPromptAsCurl,
        ids.promptCommands.comparePromptRuns,
        ids.promptCommands.setPromptBaseline,
      ],
    ],
    [
      'while a prompt runs, to stop it',
      { ...fresh, [ids.promptContextKeys.runningPrompts]: true },
      [...always, commands.trySandbox, ids.promptCommands.stopPrompt],
    ],
    [
      'on the result of a prompt, what can be done with it',
      { ...fresh, resourceScheme: 'rolecall-prompt' },
      [
        ...always,
        commands.trySandbox,
        ids.promptCommands.continuePrompt,
        ids.promptCommands.reproducePrompt,
        ids.promptCommands.savePromptResult,
      ],
    ],
    [
      'on a result with token probabilities, the way through them',
      {
        ...fresh,
        resourceScheme: 'rolecall-prompt',
        resourcePath: '/a/b.result.md',
        [ids.promptContextKeys.coloredResults]: ['/a/b.result.md'],
      },
      [
        ...always,
        commands.trySandbox,
        ids.promptCommands.continuePrompt,
        ids.promptCommands.reproducePrompt,
        ids.promptCommands.savePromptResult,
        ids.promptCommands.nextUncertainPromptToken,
        ids.promptCommands.previousUncertainPromptToken,
      ],
    ],
    [
      'on an answer, its copies',
      { ...fresh, activeWebviewPanelId: ids.answerPanel },
      [...always, commands.trySandbox, commands.copyPage, commands.savePage],
    ],
    [
      'on a document, its copies and Refresh',
      { ...fresh, activeWebviewPanelId: ids.documentPanel },
      [...always, commands.trySandbox, commands.copyPage, commands.savePage, commands.refreshPage],
    ],
  ];
  for (const [situation, context, wanted] of rows) {
    it(`shows ${situation}`, () => same(shown(context), wanted));
  }
});

describe('what the extension asks of the editor', () => {
  it('no proposed API', () => {
    assert.equal('enabledApiProposals' in manifest, false);
    assert.equal(manifest.devDependencies['@types/vscode'], '1.120.0');
    assert.equal(manifest.engines.vscode, '^1.122.0');
  });

  it('runs beside the user first, never in a browser’s worker, and not before the editor is up', () => {
    assert.deepEqual(manifest.extensionKind, ['ui', 'workspace']);
    assert.equal('browser' in manifest, false);
    assert.ok(!manifest.activationEvents.includes('*'));
  });

  it('says what works where there is no trust and no disk', () => {
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, 'limited');
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, 'limited');
  });
});

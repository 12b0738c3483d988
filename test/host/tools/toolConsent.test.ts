import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CallPermissions } from '../../../src/host/tools/toolConsent.ts';
import { type ConsentRequest, ToolConsent } from '../../../src/host/tools/toolConsent.ts';
import { FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';

const never = new AbortController().signal;
const question = (hash: string, more: Partial<ConsentRequest> = {}): ConsentRequest => ({
  name: 'count_words',
  folder: 'work',
  permissions: { kind: 'contained', reads: ['.'], writes: [], program: undefined, network: false },
  always: 'definition',
  lines: [
    { kind: 'executable', text: '"/usr/bin/wc"' },
    { kind: 'argument', text: '"-w"' },
    { kind: 'timeout', text: '10 s' },
  ],
  hash,
  ...more,
});

describe('consent to a tool', () => {
  const patches = usePatches();
  const once = 'Allow Once';
  const always = 'Always Allow in This Workspace';
  let memento: FakeMemento;
  let consent: ToolConsent;
  let dialogs: { message: string; options: vscode.MessageOptions; buttons: string[] }[];
  let answers: (string | undefined)[];

  beforeEach(() => {
    memento = new FakeMemento();
    consent = new ToolConsent(memento);
    dialogs = [];
    answers = [];
    patches.set(
      vscode.window,
      'showWarningMessage',
      async (message: string, options: vscode.MessageOptions, ...buttons: string[]) => {
        dialogs.push({ message, options, buttons });
        return answers.shift();
      },
    );
  });

  it('is asked for with what the tool reaches, then everything that will run', async () => {
    answers = [once];
    assert.equal(await consent.ask(question('h'), never), true);
    assert.deepEqual(dialogs, [
      {
        message: 'Run tool "count_words" from workspace "work"?',
        options: {
          modal: true,
          detail: [
            'Reads this workspace and the system’s files. Writes only temporary files. No network.',
            '',
            'Program: "/usr/bin/wc"',
            'Argument: "-w"',
            'Time limit: 10 s',
            '',
            '"Always Allow" covers any arguments until the tool’s definition or what it can reach changes.',
          ].join('\n'),
        },
        buttons: [once, always],
      },
    ]);
  });

  const reaches: [
    reach: CallPermissions,
    always: ConsentRequest['always'],
    first: string,
    last: string,
    buttons: string[],
  ][] = [
    [
      { kind: 'contained', reads: [], writes: ['out/', '"a b"'], program: '/home/u/.nvm/v24', network: false },
      'definition',
      'Reads the system’s files, but nothing in this workspace. Reads its program from /home/u/.nvm/v24. Writes out/, "a b". No network.',
      '"Always Allow" covers any arguments until the tool’s definition or what it can reach changes.',
      [once, always],
    ],
    [
      { kind: 'contained', reads: ['src', 'docs'], writes: ['.'], program: undefined, network: true },
      'never',
      'Reads src, docs and the system’s files. Writes this workspace, except .git and .vscode. Uses the network, including services on this machine.',
      'You will be asked each time.',
      [once],
    ],
    [
      { kind: 'contained', reads: [], writes: [], program: undefined, network: true },
      'arguments',
      'Reads the system’s files, but nothing in this workspace. Writes only temporary files. Uses the network, including services on this machine.',
      '"Always Allow" covers only these arguments, until the tool’s definition or what it can reach changes.',
      [once, 'Always Allow with These Arguments'],
    ],
    [
      { kind: 'uncontained' },
      'never',
      'Not contained: it can read, change and send anything you can.',
      'You will be asked each time.',
      [once],
    ],
    [
      { kind: 'uncontained', reason: 'bubblewrap is not installed.', remedy: 'sudo apt install bubblewrap' },
      'never',
      'Not contained: it can read, change and send anything you can.\nPrograms cannot be contained here: bubblewrap is not installed. To fix this, run: sudo apt install bubblewrap',
      'You will be asked each time.',
      [once],
    ],
    [
      { kind: 'editor' },
      'never',
      'Part of the editor: it can do anything the editor can.',
      'You will be asked each time.',
      [once],
    ],
    [
      { kind: 'request', host: 'a.example' },
      'definition',
      'Sends a request to a.example.',
      '"Always Allow" covers requests to a.example with any arguments until the tool’s definition changes.',
      [once, always],
    ],
  ];
  for (const [permissions, kind, first, last, buttons] of reaches) {
    it(`leads with: ${first.split('\n')[0]}`, async () => {
      await consent.ask(question('h', { permissions, always: kind }), never);
      const detail = dialogs[0]?.options.detail ?? '';
      assert.ok(detail.startsWith(`${first}\n\nProgram: `) && detail.endsWith(`\n\n${last}`), detail);
      assert.deepEqual(dialogs[0]?.buttons, buttons);
    });
  }

  it('shows what does not fit in a document, with nothing to save, and asks beside it', async () => {
    const opened: string[] = [];
    const tabs = () =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri.scheme] : []));
    patches.set(vscode.window, 'showWarningMessage', async (message: string, ...buttons: string[]) => {
      const document = vscode.window.activeTextEditor?.document;
      opened.push(document?.getText() ?? '');
      assert.deepEqual([tabs().includes('rolecall-tool-request'), document?.isDirty], [true, false]);
      assert.match(message, /Read the whole request in the document that opened/);
      assert.deepEqual(buttons, [once, always, 'Cancel'], 'it is not modal: the document has to be read');
      return once;
    });
    const lines = Array.from({ length: 30 }, (_, index) => ({ kind: 'argument' as const, text: `"${index}"` }));
    assert.equal(await consent.ask(question('h', { lines }), never), true);
    assert.equal(await consent.ask(question('h', { lines: [{ kind: 'stdin', text: '漢'.repeat(600) }] }), never), true);
    assert.match(
      opened[0] ?? '',
      /^Run tool "count_words" from workspace "work"\?\n\nReads this workspace[\s\S]*Argument: "29"\n/,
    );
    assert.match(opened[1] ?? '', /\nStandard input: 漢{56}\n(?: {4}漢{72}\n)+ {4}漢+\n\n/);
    patches.set(vscode.window, 'showWarningMessage', async () => 'Cancel');
    assert.equal(await consent.ask(question('k', { lines }), never), false);
    await until('they are closed', () => !tabs().includes('rolecall-tool-request'));
  });

  it('shows what is hidden in a name', async () => {
    await consent.ask(question('h', { name: 'a\u202eb', folder: 'x\ny' }), never);
    assert.equal(dialogs[0]?.message, 'Run tool "a\\u{202e}b" from workspace "x\\ny"?');
  });

  it('is a no when the dialog is closed', async () => {
    answers = [undefined];
    assert.equal(await consent.ask(question('h'), never), false);
    assert.deepEqual(memento.keys(), []);
  });

  it('is asked for again, whatever was always allowed, where the conversation holds what the tool could send out', async () => {
    answers = [always, once, undefined];
    assert.equal(await consent.ask(question('h'), never), true);
    const carries = ['who has access to what'];
    assert.equal(await consent.ask(question('h', { carries }), never), true);
    assert.equal(await consent.ask(question('h', { carries }), never), false);
    assert.equal(await consent.ask(question('h'), never), true);
    assert.equal(dialogs.length, 3);
    assert.match(
      dialogs[1]?.options.detail ?? '',
      /^Reads this workspace and the system’s files\. Writes only temporary files\. No network\.\nThe tool can send data\. You are asked each time in this conversation, because it may contain who has access to what\./,
    );
  });

  it('says once that each call is asked about', async () => {
    answers = [undefined];
    const carries = ['a result of a tool without containment'];
    await consent.ask(question('h', { permissions: { kind: 'uncontained' }, always: 'never', carries }), never);
    const detail = dialogs[0]?.options.detail ?? '';
    assert.match(detail, /this conversation may contain a result of a tool without containment\./);
    assert.equal(detail.match(/asked each time/g)?.length, 1);
  });

  it('given once is asked for again', async () => {
    answers = [once, undefined];
    assert.equal(await consent.ask(question('h'), never), true);
    assert.equal(await consent.ask(question('h'), never), false);
    assert.equal(dialogs.length, 2);
  });

  it('given for always holds for that very definition, also after a restart', async () => {
    answers = [always];
    assert.equal(await consent.ask(question('h'), never), true);
    assert.equal(await consent.ask(question('h'), never), true);
    assert.equal(await new ToolConsent(memento).ask(question('h'), never), true);
    assert.equal(dialogs.length, 1);
    assert.equal(await consent.ask(question('edited'), never), false);
    assert.equal(dialogs.length, 2);
  });

  it('given for exactly these arguments holds for no others, and not for the definition', async () => {
    const exact = 'Always Allow with These Arguments';
    const asked = (text: string): ConsentRequest =>
      question('h', { always: 'arguments', lines: [{ kind: 'argument', text }] });
    answers = [exact];
    assert.equal(await consent.ask(asked('"a"'), never), true);
    assert.equal(await consent.ask(asked('"a"'), never), true);
    assert.equal(dialogs.length, 1);
    assert.equal(await consent.ask(asked('"b"'), never), false);
    assert.equal(await consent.ask(question('h'), never), false);
  });

  it('that is asked for each time has no always, and takes none of before', async () => {
    answers = [always, once, always];
    await consent.ask(question('h'), never);
    assert.equal(await consent.ask(question('h', { always: 'never' }), never), true);
    assert.deepEqual(dialogs[1]?.buttons, [once]);
    assert.equal(await consent.ask(question('k', { always: 'never' }), never), false);
    assert.equal(await consent.ask(question('k'), never), false, 'an answer that was not offered is not kept');
  });

  it('can be taken back', async () => {
    answers = [always, always];
    await consent.ask(question('a'), never);
    await consent.ask(question('b'), never);
    await consent.forget();
    assert.equal(await consent.ask(question('a'), never), false);
    assert.equal(await consent.ask(question('b'), never), false);
  });

  it('is not asked for when the work has been stopped', async () => {
    assert.equal(await consent.ask(question('h'), AbortSignal.abort()), false);
    assert.equal(dialogs.length, 0);
  });

  it('given after the work has been stopped counts for nothing', async () => {
    const stop = new AbortController();
    patches.set(vscode.window, 'showWarningMessage', async () => {
      stop.abort();
      return always;
    });
    assert.equal(await consent.ask(question('h'), stop.signal), false);
    assert.deepEqual(memento.keys(), []);
  });

  it('is asked for by one dialog at a time, and an answer for always counts for those that wait', async () => {
    let open = 0;
    let most = 0;
    const waiting: ((answer: string) => void)[] = [];
    patches.set(vscode.window, 'showWarningMessage', async () => {
      open += 1;
      most = Math.max(most, open);
      const answer = await new Promise<string>((resolve) => waiting.push(resolve));
      open -= 1;
      return answer;
    });
    const asked = [question('h'), question('h'), question('other')].map((each) => consent.ask(each, never));
    await until('the first question', () => waiting.length === 1);
    waiting[0]?.(always);
    await until('the question about the other', () => waiting.length === 2);
    waiting[1]?.(once);
    assert.deepEqual([await Promise.all(asked), most], [[true, true, true], 1]);
  });

  it('goes on after a dialog that failed', async () => {
    patches.set(vscode.window, 'showWarningMessage', async () => {
      throw new Error('no window');
    });
    await assert.rejects(consent.ask(question('h'), never), /no window/);
    patches.set(vscode.window, 'showWarningMessage', async () => once);
    assert.equal(await consent.ask(question('h'), never), true);
  });

  it('keeps a bounded number of definitions, the newest', async () => {
    answers = Array(201).fill(always);
    for (let count = 0; count < 201; count += 1) await consent.ask(question(`h${count}`), never);
    const [key] = memento.keys();
    assert.equal(memento.get<string[]>(key ?? assert.fail())?.length, 200);
    assert.equal(await consent.ask(question('h200'), never), true);
    assert.equal(await consent.ask(question('h0'), never), false);
  });

  it('passes over what it has not written itself', async () => {
    answers = [always];
    await consent.ask(question('h'), never);
    const [key] = memento.keys();
    await memento.update(key ?? assert.fail(), { h: true });
    assert.equal(await consent.ask(question('h'), never), false);
    await memento.update(key ?? assert.fail(), [7, 'h']);
    assert.equal(await consent.ask(question('h'), never), true);
  });
});

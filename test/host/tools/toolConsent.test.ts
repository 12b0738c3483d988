import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ToolConsent, type ToolQuestion } from '../../../src/host/tools/toolConsent.ts';
import { FakeMemento } from '../support/fakes.ts';
import { usePatches } from '../support/patches.ts';
import { until } from '../support/wait.ts';

const never = new AbortController().signal;
const question = (hash: string, more: Partial<ToolQuestion> = {}): ToolQuestion => ({
  name: 'count_words',
  folder: 'work',
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

  it('is asked for with everything that will run', async () => {
    answers = [once];
    assert.equal(await consent.ask(question('h'), never), true);
    assert.deepEqual(dialogs, [
      {
        message: 'Run the tool "count_words" of "work"?',
        options: {
          modal: true,
          detail:
            'Program: "/usr/bin/wc"\nArgument: "-w"\nTime limit: 10 s\n\n“Always” holds until the definition changes, whatever arguments a model gives.',
        },
        buttons: [once, always],
      },
    ]);
  });

  it('shows what is hidden in a name', async () => {
    await consent.ask(question('h', { name: 'a\u202eb', folder: 'x\ny' }), never);
    assert.equal(dialogs[0]?.message, 'Run the tool "a\\u{202e}b" of "x\\ny"?');
  });

  it('is a no when the dialog is closed', async () => {
    answers = [undefined];
    assert.equal(await consent.ask(question('h'), never), false);
    assert.deepEqual(memento.keys(), []);
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

  it('to what runs more than is watched has no always, says why, and takes none of before', async () => {
    answers = [always, once, always];
    await consent.ask(question('h'), never);
    assert.equal(await consent.ask(question('h', { unwatched: 'ma\u202eke' }), never), true);
    assert.deepEqual(dialogs[1]?.buttons, [once]);
    assert.match(
      dialogs[1]?.options.detail ?? '',
      /Time limit: 10 s\n\nYou are asked each time, because "ma\\u\{202e\}ke" may run code from files that Rolecall does not watch\.$/,
    );
    await consent.ask(question('k', { unwatched: 'make' }), never);
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

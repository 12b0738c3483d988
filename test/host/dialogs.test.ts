import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  createInputBox,
  createQuickPick,
  plainText,
  showErrorMessage,
  showInformationMessage,
  showInputBox,
  showQuickPick,
  showWarningMessage,
  withProgress,
} from '../../src/host/dialogs.ts';
import { commands } from '../../src/ids.ts';
import { usePatches } from './support/patches.ts';

/** What VS Code takes for a link in messages, progress, prompts and validation messages (linkedText.ts), and for an icon. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/gi;
const ICON = /\$\([a-z0-9-]+(?:~[a-z]+)?\)/i;
const HOSTILE = 'a[b](command:workbench.action.quit)$(check)[c](https://x.example "t")';

function assertPlain(...texts: readonly unknown[]): void {
  for (const text of texts) {
    assert.ok(typeof text === 'string' && text.includes('workbench'), `is shown: ${String(text)}`);
    assert.doesNotMatch(text, LINK);
    assert.doesNotMatch(text, ICON);
    assert.equal(text.replaceAll('\u200b', '').includes(HOSTILE), true, 'and reads the same');
  }
}

describe('words of others', () => {
  const patches = usePatches();
  /** The first call of `window[name]`. */
  function shown(name: keyof typeof vscode.window, answer?: (...given: never[]) => unknown): unknown[][] {
    const calls: unknown[][] = [];
    patches.set(vscode.window, name, async (...given: never[]) => {
      calls.push(given);
      return answer?.(...given);
    });
    return calls;
  }

  it('are changed only where they would be a link or an icon', () => {
    for (const text of ['a [b] (c)', 'costs $5 (about)', '[x]', '', 'f(a[0])']) assert.equal(plainText(text), text);
  });

  const messages = [
    ['showInformationMessage', showInformationMessage],
    ['showWarningMessage', showWarningMessage],
    ['showErrorMessage', showErrorMessage],
  ] as const;
  for (const [name, show] of messages) {
    it(`are no link in ${name}, and stand letter by letter in the detail of a modal one`, async () => {
      const calls = shown(name, () => 'Yes');
      assert.equal(await show(HOSTILE, { modal: true, detail: HOSTILE }, 'Yes', 'No'), 'Yes');
      assertPlain(calls[0]?.[0]);
      assert.deepEqual(calls[0]?.slice(1), [{ modal: true, detail: HOSTILE }, 'Yes', 'No']);
    });
  }

  it('are no link in progress, beside a link of ours', async () => {
    const titles: string[] = [];
    patches.set(
      vscode.window,
      'withProgress',
      (options: vscode.ProgressOptions, task: (...given: unknown[]) => unknown) => {
        titles.push(options.title ?? '');
        return task({ report: ({ message }: { message: string }) => titles.push(message) });
      },
    );
    const options = { location: vscode.ProgressLocation.Notification, title: HOSTILE };
    assert.equal(
      await withProgress(options, async (report) => {
        report(HOSTILE);
        return 7;
      }),
      7,
    );
    assertPlain(...titles);
    const link = { title: 'Paste', command: commands.pasteSignInAddress };
    await withProgress({ ...options, link }, async () => {});
    assert.deepEqual(
      [...(titles[2] ?? '').matchAll(LINK)].map(([text]) => text),
      [`[Paste](command:${commands.pasteSignInAddress})`],
    );
  });

  it('are no link in an input box: title, prompt, place holder, validation', async () => {
    const calls = shown('showInputBox', () => HOSTILE);
    const said = [HOSTILE, undefined];
    const typed = await showInputBox({
      title: HOSTILE,
      prompt: HOSTILE,
      placeHolder: HOSTILE,
      value: HOSTILE,
      validateInput: () => said.shift(),
    });
    assert.equal(typed, HOSTILE, 'what is typed is nobody else’s');
    const options = calls[0]?.[0] as vscode.InputBoxOptions;
    assert.equal(options.value, HOSTILE);
    assertPlain(options.title, options.prompt, options.placeHolder, await options.validateInput?.(''));
    assert.equal(await options.validateInput?.(''), undefined);
  });

  it('draw no icon in a quick pick, which gives back the very item', async () => {
    const calls = shown('showQuickPick', (items) => items[1]);
    const item = { label: HOSTILE, description: HOSTILE, detail: HOSTILE, id: HOSTILE };
    const given = [{ ...item }, item];
    assert.equal(await showQuickPick(given, { title: HOSTILE, placeHolder: HOSTILE }), item);
    const [items, options] = calls[0] as [(typeof item)[], vscode.QuickPickOptions];
    assertPlain(options.title, options.placeHolder);
    for (const { label, description, detail, id } of items) {
      assertPlain(label, description, detail);
      assert.equal(id, HOSTILE);
    }
    shown('showQuickPick', (items) => items);
    assert.deepEqual(await showQuickPick(given, { canPickMany: true }), given);
    shown('showQuickPick');
    assert.equal(await showQuickPick(given, {}), undefined);
  });

  it('are no link in a box that stays open', () => {
    const input = createInputBox();
    input.prompt = HOSTILE;
    input.title = HOSTILE;
    input.validationMessage = HOSTILE;
    input.value = HOSTILE;
    assertPlain(input.prompt, input.title, input.validationMessage);
    input.validationMessage = { message: HOSTILE, severity: vscode.InputBoxValidationSeverity.Info };
    assertPlain(input.validationMessage.message);
    assert.equal(input.value, HOSTILE);
    input.dispose();
    const pick = createQuickPick<vscode.QuickPickItem & { id: number }>();
    pick.items = [{ label: HOSTILE, id: 1 }];
    pick.placeholder = HOSTILE;
    assertPlain(pick.placeholder, pick.items[0]?.label);
    assert.equal(pick.items[0]?.id, 1);
    pick.dispose();
  });
});

import * as vscode from 'vscode';
import type { commands } from '../ids.ts';

/*
 * The only door to messages, progress, input boxes and quick picks. VS Code makes links of `[text](command:…)` in the
 * text of a message, in titles and steps of progress, in prompts and in validation messages, and runs the command on a
 * click; in most of these, and in the items of a quick pick, `$(name)` becomes an icon. Nearly all of Rolecall's texts
 * there contain text of a server, a workspace or a model. So here nothing is a link or an icon: a character without
 * width breaks them up without changing the look. The few links and icons of our own are passed separately (`link`,
 * `iconPath`).
 *
 * The detail of a modal message is the exception: VS Code shows it letter by letter, and consent has to show the exact
 * text.
 */

/** Text that VS Code shows literally, whatever its source. */
export function plainText(text: string): string {
  return text.replaceAll('](', ']\u200b(').replaceAll('$(', '$\u200b(');
}

type Message = <T extends string>(
  message: string,
  ...rest: readonly [vscode.MessageOptions, ...T[]] | readonly T[]
) => Promise<T | undefined>;

export const showInformationMessage = message('showInformationMessage');
export const showWarningMessage = message('showWarningMessage');
export const showErrorMessage = message('showErrorMessage');

function message(how: 'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage'): Message {
  return async <T extends string>(text: string, ...rest: readonly unknown[]) =>
    vscode.window[how](plainText(text), ...(rest as readonly T[]));
}

export interface ProgressOptions extends vscode.ProgressOptions {
  /** Shown after the title: a progress notification has no buttons but Cancel. */
  readonly link?: { readonly title: string; readonly command: (typeof commands)[keyof typeof commands] };
}

export async function withProgress<T>(
  { title = '', link, ...options }: ProgressOptions,
  task: (report: (message: string) => void, token: vscode.CancellationToken) => Thenable<T>,
): Promise<T> {
  const linked = link ? ` [${plainText(link.title)}](command:${link.command})` : '';
  return vscode.window.withProgress({ ...options, title: plainText(title) + linked }, (progress, token) =>
    task((message) => progress.report({ message: plainText(message) }), token),
  );
}

export interface InputBoxOptions extends Omit<vscode.InputBoxOptions, 'validateInput'> {
  /** @returns the problem of the value. */
  readonly validateInput?: (value: string) => string | undefined;
}

export async function showInputBox(
  { validateInput, ...options }: InputBoxOptions,
  token?: vscode.CancellationToken,
): Promise<string | undefined> {
  const validate = (value: string) => {
    const problem = validateInput?.(value);
    return problem === undefined ? undefined : plainText(problem);
  };
  return vscode.window.showInputBox(
    { ...plainMembers(options), ...(validateInput && { validateInput: validate }) },
    token,
  );
}

/** @returns the selected items, by identity. */
export async function showQuickPick<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions & { readonly canPickMany: true },
): Promise<T[] | undefined>;
export async function showQuickPick<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Promise<T | undefined>;
export async function showQuickPick<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Promise<T | T[] | undefined> {
  const shown = new Map(items.map((item) => [plainMembers(item), item]));
  const picked: T | T[] | undefined = await vscode.window.showQuickPick<T>([...shown.keys()], plainMembers(options));
  const original = (item: T): T => shown.get(item) ?? item;
  return Array.isArray(picked) ? picked.map(original) : picked && original(picked);
}

export function createInputBox(): vscode.InputBox {
  return withPlainMembers(vscode.window.createInputBox());
}

export function createQuickPick<T extends vscode.QuickPickItem>(): vscode.QuickPick<T> {
  return withPlainMembers(vscode.window.createQuickPick<T>());
}

/** The visible properties of an input box, a quick pick and its items, without the user's own text. */
const SHOWN: ReadonlySet<PropertyKey> = new Set([
  'title',
  'prompt',
  'placeHolder',
  'placeholder',
  'validationMessage',
  'message',
  'items',
  'label',
  'description',
  'detail',
]);

function plainMembers<T extends object>(value: T): T {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, SHOWN.has(key) ? plainMember(member) : member]),
  ) as T;
}

function plainMember(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(plainMember);
  return typeof value === 'object' && value !== null ? plainMembers(value) : value;
}

/** The same object, except that visible texts become plain text when they are set. */
function withPlainMembers<T extends object>(input: T): T {
  return new Proxy(input, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, SHOWN.has(key) ? plainMember(value) : value),
  });
}

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commands } from '../../../src/ids.ts';
import { Browser, location } from '../../unit/sandbox/walk.ts';
import { Patches } from './patches.ts';
import { descriptor, type PersonName, person } from './sandbox.ts';
import { until } from './wait.ts';

/** User settings with which the running extension takes the sandbox's services for those of the user's cloud. */
export const servicesOfTheSandbox: Readonly<Record<string, unknown>> = {
  'identity.url': descriptor.identity,
  'inference.url': descriptor.inference,
  'identity.clientId': descriptor.clients.loopback.id,
  'identity.redirectUri': descriptor.clients.loopback.redirectUri,
  'identity.scopes': 'openid email',
};

/** The accounts that the running extension tells VS Code of. */
export async function accounts(): Promise<string[]> {
  const found = await vscode.authentication.getAccounts('rolecall');
  return found.map(({ label }) => label);
}

/**
 * Signs the running extension in as a person would: the command, the client secret where it is asked for, and the page
 * in the browser, whose address VS Code would open.
 *
 * @returns what was asked and opened on the way.
 */
export async function signInRunning(
  name: PersonName,
  answer: 'sign in' | 'cancel' = 'sign in',
): Promise<{ askedForSecret: boolean; opened: string[]; lastPage: string }> {
  const patches = new Patches();
  const seen = { askedForSecret: false, opened: [] as string[], lastPage: '' };
  let browsed: Promise<string> | undefined;
  try {
    patches.set(vscode.window, 'showInputBox', async () => {
      seen.askedForSecret = true;
      return descriptor.clients.loopback.secret;
    });
    patches.set(vscode.env, 'openExternal', async (uri: vscode.Uri) => {
      seen.opened.push(uri.toString(true));
      browsed = browse(uri.toString(true), answer === 'cancel' ? { cancel: 'yes' } : { person: person(name).id });
      return true;
    });
    await vscode.commands.executeCommand(commands.signIn);
    seen.lastPage = (await browsed) ?? '';
    return seen;
  } finally {
    patches.restore();
  }
}

/** Goes where the address leads, chooses on the sign-in page, and gives the page it ends on. */
export async function browse(address: string, choice: Record<string, string>): Promise<string> {
  const browser = new Browser();
  const authorization = location(await browser.visit(address));
  const page = new URL(location(await browser.visit(authorization)), descriptor.identity).href;
  await (await browser.visit(page)).text();
  const callback = location(await browser.visit(page, { method: 'POST', body: new URLSearchParams(choice) }));
  return (await browser.visit(callback)).text();
}

/** Signs the running extension out, with a yes to its question. */
export async function signOutRunning(): Promise<void> {
  const patches = new Patches();
  patches.set(vscode.window, 'showInformationMessage', async (...values: unknown[]) => values.at(-1));
  try {
    await vscode.commands.executeCommand(commands.signOut);
  } finally {
    patches.restore();
  }
  assert.deepEqual(await accounts(), []);
}

/** Waits until the running extension offers this model to VS Code. */
export async function offeredModel(id: string): Promise<vscode.LanguageModelChat> {
  return until(`the model ${id}`, async () => (await vscode.lm.selectChatModels({ vendor: 'rolecall', id }))[0]);
}

import { captureTab } from './actions.ts';
import { promptReady } from './chat.ts';
import { showOwnView, treeRow } from './views.ts';
import type { Workbench } from './workbench.ts';

/** Presses what opens the sign-in page, and signs in there as the named person of the sandbox. The page closes by itself. */
export async function signInAs(
  { context, page }: Pick<Workbench, 'context' | 'page'>,
  name: string,
  begin: () => Promise<void>,
): Promise<void> {
  const tab = await captureTab(context, begin);
  const closed = tab.waitForEvent('close');
  await tab.getByRole('button', { name }).click();
  await closed;
  await page.bringToFront();
}

/** The prompt in the chat after the sign-in to the sandbox; the editor shows spaces of its own. */
export const firstPrompt = /\/access.who.can.administer.meridian\?/;

/** Goes from the empty view into the sandbox, as its administrator; her organizations are listed then. */
export async function enterSandbox(workbench: Workbench): Promise<void> {
  const side = await showOwnView(workbench.page);
  await signInAs(workbench, 'Ada Moreau', () => side.getByRole('button', { name: 'Try the Sandbox' }).click());
  await treeRow(workbench.page, 'meridian').waitFor();
  await promptReady(workbench.page, firstPrompt);
}

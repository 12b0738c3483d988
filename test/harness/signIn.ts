import { captureTab } from './actions.ts';
import { openView, treeRow } from './views.ts';
import type { Workbench } from './workbench.ts';

/** Presses what opens the sign-in page, and signs in there as the named person of the sandbox. The page closes by itself. */
export async function signInAs(workbench: Workbench, name: string, begin: () => Promise<void>): Promise<void> {
  const tab = await captureTab(workbench.context, begin);
  const closed = tab.waitForEvent('close');
  await tab.getByRole('button', { name }).click();
  await closed;
}

/** From the empty view into the sandbox, as its administrator; what she may see is listed then. */
export async function enterSandbox(workbench: Workbench): Promise<void> {
  const side = await openView(workbench.page);
  await signInAs(workbench, 'Ada Moreau', () => side.getByRole('button', { name: 'Try the Sandbox' }).click());
  await workbench.page.bringToFront();
  await treeRow(workbench.page, 'meridian');
}

import type { Page } from 'playwright-core';
import { captureTab } from './actions.ts';
import { openView, treeRow } from './views.ts';
import type { Workbench } from './workbench.ts';

/** Presses what opens the sign-in page, and signs in there as the named person of the sandbox. Gives the tab it ended in. */
export async function signInAs(workbench: Workbench, name: string, begin: () => Promise<void>): Promise<Page> {
  const tab = await captureTab(workbench.context, begin);
  await tab.getByRole('button', { name }).click();
  await tab.getByRole('heading', { name: 'Signed in' }).waitFor();
  return tab;
}

/** From the empty view into the sandbox, as its administrator; what she may see is listed then. */
export async function enterSandbox(workbench: Workbench): Promise<void> {
  const side = await openView(workbench.page);
  const tab = await signInAs(workbench, 'Ada Moreau', () =>
    side.getByRole('button', { name: 'Try the Sandbox' }).click(),
  );
  await tab.close();
  await workbench.page.bringToFront();
  await treeRow(workbench.page, 'meridian');
}

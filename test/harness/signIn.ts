import type { Page } from 'playwright-core';
import { captureTab } from './actions.ts';
import type { Workbench } from './workbench.ts';

/** Presses what opens the sign-in page, and signs in there as the named person of the sandbox. Gives the tab it ended in. */
export async function signInAs(workbench: Workbench, name: string, begin: () => Promise<void>): Promise<Page> {
  const tab = await captureTab(workbench.context, begin);
  await tab.getByRole('button', { name }).click();
  await tab.getByRole('heading', { name: 'Signed in' }).waitFor();
  return tab;
}

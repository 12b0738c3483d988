import type { Page } from 'playwright-core';
import { runCommand } from './actions.ts';

/** Trusts the open folder, as a person does in Restricted Mode. The window and its extension host stay. */
export async function trustWorkspace(page: Page): Promise<void> {
  await runCommand(page, 'Workspaces: Manage Workspace Trust');
  await page
    .locator('.workspace-trust-editor .monaco-button:visible', { hasText: /^Trust$/ })
    .first()
    .click();
  await page.locator('.workspace-trust-editor', { hasText: 'You trust this folder' }).waitFor();
  await runCommand(page, 'View: Close Editor');
}

import fs from 'node:fs';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import { answerInput, openFile, runCommand, tidyUp } from '../../harness/actions.ts';
import { expand, treeRow } from '../../harness/views.ts';
import { test, type Workbench } from '../../harness/workbench.ts';

const RULES = `format: rolecall.access-rules
version: 1
organization: meridian
identity: { userIds: duplicates }
rules:
  - id: operators-do-not-audit
    kind: separation-of-duties
    roles: [cluster-operator, secrets-auditor]
    why: Whoever runs clusters does not audit their secrets.
    severity: error
`;

/** Access is kept as rules in a file. */
test.describe('access as code', () => {
  let workbench: Workbench;
  let page: Page;
  const file = () => path.join(workbench.folder, 'meridian.access.yaml');

  test.beforeAll(async ({ desk }) => {
    workbench = await desk.inSandbox();
    page = workbench.page;
    await tidyUp(page);
  });

  const problems = () => page.locator('.markers-panel');

  test('a finding stands in Problems at its rule, and the tree filters by it', async () => {
    fs.writeFileSync(file(), RULES);
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await openFile(page, 'meridian.access.yaml');
    await runCommand(page, 'Problems: Focus on Problems View');
    await expect(problems()).toContainText('dora.haddad@meridian.example has cluster-operator, secrets-auditor');
    await runCommand(page, 'Rolecall: Filter…');
    await answerInput(page, 'is:finding');
    await expect(treeRow(page, 'administrators')).toHaveCount(0);
    await treeRow(page, 'security-auditors').waitFor();
    await workbench.screenshot('access-rules');
    await runCommand(page, 'Rolecall: Clear Filter');
    await tidyUp(page);
    fs.rmSync(file()); // Others share the folder.
  });
});

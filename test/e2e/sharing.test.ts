import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { at } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
import { dialogText, pressDialog } from '../harness/actions.ts';
import { answer, send } from '../harness/chat.ts';
import { enterSandbox } from '../harness/signIn.ts';
import { waitForExtension } from '../harness/views.ts';
import { newProfile, openWorkbench, type Profile, type Workbench } from '../harness/workbench.ts';

/**
 * Another agent asks Rolecall's tools for people's names. The editor lets such calls pass without a question of its own, as
 * it does after "Allow in this Session": Rolecall asks by itself, each time.
 */
describe('another chat agent that asks who may do what', () => {
  let sandbox: RunningSandbox;
  let profile: Profile;
  let workbench: Workbench;

  before(async () => {
    sandbox = await startSandbox(['--groups', '30']);
    profile = newProfile();
    const target = path.join(profile.folder, 'extensions', 'rolecall-tests.outsider-0.0.1');
    fs.cpSync(at('test', 'e2e', 'outsider'), target, { recursive: true });
    workbench = await openWorkbench({ folder: at('examples', 'workspace'), profile, sandbox });
    const { page } = workbench;
    await waitForExtension(page);
    await enterSandbox(workbench);
  });

  after(async () => {
    await workbench?.stop();
    profile?.remove();
    await sandbox?.stop();
  });

  const reads = async (): Promise<number> => {
    const counters = (await (await fetch(`${sandbox.descriptor.control}/counters`)).json()) as Record<string, number>;
    return counters['identity GET /api/v1/organizations/meridian/groups'] ?? 0;
  };

  it('is asked about by Rolecall itself, naming the organization, before anything is read', async () => {
    const { page } = workbench;
    await send(page, '@outsider meridian');
    const question = await dialogText(page);
    assert.match(question, /Give who may do what in “meridian” to /);
    assert.match(question, /e-mail addresses/);
    assert.equal(await reads(), 0);
    await workbench.screenshot('sharing-consent');
    await pressDialog(page, 'Cancel');
    assert.match(await answer(page), /did not allow this\. Nothing was read/);
    assert.equal(await reads(), 0);
  });

  it('is asked about again, each time', async () => {
    const { page } = workbench;
    await send(page, '@outsider meridian');
    assert.match(await dialogText(page), /Give who may do what in “meridian” to /);
    assert.equal(await reads(), 0);
    await pressDialog(page, 'Allow Once');
    assert.match(await answer(page), /It was given: Groups of meridian: 12\./);
    assert.equal(await reads(), 1);
  });
});

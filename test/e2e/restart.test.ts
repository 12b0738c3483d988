import assert from 'node:assert/strict';
import { at } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
import { answerInput, visibleText } from '../harness/actions.ts';
import { servicesOf } from '../harness/services.ts';
import { signInAs } from '../harness/signIn.ts';
import { trustWorkspace } from '../harness/trust.ts';
import { openView, treeRow, waitForExtension } from '../harness/views.ts';
import { newProfile, openWorkbench, type Profile, type Workbench } from '../harness/workbench.ts';

/** A platform engineer with a configured client: the sandbox plays the real services. */
describe('a configured cloud', () => {
  let sandbox: RunningSandbox;
  let profile: Profile;
  let workbench: Workbench;

  async function open(): Promise<Workbench> {
    const opened = await openWorkbench({
      folder: at('examples', 'workspace'),
      profile,
      trust: false,
      settings: servicesOf(sandbox),
    });
    await waitForExtension(opened.page);
    return opened;
  }

  before(async () => {
    sandbox = await startSandbox(['--groups', '30']);
    profile = newProfile();
    workbench = await open();
  });

  after(async () => {
    await workbench?.stop();
    await sandbox?.stop();
    profile?.remove();
  });

  it('is signed in to once, with the client’s secret, in a folder that is not trusted', async () => {
    const { page } = workbench;
    assert.match(await visibleText(page.locator('.statusbar')), /Restricted Mode/);
    const side = await openView(page);
    await signInAs(workbench, 'Ada Moreau', async () => {
      await side.getByRole('button', { name: 'Sign In' }).click();
      await answerInput(page, sandbox.descriptor.clients.loopback.secret);
    });
    await treeRow(page, 'meridian');
  });

  it('is still signed in to in a second window', async () => {
    const second = await workbench.openWindow();
    await waitForExtension(second);
    await openView(second);
    await treeRow(second, 'meridian');
    await second.close();
  });

  it('is still signed in to when the folder becomes trusted', async () => {
    const { page } = workbench;
    await trustWorkspace(page);
    await openView(page);
    await treeRow(page, 'meridian');
    assert.doesNotMatch(await visibleText(page.locator('.statusbar')), /Restricted Mode/);
  });

  it('is still signed in to after the editor was closed and opened again, and the folder still trusted', async () => {
    await workbench.stop();
    workbench = await open();
    const { page } = workbench;
    await openView(page);
    await treeRow(page, 'meridian');
    assert.doesNotMatch(await visibleText(page.locator('.statusbar')), /Restricted Mode/);
  });
});

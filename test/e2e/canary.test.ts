import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { at } from '../../scripts/paths.ts';
import { type RunningSandbox, startSandbox } from '../../scripts/sandbox.ts';
import { answerInput, choose, pressDialog, runCommand } from '../harness/actions.ts';
import { CanarySearch } from '../harness/canary.ts';
import { answer, send } from '../harness/chat.ts';
import { servicesOf } from '../harness/services.ts';
import { signInAs } from '../harness/signIn.ts';
import { expand, openView, outputLines, treeRow, waitForExtension } from '../harness/views.ts';
import { newProfile, openWorkbench, type Profile, type Workbench } from '../harness/workbench.ts';

/**
 * A run of the configured services (not of Try the Sandbox, whose session is never stored): every secret that went over
 * the wire is then searched in everything that the run left behind.
 */
describe('secrets', () => {
  let sandbox: RunningSandbox;
  let profile: Profile;
  let workbench: Workbench;
  let secrets: string[];
  let lines: string[];

  before(async () => {
    // A token lives 2 seconds, so that the run renews it several times.
    sandbox = await startSandbox(['--access-token-seconds', '2', '--groups', '20', '--roles', '5']);
    profile = newProfile();
    workbench = await openWorkbench({
      folder: at('examples', 'workspace'),
      profile,
      settings: servicesOf(sandbox),
    });
    const { page } = workbench;
    await waitForExtension(page);
    await runCommand(page, 'Developer: Set Log Level...');
    await choose(page, 'Rolecall');
    await choose(page, 'Trace');
    await openView(page);
    await signInAs(workbench, 'Ada Moreau', async () => {
      await runCommand(page, 'Rolecall: Sign In');
      await answerInput(page, sandbox.descriptor.clients.loopback.secret);
    });
    await page.bringToFront();
    await expand(page, 'meridian');
    await expand(page, 'Groups');
    await treeRow(page, 'administrators');
    await send(page, '@rolecall use the count_words tool on `handover.md`');
    await pressDialog(page, 'Allow Once');
    await answer(page);
    await send(page, 'what is a role?');
    await answer(page);
    lines = await outputLines(page);
    const response = await fetch(`${sandbox.descriptor.control}/secrets`);
    secrets = (await response.json()) as string[];
    await workbench.screenshot('configured');
  });

  after(async () => {
    await workbench?.stop();
    await sandbox?.stop();
    profile?.remove();
  });

  it('went over the wire in this run: tokens, codes, a verifier, a state, the client secret', () => {
    assert.ok(secrets.includes(sandbox.descriptor.clients.loopback.secret));
    assert.ok(secrets.filter((secret) => secret.length > 1000).length >= 4, 'two generations of tokens, and a code');
    const drawn = secrets.filter((secret) => /^[\w-]{43}$/.test(secret));
    assert.ok(drawn.length >= 3, 'verifier, state and nonce: 32 random bytes each');
  });

  it('would be found: a planted canary is, in the log, in files, and in every encoding', () => {
    const canary = secrets.find((secret) => secret.length > 1000) ?? '';
    const search = new CanarySearch([canary]);
    const base64 = Buffer.from(`x${canary}`).toString('base64');
    for (const planted of [canary, encodeURIComponent(canary), JSON.stringify({ canary }), base64]) {
      assert.notDeepEqual(search.inText('planted', `before ${planted} after`), []);
    }
    const file = path.join(workbench.userDataDir, 'User', 'globalStorage', 'planted', 'canary.json');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify({ token: canary }));
    assert.deepEqual(
      search.inFolder(profile.folder).map(({ where }) => where),
      [file],
    );
    fs.rmSync(path.dirname(file), { recursive: true });
  });

  it('are not in the log, which says what happened', () => {
    assert.ok(lines.length > 5, lines.join('\n'));
    assert.ok(
      lines.some((line) => line.includes('Access token renewed')),
      lines.join('\n'),
    );
    assert.deepEqual(new CanarySearch(secrets).inText('log', lines.join('\n')), []);
  });

  it('are not in the window', async () => {
    const search = new CanarySearch(secrets);
    for (const page of workbench.context.pages()) assert.deepEqual(search.inText(page.url(), await page.content()), []);
  });

  it('are not in settings, chat sessions, extension storage or any other file of the run', async () => {
    await workbench.stop(); // Chat sessions are written when the window closes.
    const search = new CanarySearch(secrets);
    assert.deepEqual(search.inFolder(profile.folder), []);
    const [shared = ''] = profile.stateFolders;
    assert.ok(
      fs.readdirSync(shared).some((name) => name.endsWith('.sealed')),
      'the session that the windows share',
    );
    assert.deepEqual(search.inFolder(shared), []);
  });

  it('are in the browser’s storage only sealed by the editor', () => {
    assert.deepEqual(new CanarySearch(secrets).inText('storage', JSON.stringify(profile.storage)), []);
  });
});

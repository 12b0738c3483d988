import assert from 'node:assert/strict';
import { accessBriefing } from '../../../src/host/access/briefing.ts';
import { addFault, clearFaults } from '../support/sandbox.ts';
import { signInAs, useScene } from '../support/scene.ts';
import { useTree } from '../support/tree.ts';

describe('what /access tells the model', () => {
  const scene = useScene();
  const tree = useTree(scene);
  afterEach(clearFaults);
  const brief = (callsTools: boolean, signal = new AbortController().signal) =>
    accessBriefing(tree().data, callsTools, signal);

  it('is which organizations there are and which tools tell the rest, without reading any', async () => {
    await tree().serviceOf('administrator', 'meridian', 'big-sky');
    scene().settings.labels = new Map([['big-sky', 'The Sky\n# above']]);
    const { instructions, notice } = await brief(true);
    assert.match(instructions, /organizations: meridian, big-sky \(The Sky\\u\{a\}# above\)\./);
    assert.match(instructions, /tools list_groups, list_roles, who_has_role, effective_access/);
    assert.equal(notice, undefined);
    assert.deepEqual(
      scene().asked.filter((address) => /groups|roles/.test(address)),
      [],
    );
  });

  it('knows the organizations of the sandbox, which no setting names', async () => {
    const cloud = scene().enterSandbox();
    await signInAs(cloud, 'administrator');
    const { instructions } = await brief(true);
    assert.match(instructions, /organizations: [^.]*meridian/);
  });

  it('holds the lists for a model that calls no tools, and what could not be read', async () => {
    await tree().serviceOf('administrator', 'meridian', 'not-mine');
    const { instructions } = await brief(false);
    assert.doesNotMatch(instructions, /list_groups/);
    assert.match(instructions, /Groups of meridian: \d+\.\n/);
    assert.match(instructions, /platform-engineers \(id [^)]*\): 4 subjects, 4 user IDs, 2 service accounts;/);
    assert.match(instructions, /Roles of meridian: \d+\./);
    assert.match(instructions, /The groups of not-mine could not be read: /);
    assert.match(instructions, /The roles of not-mine could not be read: /);
  });

  it('is bounded, and says what is left out', async () => {
    await tree().serviceOf('administrator', 'big-sky', 'o2', 'o3', 'o4', 'o5', 'o6');
    const { instructions } = await brief(false);
    assert.ok(instructions.length < 30_000, String(instructions.length));
    assert.match(instructions, /… \d+ of 2000 left out for length/);
    assert.match(instructions, /Not read: o6\.$/);
  });

  it('says why there is nothing, to the model and to the person', async () => {
    await scene().startService();
    const out = await brief(true);
    assert.match(out.instructions, /The user is not signed in to the identity service/);
    assert.match(out.notice ?? '', /You are not signed in/);
    await tree().serviceOf('administrator');
    const none = await brief(true);
    assert.match(none.instructions, /added no organization/);
    assert.match(none.notice ?? '', /Add Organization/);
    await addFault({
      service: 'identity',
      path: '/organizations$',
      kind: 'status',
      status: 500,
      headers: { 'Retry-After': '0' },
      times: null,
    });
    await signInAs(scene().enterSandbox(), 'administrator');
    const failed = await brief(true);
    assert.match(failed.instructions, /It could not be asked: /);
    assert.ok(failed.notice);
  });

  it('stops when it is told to', async () => {
    await tree().serviceOf('administrator', 'meridian');
    await addFault({ service: 'identity', path: '/groups$', kind: 'latency', ms: 3000, times: 1 });
    const stop = new AbortController();
    const briefing = brief(false, stop.signal);
    stop.abort();
    await assert.rejects(briefing);
  });
});

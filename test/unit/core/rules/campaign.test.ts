import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AccessModel } from '../../../../src/core/access/model.ts';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import {
  type CampaignState,
  campaignState,
  type Membership,
  nextUndecided,
  readCampaign,
} from '../../../../src/core/rules/campaign.ts';
import { type NewDecision, startCampaign, writeDecision } from '../../../../src/core/rules/campaignEdits.ts';
import {
  campaignDocument,
  membershipText,
  progressText,
  takenOverText,
} from '../../../../src/core/rules/campaignText.ts';
import { acme, NOON, ROLES } from './organizations.ts';

const outlines = {
  ops: { people: 'ada ben', roles: 'admin' },
  audit: { people: 'ada', accounts: 'x', roles: 'auditor viewer' },
};
const model = acme(outlines);
const KEEP: NewDecision = { decision: 'keep', by: 'ines@acme.example' };
const REVOKE: NewDecision = { decision: 'revoke', by: 'ines@acme.example', note: 'Left' };

const stateIn = (text: string, of: AccessModel = model, now = NOON) => campaignState(readCampaign(text), of, now);
const named = (state: CampaignState, group: string, who: string): Membership => {
  const found = state.memberships.find(
    (one) => one.group.group.metadata.name === group && (one.principal.email ?? one.principal.id).startsWith(who),
  );
  assert.ok(found);
  return found;
};
const decided = (text: string, group: string, who: string, made: NewDecision, of: AccessModel = model) =>
  writeDecision(text, named(stateIn(text, of), group, who), made, NOON);
const statuses = (state: CampaignState) =>
  state.memberships.map(
    ({ group, principal, status }) =>
      `${group.group.metadata.name}/${(principal.email ?? principal.id).split('@')[0]} ${status}`,
  );
const codes = (state: CampaignState) => state.problems.map(({ code }) => code);

describe('a review with decisions', () => {
  it('begins with every membership, in the order of group and member, with an empty line between', () => {
    assert.equal(
      startCampaign(model, NOON),
      `format: rolecall.campaign
version: 1
organization: acme
started: 2026-11-22, read 2026-03-01 12:00 UTC
items:

  # audit: service account x
  - group: g-audit
    who: serviceAccount x

  # audit: ada@acme.example
  - group: g-audit
    who: subject sub-ada|https://id.acme.example

  # ops: ada@acme.example
  - group: g-ops
    who: subject sub-ada|https://id.acme.example

  # ops: ben@acme.example
  - group: g-ops
    who: subject sub-ben|https://id.acme.example
`,
    );
  });

  it('is decided one by one, and complete when nothing is left to ask', () => {
    let text = startCampaign(model, NOON);
    const order: string[] = [];
    for (let next = nextUndecided(stateIn(text), 0); next; next = nextUndecided(stateIn(text), 0)) {
      order.push(`${next.group.group.metadata.name}/${next.principal.email ?? next.principal.id}`);
      text = writeDecision(text, next, KEEP, NOON);
    }
    assert.deepEqual(order, ['audit/x', 'audit/ada@acme.example', 'ops/ada@acme.example', 'ops/ben@acme.example']);
    assert.equal(stateIn(text).isComplete, true);
    text = decided(text, 'ops', 'ben', { decision: 'ask', by: 'ines@acme.example', note: 'Why?' });
    const state = stateIn(text);
    assert.deepEqual(
      [state.isComplete, state.progress],
      [false, { decided: 4, openQuestions: 1, takenOver: 0, all: 4 }],
    );
    assert.match(
      text,
      / {2}# ops: ben@acme\.example\n {2}- group: g-ops\n {4}who: subject sub-ben\|https:\/\/id\.acme\.example\n {4}gives: \[r-admin\]\n {4}decision: ask\n {4}by: ines@acme\.example\n {4}date: 2026-11-22\n {4}note: Why\?\n$/,
    );
  });

  it('is open again where the group has more roles, and not where it has fewer', () => {
    const text = decided(startCampaign(model, NOON), 'audit', 'x', KEEP);
    const with_ = (roles: string) =>
      statuses(stateIn(text, acme({ ...outlines, audit: { ...outlines.audit, roles } })))[0];
    assert.equal(with_('auditor viewer'), 'audit/x keep');
    assert.equal(with_('viewer'), 'audit/x keep');
    assert.equal(with_('auditor viewer admin'), 'audit/x changed');
  });

  it('is due again on its day', () => {
    const text = decided(startCampaign(model, NOON), 'audit', 'x', { ...KEEP, next: '2026-12-01' });
    assert.equal(named(stateIn(text, model, Date.UTC(2026, 10, 30, 23, 59)), 'audit', 'x').status, 'keep');
    assert.equal(named(stateIn(text, model, Date.UTC(2026, 11, 1)), 'audit', 'x').status, 'due');
  });

  it('finds what is revoked and still there, and knows what is done', () => {
    const text = decided(startCampaign(model, NOON), 'ops', 'ben', REVOKE);
    assert.deepEqual(codes(stateIn(text)), ['still-there']);
    const after = { ...outlines, ops: { people: 'ada', roles: 'admin' } };
    assert.deepEqual([codes(stateIn(text, acme(after))), stateIn(text, acme(after)).revoked.length], [[], 1]);
    const partial = stateIn(
      text,
      acme(after, ROLES, (it) => ({ ...it, groups: { ...it.groups, malformed: 1 } })),
    );
    assert.deepEqual([partial.revoked.length, partial.isReadingWhole, partial.isComplete], [0, false, false]);
  });

  it('counts neither of two decisions', () => {
    const text = decided(startCampaign(model, NOON), 'ops', 'ben', REVOKE);
    const block = text.slice(text.indexOf('  - group: g-ops\n    who: subject sub-ben'));
    const twice = `${text}\n${block.replace('decision: revoke', 'decision: keep')}`;
    assert.equal(named(stateIn(twice), 'ops', 'ben').status, 'conflict');
    assert.deepEqual(codes(stateIn(twice)), ['conflict', 'conflict']);
    assert.equal(named(stateIn(decided(twice, 'ops', 'ben', KEEP)), 'ops', 'ben').status, 'keep');
  });

  it('does not count what lacks something, and warns of a decision about oneself', () => {
    const text = decided(startCampaign(model, NOON), 'ops', 'ben', { ...REVOKE, by: 'BEN@acme.example' });
    assert.deepEqual(codes(stateIn(text)), ['still-there', 'own-decision']);
    for (const key of ['note', 'by', 'date', 'gives']) {
      const lacking = stateIn(text.replace(new RegExp(`^ {4}${key}:.*\\n`, 'm'), ''));
      assert.equal(named(lacking, 'ops', 'ben').status, 'undecided', key);
      assert.ok(codes(lacking).includes('incomplete-decision'), key);
    }
    assert.equal(named(stateIn(text.replace('decision: revoke', 'decision: yes')), 'ops', 'ben').status, 'undecided');
  });

  it('warns of a decision about oneself where the group lists them by user ID', () => {
    const byId = acme({ ops: { people: 'ada', users: 'sub-ada u-9', roles: 'admin' } });
    const by = (who: string, reviewer: string) =>
      readCampaign(decided(startCampaign(byId, NOON), 'ops', who, { decision: 'keep', by: reviewer }, byId));
    const found = (campaign: ReturnType<typeof by>, id = '') =>
      campaignState(campaign, byId, NOON, { id, label: 'ines@acme.example' }).problems.map(({ code }) => code);
    assert.deepEqual(found(by('sub-ada', 'Ada@acme.example')), ['own-decision'], 'whose subject has the same ID');
    assert.deepEqual(found(by('u-9', 'ines@acme.example'), 'u-9'), ['own-decision'], 'whose account has it');
    assert.deepEqual(found(by('u-9', 'ada@acme.example'), 'u-9'), []);
  });

  it('takes over what is unchanged in a later one, and opens what is new or different', () => {
    let text = startCampaign(model, NOON);
    for (const [group, who] of [
      ['ops', 'ada'],
      ['ops', 'ben'],
      ['audit', 'ada'],
    ] as const)
      text = decided(text, group, who, KEEP);
    const later = acme({
      ops: { people: 'ada cyd', roles: 'admin' },
      audit: { people: 'ada', accounts: 'x', roles: 'auditor viewer billing' },
    });
    const next = startCampaign(later, NOON + 86_400_000, readCampaign(text));
    assert.deepEqual(statuses(stateIn(next, later)), [
      'audit/x undecided',
      'audit/ada undecided',
      'ops/ada keep',
      'ops/cyd undecided',
    ]);
    assert.match(next, /date: 2026-11-22/);
    const state = stateIn(next, later);
    assert.equal(
      takenOverText('a.review.yaml', stateIn(text, later), state),
      'Decisions carried over from a.review.yaml: 1. Not carried over: 1 (the group’s roles have changed), 1 (no longer a member). Memberships to decide: 3.',
    );
    assert.equal(state.progress.takenOver, 1);
    assert.equal(progressText(state), '1 of 4 decided (1 in an earlier review)');
    assert.equal(
      membershipText(named(state, 'ops', 'ada')),
      'Kept by ines@acme.example on 2026-11-22, in an earlier review',
    );
    assert.match(
      documentMarkdown(campaignDocument(state, later, NOON)),
      /\| ops \| ada@acme\.example \| admin \| Keep \(earlier review\) \|/,
    );
  });

  it('says how a membership stands', () => {
    const begun = startCampaign(model, NOON);
    const standing = (made: NewDecision, of: AccessModel = model) =>
      membershipText(named(stateIn(decided(begun, 'ops', 'ben', made), of), 'ops', 'ben'));
    assert.equal(membershipText(named(stateIn(begun), 'ops', 'ben')), 'Undecided');
    assert.equal(standing(KEEP), 'Kept by ines@acme.example on 2026-11-22');
    assert.equal(standing(REVOKE), 'To be revoked: decided by ines@acme.example on 2026-11-22');
    assert.equal(
      standing({ ...REVOKE, decision: 'ask', by: 'two\nlines' }),
      'Question raised by two\\u{a}lines on 2026-11-22',
    );
    assert.equal(standing({ ...KEEP, next: '2026-11-20' }), 'Undecided: due for review since 2026-11-20');
    const other = acme({ ...outlines, ops: { people: 'ada ben', roles: 'admin viewer' } });
    assert.equal(standing(KEEP, other), 'Undecided: the group’s roles have changed since 2026-11-22');
  });

  it('can be undecided again', () => {
    const begun = startCampaign(model, NOON);
    const text = decided(begun, 'ops', 'ben', { ...REVOKE, next: '2027-01-01' });
    assert.equal(writeDecision(text, named(stateIn(text), 'ops', 'ben'), undefined, NOON), begun);
  });

  it('decides what is not in the file at its place', () => {
    const text = startCampaign(acme({ ops: { people: 'ada', roles: 'admin' } }), NOON);
    const added = writeDecision(decided(text, 'audit', 'x', KEEP), named(stateIn(text), 'ops', 'ben'), KEEP, NOON);
    assert.deepEqual(
      readCampaign(added).items.map(({ group, who }) => `${group} ${who.split('|')[0]}`),
      ['g-audit serviceAccount x', 'g-ops subject sub-ada', 'g-ops subject sub-ben'],
    );
  });

  it('is refused where the groups are not all known', () => {
    const partial = acme(outlines, ROLES, (it) => ({ ...it, groups: { ...it.groups, malformed: 1 } }));
    assert.throws(() => startCampaign(partial, NOON), /Not all groups could be read/);
  });

  it('has a summary for the auditor', () => {
    const text = decided(decided(startCampaign(model, NOON), 'ops', 'ben', REVOKE), 'audit', 'x', KEEP);
    const summary = documentMarkdown(campaignDocument(stateIn(text), model, NOON));
    assert.match(summary, /\| audit \| service account x \| auditor, viewer \| Keep \|/);
    assert.match(summary, /read 2026-03-01 12:00 UTC · written 2026-11-22 12:00 UTC/);
    assert.match(summary, /\*\*2 of 4 decided\*\*/);
    assert.match(
      summary,
      /\| ops \| ben@acme\.example \| admin \| Revoke \| ines@acme\.example \| 2026-11-22 \| Left \|/,
    );
  });

  it('reads any text', () => {
    for (const text of [
      '',
      '- a',
      'items: x',
      'format: rolecall.review\nversion: 1\norganization: acme\nitems: []\n',
      'a: [',
    ]) {
      assert.equal(stateIn(text).isComplete, false);
    }
  });
});

describe('the decisions of two reviewers', () => {
  const merge = (base: string, one: string, other: string) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-merge-'));
    try {
      const files = Object.entries({ one, base, other }).map(([name, text]) => {
        fs.writeFileSync(path.join(folder, name), text);
        return path.join(folder, name);
      });
      const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...files], { encoding: 'utf8' });
      return { conflicts: status, text: stdout };
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  };
  const base = startCampaign(model, NOON);

  it('merge, even about neighbours', () => {
    const one = decided(base, 'ops', 'ada', KEEP);
    const other = decided(decided(base, 'ops', 'ben', REVOKE), 'audit', 'ada', KEEP);
    const { conflicts, text } = merge(base, one, other);
    assert.equal(conflicts, 0);
    assert.equal(stateIn(text).progress.decided, 3);
  });

  it('conflict where they are about the same membership, and none counts until that is resolved', () => {
    const before = decided(base, 'audit', 'x', KEEP);
    const { conflicts, text } = merge(
      before,
      decided(before, 'ops', 'ada', KEEP),
      decided(before, 'ops', 'ada', REVOKE),
    );
    assert.equal(conflicts, 1);
    const state = stateIn(text);
    assert.deepEqual([state.progress.decided, state.isComplete], [0, false]);
    const marks = state.problems.map(({ code, start }) => `${code} ${text.slice(start, start + 7)}`);
    assert.ok(marks.includes('syntax <<<<<<<'), marks.join());
  });
});

import assert from 'node:assert/strict';
import { accessGraph, mermaidLabel } from '../../../../src/core/rules/accessGraph.ts';
import { acme } from './organizations.ts';

const mermaidOf = (text: string) => /```mermaid\n([\s\S]*?)\n```/.exec(text)?.[1] ?? '';

describe('the access graph', () => {
  const model = acme({
    ops: { people: 'ada ben', roles: 'admin viewer' },
    audit: { people: 'ada', accounts: 'x', roles: 'auditor' },
    rest: { people: 'cyd', roles: 'viewer' },
  });
  const graphOf = (kind: 'principal' | 'group' | 'role', at: number) => {
    const entry = { principal: model.principals, group: model.groups, role: model.roles }[kind][at];
    assert.ok(entry);
    return accessGraph(model, { kind, entry } as Parameters<typeof accessGraph>[1], 'read now');
  };

  it('shows through which groups somebody has which roles', () => {
    const text = graphOf('principal', 0);
    assert.equal(
      mermaidOf(text),
      [
        'flowchart LR',
        '  n0(["ada#64;acme#46;example"])',
        '  n1["ops"]',
        '  n0 --> n1',
        '  n2{{"admin"}}',
        '  n1 --> n2',
        '  n3{{"viewer"}}',
        '  n1 --> n3',
        '  n4["audit"]',
        '  n0 --> n4',
        '  n5{{"auditor"}}',
        '  n4 --> n5',
      ].join('\n'),
    );
    assert.match(text, /\| ops \| ada@acme\.example \(subject\) \| admin, viewer \|/);
    assert.doesNotMatch(text, /ben@/);
  });

  it('shows who has a role, and what a group gives to whom', () => {
    assert.match(mermaidOf(graphOf('role', 3)), /ben#64;[\s\S]*cyd#64;/);
    assert.doesNotMatch(mermaidOf(graphOf('role', 3)), /auditor/);
    assert.match(mermaidOf(graphOf('group', 1)), /\(\["x"\]\)/);
  });

  it('says that it is cut, and keeps everything in the table', () => {
    const people = Array.from({ length: 600 }, (_, at) => `person-${at}`).join(' ');
    const large = acme({ ops: { people, roles: 'admin' } });
    const [entry] = large.groups;
    assert.ok(entry);
    const text = accessGraph(large, { kind: 'group', entry }, '');
    assert.equal(mermaidOf(text).match(/-->/g)?.length, 400);
    assert.match(text, /Too large to draw: 400 of 601 connections are shown/);
    assert.match(text, /person-599@/);
    const long = acme({
      ops: { subjects: Array.from({ length: 300 }, (_, at) => ({ id: `${at}${'ü'.repeat(60)}`, issuer: 'i' })) },
    });
    const [other] = long.groups;
    assert.ok(other && mermaidOf(accessGraph(long, { kind: 'group', entry: other }, '')).length <= 45_000);
  });

  it('holds nothing of a hostile name but letters, digits, spaces and references', () => {
    for (const name of [
      '<img src=x onerror=alert(1)>',
      '%%{init: {"theme":"dark"}}%%',
      '`x`',
      '$$x$$',
      'fa:fa-x',
      '#35;',
      'a\nb',
      '"]; n1 --> n2; n3["',
      'end',
      'ﬂ°°35¶ß',
      '\u202Eevil',
      '```\n# x',
      '👍 ü',
      'click n0 "javascript:x"',
    ]) {
      assert.match(mermaidLabel(name), /^(?:[A-Za-z0-9 ]|#\d+;)*$/, name);
      const hostile = acme({ it: { name, people: 'ada', roles: 'admin' } });
      const [entry] = hostile.groups;
      assert.ok(entry);
      const lines = mermaidOf(accessGraph(hostile, { kind: 'group', entry }, '')).split('\n');
      assert.equal(lines.length, 6, name);
      assert.ok(
        lines
          .slice(1)
          .every((line) =>
            /^ {2}n\d+(?: --> n\d+|(?:\[|\(\[|\{\{)"(?:[A-Za-z0-9 ]|#\d+;)*"(?:\]|\]\)|\}\}))$/.test(line),
          ),
        lines.join('\n'),
      );
    }
    assert.equal(mermaidLabel('ﬂ¶'), '#92;u#123;fb02#125;#92;u#123;b6#125;');
  });
});

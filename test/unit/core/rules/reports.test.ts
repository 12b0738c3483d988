import assert from 'node:assert/strict';
import { documentMarkdown } from '../../../../src/core/access/pageDocument.ts';
import { readAccessFile } from '../../../../src/core/rules/accessFile.ts';
import {
  checkUnread,
  findingsOf,
  sortedFindingsOf,
  unknownOrganization,
} from '../../../../src/core/rules/checkAccess.ts';
import { fingerprintOf, firstFindings } from '../../../../src/core/rules/findings.ts';
import {
  positionsIn,
  reportDocument,
  reportJson,
  reportSarif,
  summaryOf,
  worstVerdict,
} from '../../../../src/core/rules/reports.ts';
import { acme, check, file, NOON, ROLES } from './organizations.ts';

const BODY = `rules:
  - { id: apart, kind: separation-of-duties, roles: [admin, auditor], severity: error, why: "audit <b>" }
  - { id: ü👍, kind: max-holders, role: admin, max: 1 }
  - { id: typo, kind: max-holders, role: admim, max: 1 }
  - { id: fine, kind: min-holders, role: admin, min: 1 }
declared:
  groups:
    - { name: both, roles: [admin] }
waivers:
  - { rule: apart, for: ada@acme.example, owner: lead@acme.example, reason: "T-1 | x", until: 2027-01-31 }
`;
const model = acme({ both: { people: 'ada ben', roles: 'admin auditor' } });
const checked = { path: 'rules/a b/acmé.access.yaml', check: check(BODY, model) };
const partial = acme({ both: { people: 'ada' } }, ROLES, (it) => ({
  ...it,
  roles: { ...it.roles, items: undefined, problem: '403' },
}));

interface Sarif {
  readonly runs: readonly {
    readonly columnKind: string;
    readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
    readonly invocations: readonly {
      readonly executionSuccessful: boolean;
      readonly toolExecutionNotifications: readonly { readonly message: { readonly text: string } }[];
    }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly kind: string;
      readonly level: string;
      readonly partialFingerprints?: Readonly<Record<string, string>>;
      readonly suppressions?: readonly object[];
      readonly locations: readonly {
        readonly physicalLocation: { readonly artifactLocation: { readonly uri: string }; readonly region: object };
      }[];
    }[];
  }[];
}

describe('reports of a check', () => {
  it('have the same order in whatever order the groups come', () => {
    const names = ['cyd', 'ada', 'ben', 'ops 2', 'ops'];
    const messages = (order: readonly string[]) => {
      const groups = Object.fromEntries(order.map((name) => [name, {}]));
      const made = check('rules:\n  - { id: a, kind: required-tags, tags: [b, a] }\n', acme(groups));
      const sorted = sortedFindingsOf(made);
      for (const most of [0, 1, 4, 10, 50])
        assert.deepEqual(firstFindings(findingsOf(made), most), sorted.slice(0, most), 'the first few are the same');
      return sorted.map(({ message }) => message);
    };
    assert.deepEqual(messages(names), messages(names.toReversed()));
    assert.deepEqual(messages(names).slice(0, 3), ['ada has no tag a', 'ada has no tag b', 'ben has no tag a']);
  });

  it('give the worst verdict of several files', () => {
    const clean = { path: 'b', check: check('rules:\n  - { id: a, kind: no-empty-groups }\n', model) };
    const unclear = { path: 'c', check: check('', model) };
    assert.equal(worstVerdict([clean]), 'clean');
    assert.equal(worstVerdict([clean, unclear]), 'undecided');
    assert.equal(worstVerdict([unclear, checked, clean]), 'findings');
    assert.equal(worstVerdict([]), 'undecided');
    assert.equal(summaryOf(clean.check), 'clean (1 rule tested)');
    assert.equal(summaryOf(checked.check), '3 findings, 1 waived, 1 undetermined (4 rules, 1 declared group tested)');
  });

  it('are SARIF as code scanning reads it', () => {
    const [run] = (reportSarif([checked], '1.2.3') as Sarif).runs;
    assert.ok(run);
    assert.equal(run.columnKind, 'utf16CodeUnits');
    assert.deepEqual(
      run.results.map(({ ruleId, kind, level, suppressions }) => [ruleId, kind, level, suppressions?.length ?? 0]),
      [
        ['acme/apart', 'fail', 'error', 1],
        ['acme/apart', 'fail', 'error', 0],
        ['acme/ü👍', 'fail', 'warning', 0],
        ['acme/declared', 'fail', 'warning', 0],
        ['acme/typo', 'open', 'none', 0],
      ],
    );
    const prints = run.results.flatMap(({ partialFingerprints }) => partialFingerprints?.primaryLocationLineHash ?? []);
    assert.equal(new Set(prints).size, 4, 'findings of one line stay apart');
    assert.deepEqual(
      run.results.filter(({ ruleId }) => !run.tool.driver.rules.some(({ id }) => id === ruleId)),
      [],
    );
    const [place] = run.results[2]?.locations ?? [];
    assert.equal(place?.physicalLocation.artifactLocation.uri, 'rules/a%20b/acm%C3%A9.access.yaml');
    assert.deepEqual(place.physicalLocation.region, { startLine: 6, startColumn: 11, endLine: 6, endColumn: 14 });
    assert.equal(run.invocations[0]?.executionSuccessful, true);
  });

  it('say what could not be read', () => {
    const [run] = (reportSarif([{ path: 'a', check: check(BODY, partial) }], '1') as Sarif).runs;
    assert.equal(run?.invocations[0]?.executionSuccessful, false);
    assert.match(
      run?.invocations[0]?.toolExecutionNotifications[0]?.message.text ?? '',
      /acme: The roles could not be read/,
    );
  });

  it('name once what nothing was read of, and why, with every rule as undecided', () => {
    const unread = checkUnread(readAccessFile(file(BODY)), undefined, { now: NOON });
    assert.equal(summaryOf(unread), 'undetermined (nothing could be tested)');
    const slip = readAccessFile(file(BODY).replace('organization: acme', 'organization: acne'));
    const problem = unknownOrganization(slip, ['acme', 'other']);
    const check = checkUnread(slip, problem, { now: NOON });
    const sentence = 'acne is not one of the organizations that you show. Did you mean "acme"?';
    assert.deepEqual(check.reasons, [sentence]);
    assert.deepEqual(
      problem?.fixes?.map(({ title }) => title),
      ['Change to "acme"'],
    );
    const text = documentMarkdown(reportDocument([{ path: 'a', check }], { now: NOON }));
    assert.doesNotMatch(text, /Incomplete|unknown time|No findings/);
    assert.match(text, /\| apart \| The groups could not be read\./);
    assert.ok(text.includes(`> **Note:** Undetermined: ${sentence}\n`), text);
    assert.equal(unknownOrganization(slip, ['acne']), undefined);
  });

  it('are JSON with the same verdict', () => {
    const json = JSON.parse(JSON.stringify(reportJson([checked], { now: NOON })));
    assert.equal(json.verdict, 'findings');
    assert.equal(json.files[0].findings.length, findingsOf(checked.check).length);
    assert.deepEqual(json.files[0].findings[0].waiver, {
      owner: 'lead@acme.example',
      reason: 'T-1 | x',
      until: '2027-01-31',
    });
    assert.deepEqual(json.files[0].findings[2].holders, { least: 2, most: 2 });
    assert.equal(json.files[0].problems[0].code, 'unknown-reference');
  });

  it('are Markdown in which nothing is markup but its own', () => {
    const text = documentMarkdown(reportDocument([checked], { now: NOON }));
    assert.match(text, /^# Access check of acme/);
    assert.match(text, /\| apart \| ben@acme\.example has both admin and auditor, through both \| error \| both \|/);
    assert.match(
      text,
      /## Waived\n\n.*\n.*\n\| apart \| ada@acme\.example has .* \| T-1 \\\| x \| lead@acme\.example \| 2027-01-31 \|/,
    );
    assert.doesNotMatch(documentMarkdown(reportDocument([checked], { now: NOON, emails: false })), /lead@/);
    assert.match(text, /## Undetermined/);
  });

  it('count lines as editors do, and columns in UTF-16 code units', () => {
    const text = 'a\r\nb👍c\rd\ne\u2028f';
    assert.deepEqual(positionsIn(text)(text.indexOf('c')), { line: 2, column: 4 });
    assert.deepEqual(positionsIn(text)(text.indexOf('d')), { line: 3, column: 1 });
    assert.deepEqual(positionsIn(text)(text.indexOf('f')), { line: 4, column: 3 });
  });

  it('identify a finding by what it is about, not by names, lines and numbers', () => {
    const prints = (result: ReturnType<typeof check>) => findingsOf(result).map(fingerprintOf);
    const renamed = acme({
      both: { name: 'renamed', people: 'ada ben', roles: 'admin auditor' },
      more: { people: 'eve', roles: 'admin' },
    });
    const rules = (text: string) => check(text.slice(0, text.indexOf('declared:')), renamed);
    assert.deepEqual(prints(rules(BODY)), prints(rules(BODY.replace('rules:\n', 'rules:\n\n# moved\n'))));
    assert.deepEqual(prints(rules(BODY)), prints(checked.check).slice(0, 3));
  });
});

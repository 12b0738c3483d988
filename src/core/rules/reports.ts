import * as l10n from '@vscode/l10n';
import { gapText, timeText } from '../access/descriptions.ts';
import {
  type Block,
  heading,
  joinLines,
  type Line,
  notice,
  type PageDocument,
  paragraph,
  table,
} from '../access/pageDocument.ts';
import { groupName } from '../access/queries.ts';
import type { TextRange } from '../base/errors.ts';
import { joinSentences } from '../base/text.ts';
import type { Waiver } from './accessFile.ts';
import {
  type CheckResult,
  type CheckVerdict,
  findingsOf,
  type RuleResult,
  type RuleStatus,
  sortedFindingsOf,
  unreadReasons,
} from './checkAccess.ts';
import { type Finding, fingerprintOf, groupsOf } from './findings.ts';
import { dateText } from './schema.ts';

/** A check of one file; `path` is relative to the folder that is checked, with `/`. */
export interface CheckedFile {
  readonly path: string;
  readonly check: CheckResult;
}

export interface ReportOptions {
  /** In milliseconds since 1970. */
  readonly now: number;
  /** False if the check was made without email addresses too. */
  readonly emails?: boolean;
}

/** Line and column from 1, in UTF-16 code units. Lines end as they do in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Gives the position of each offset of a text. */
export function positionsIn(text: string): (offset: number) => Position {
  const starts = [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map((end) => end.index + end[0].length)];
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** The worst verdict of several files: findings, then undetermined, then clean. Without a file: undetermined. */
export function worstVerdict(files: readonly CheckedFile[]): CheckVerdict {
  const verdicts = files.map(({ check }) => check.verdict);
  if (verdicts.includes('findings')) return 'findings';
  return verdicts.length === 0 || verdicts.includes('undecided') ? 'undecided' : 'clean';
}

const TESTED: readonly RuleStatus[] = ['pass', 'fail', 'waived'];

/** `2 findings, 1 waived, 1 undetermined (12 rules, 3 declared groups tested)`. */
export function summaryOf(check: CheckResult): string {
  const all = findingsOf(check);
  const isAnyTested = check.tested.groups > 0 || check.rules.some(({ status }) => TESTED.includes(status));
  if (check.verdict === 'undecided' && !isAnyTested) return l10n.t('undetermined (nothing could be tested)');
  const waived = all.filter(({ waiver }) => waiver !== undefined).length;
  const undecided =
    check.rules.filter(({ status }) => status === 'undecided').length +
    (check.drift && check.drift.reasons.length > 0 ? 1 : 0) +
    (check.reasons.length > 0 ? 1 : 0);
  const unwaived = all.length - waived;
  const parts = [
    ...(unwaived > 0 ? [unwaived === 1 ? l10n.t('1 finding') : l10n.t('{0} findings', unwaived)] : []),
    ...(waived > 0 ? [l10n.t('{0} waived', waived)] : []),
    ...(undecided > 0 ? [undecided === 1 ? l10n.t('1 undetermined') : l10n.t('{0} undetermined', undecided)] : []),
  ];
  return l10n.t('{0} ({1} tested)', parts.join(', ') || l10n.t('clean'), testedText(check));
}

function testedText({ rules, drift, tested }: CheckResult): string {
  const parts = [
    ...(rules.length === 0 && drift ? [] : [tested.rules === 1 ? l10n.t('1 rule') : l10n.t('{0} rules', tested.rules)]),
    ...(drift === undefined
      ? []
      : [tested.groups === 1 ? l10n.t('1 declared group') : l10n.t('{0} declared groups', tested.groups)]),
  ];
  return parts.join(', ');
}

export function reportJson(files: readonly CheckedFile[], { now, emails = true }: ReportOptions): object {
  return {
    format: 'rolecall.check',
    version: 1,
    checkedAt: new Date(now).toISOString(),
    verdict: worstVerdict(files),
    files: files.map(({ path, check }) => {
      const positionOf = positionsIn(check.file.text);
      const at = ({ start }: TextRange) => positionOf(start);
      return {
        path,
        organization: check.organization,
        ...(check.at !== undefined && { readAt: new Date(check.at).toISOString() }),
        verdict: check.verdict,
        summary: summaryOf(check),
        tested: check.tested,
        reasons: check.reasons,
        gaps: check.gaps.map((gap) => ({ ...gap, text: gapText(gap) })),
        rules: check.rules.map(({ rule, status, reasons }) => ({
          id: rule.id,
          kind: rule.kind,
          severity: rule.severity,
          status,
          reasons,
          ...at(rule.place),
        })),
        findings: sortedFindingsOf(check).map((finding) => ({
          rule: finding.rule,
          kind: finding.kind,
          severity: finding.severity,
          message: finding.message,
          fingerprint: fingerprintOf(finding),
          ...at(finding.place),
          ...(finding.range && { holders: finding.range }),
          ...(finding.waiver && { waiver: waiverJson(finding.waiver, emails) }),
        })),
        drift: check.drift && { reasons: check.drift.reasons, tested: check.drift.tested },
        problems: check.problems.map(({ code, severity, message, start }) => ({
          code,
          severity,
          message,
          ...positionOf(start),
        })),
      };
    }),
  };
}

function waiverJson({ owner, reason, until }: Waiver, emails: boolean): object {
  return { ...(emails && owner.text !== undefined && { owner: owner.text }), reason, until: dateText(until) };
}

const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const;

/** SARIF 2.1.0, as code scanning reads it. Passed rules are left out: code scanning shows every result as a finding. */
export function reportSarif(files: readonly CheckedFile[], version: string): object {
  const ruleIds = new Map<string, object>();
  for (const { check } of files) {
    for (const { rule } of check.rules) {
      const id = sarifRule(check, rule.id);
      if (ruleIds.has(id)) continue;
      ruleIds.set(id, {
        id,
        name: rule.kind,
        shortDescription: { text: rule.why ?? rule.kind },
        defaultConfiguration: { level: LEVELS[rule.severity] },
      });
    }
    if (check.drift) {
      const id = sarifRule(check, 'declared');
      ruleIds.set(id, { id, name: 'drift', shortDescription: { text: l10n.t('The declared state') } });
    }
  }
  const gaps = files.flatMap(({ check }) => check.gaps.map((gap) => ({ gap, check })));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Rolecall', version, rules: [...ruleIds.values()] } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: !gaps.some(({ gap }) => gap.kind === 'unread'),
            toolExecutionNotifications: gaps.map(({ gap, check }) => ({
              level: gap.kind === 'unread' ? 'error' : 'warning',
              message: { text: `${check.organization}: ${gapText(gap)}` },
            })),
            toolConfigurationNotifications: files.flatMap(({ path, check }) => {
              const location = locationsIn(path, check);
              return check.problems.map((problem) => ({
                level: problem.severity === 'information' ? 'note' : problem.severity,
                message: { text: problem.message },
                locations: [location(problem)],
              }));
            }),
          },
        ],
        results: files.flatMap(sarifResults),
      },
    ],
  };
}

function sarifRule({ organization }: CheckResult, id: string): string {
  return `${encodeURIComponent(organization)}/${id}`;
}

function sarifResults({ path, check }: CheckedFile): readonly object[] {
  const location = locationsIn(path, check);
  const open = (id: string, place: TextRange, reasons: readonly string[]) => ({
    ruleId: sarifRule(check, id),
    kind: 'open',
    level: 'none',
    message: { text: l10n.t('Undetermined: {0}', joinSentences(reasons)) },
    locations: [location(place)],
  });
  const fails = sortedFindingsOf(check).map((finding) => ({
    ruleId: sarifRule(check, finding.rule),
    kind: 'fail',
    level: LEVELS[finding.severity],
    message: { text: `${finding.message}.` },
    locations: [location(finding.place)],
    partialFingerprints: { 'rolecall/v1': fingerprintOf(finding), primaryLocationLineHash: fingerprintOf(finding) },
    ...(finding.waiver && {
      suppressions: [
        {
          kind: 'inSource',
          status: 'accepted',
          justification: finding.waiver.reason,
          location: location(finding.waiver.value),
        },
      ],
    }),
  }));
  const undecided = check.rules.filter(({ status }) => status === 'undecided');
  return [
    ...fails,
    ...undecided.map(({ rule, reasons }) => open(rule.id, rule.place, reasons)),
    ...(check.drift && check.drift.reasons.length > 0
      ? [open('declared', check.file.declared?.place ?? { start: 0, end: 1 }, check.drift.reasons)]
      : []),
  ];
}

function locationsIn(path: string, { file }: CheckResult): (place: TextRange) => object {
  const positionOf = positionsIn(file.text);
  const uri = path.split('/').map(encodeURIComponent).join('/');
  return ({ start, end }) => {
    const [from, to] = [positionOf(start), positionOf(end)];
    const region = { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
    return { physicalLocation: { artifactLocation: { uri }, region } };
  };
}

/**
 * The target of a link in a report: a place in a file, or an entry of the organization by its key in the access model.
 */
export type ReportLink =
  | { readonly kind: 'place'; readonly path: string; readonly start: number; readonly end: number }
  | { readonly kind: 'group' | 'role' | 'principal'; readonly organization: string; readonly key: string };

/** The check for users: findings, what is undetermined, and waived findings. */
export function reportDocument(
  files: readonly CheckedFile[],
  { now, emails = true }: ReportOptions,
): PageDocument<ReportLink> {
  const organizations = [...new Set(files.map(({ check }) => check.organization))].filter((name) => name !== '');
  return {
    title: l10n.t('Access check of {0}', organizations.join(', ')),
    about: [timeText(now)],
    blocks: files.flatMap((file) => fileBlocks(file, emails)),
  };
}

type ReportBlock = Block<ReportLink>;

function fileBlocks({ path, check }: CheckedFile, emails: boolean): readonly ReportBlock[] {
  const all = sortedFindingsOf(check);
  const open = all.filter(({ waiver }) => waiver === undefined);
  const waived = all.filter(({ waiver }) => waiver !== undefined);
  const undecided = check.rules.filter(({ status }) => status === 'undecided');
  const unread = unreadReasons(check);
  const rows = [
    ...undecided.map(({ rule, reasons }) => [placeLink(path, rule.id, rule.place), [joinSentences(reasons)]]),
    ...(check.drift?.reasons ?? []).map((reason) => [
      placeLink(path, 'declared', check.file.declared?.place),
      [reason],
    ]),
    ...check.reasons.filter((reason) => !unread.includes(reason)).map((reason) => [[path], [reason]]),
  ];
  const readLine = check.at === undefined ? [] : [` · ${l10n.t('read {0}', timeText(check.at))}`];
  const findings = table(
    [l10n.t('Rule'), l10n.t('Finding'), l10n.t('Severity'), l10n.t('Through')],
    open.map((finding) => [
      placeLink(path, finding.rule, finding.place),
      [finding.message],
      [finding.severity],
      throughLine(check, finding),
    ]),
    l10n.t('No findings.'),
  );
  return [
    heading(path),
    ...(unread.length > 0
      ? unread.map((reason) => notice(l10n.t('Undetermined: {0}', reason)))
      : check.gaps.map((gap) => notice(l10n.t('Incomplete: {0}', gapText(gap))))),
    paragraph(...([{ strong: summaryOf(check) }, ...readLine] as Line<ReportLink>)),
    // Data that was not read must not look clean.
    ...(unread.length > 0 ? [] : [findings]),
    ...(rows.length > 0 ? [heading(l10n.t('Undetermined')), table([l10n.t('Rule'), l10n.t('Why')], rows, '')] : []),
    ...(waived.length > 0
      ? [
          heading(l10n.t('Waived')),
          table(
            [l10n.t('Rule'), l10n.t('Finding'), l10n.t('Reason'), l10n.t('Owner'), l10n.t('Until')],
            waived.map(({ rule, message, place, waiver }) => [
              placeLink(path, rule, place),
              [message],
              [waiver?.reason ?? ''],
              [(emails && waiver?.owner.text) || ''],
              [waiver === undefined ? '' : dateText(waiver.until)],
            ]),
            '',
          ),
        ]
      : []),
    ...problemRows(path, check),
  ];
}

function problemRows(path: string, { problems, file }: CheckResult): readonly ReportBlock[] {
  if (problems.length === 0) return [];
  const positionOf = positionsIn(file.text);
  return [
    heading(l10n.t('Problems in the file')),
    table(
      [l10n.t('Line'), l10n.t('Problem')],
      problems.map((problem) => [placeLink(path, String(positionOf(problem.start).line), problem), [problem.message]]),
      '',
    ),
  ];
}

function placeLink(path: string, text: string, place: TextRange = { start: 0, end: 0 }): Line<ReportLink> {
  return [{ text, link: { kind: 'place', path, start: place.start, end: place.end } }];
}

/** The groups that lead to a finding, with links. */
function throughLine({ organization }: CheckResult, finding: Finding): Line<ReportLink> {
  return joinLines(
    groupsOf(finding).map((group) => [
      { text: groupName(group), link: { kind: 'group', organization, key: group.key } } as const,
    ]),
  );
}

/** One line for each finding, and for each undetermined rule, as compilers print them. */
export function reportLines({ path, check }: CheckedFile): readonly string[] {
  const positionOf = positionsIn(check.file.text);
  const line = (place: TextRange, severity: string, rule: string, text: string) => {
    const { line: number, column } = positionOf(place.start);
    return `${path}:${number}:${column}: ${severity}: ${rule === '' ? '' : `${rule}: `}${text}`;
  };
  const undecided = ({ rule, reasons }: RuleResult) =>
    line(rule.place, 'undetermined', rule.id, joinSentences(reasons));
  const drift = check.drift?.reasons.map((reason) =>
    line(check.file.declared?.place ?? { start: 0, end: 0 }, 'undetermined', 'declared', reason),
  );
  return [
    ...check.problems.map((problem) => line(problem, problem.severity, '', problem.message)),
    ...check.reasons.map((reason) => `${path}: undetermined: ${reason}`),
    ...sortedFindingsOf(check).map((finding) =>
      line(
        finding.place,
        finding.waiver ? 'waived' : finding.severity,
        finding.rule,
        finding.waiver ? `${finding.message} (${finding.waiver.reason})` : finding.message,
      ),
    ),
    ...check.rules.filter(({ status }) => status === 'undecided').map(undecided),
    ...(drift ?? []),
    `${path}: ${summaryOf(check)}`,
  ];
}

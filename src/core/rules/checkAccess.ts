import * as l10n from '@vscode/l10n';
import { gapText } from '../access/descriptions.ts';
import { type AccessModel, buildModel, type Gap } from '../access/model.ts';
import { compareText, didYouMean, nearest, oneLine } from '../base/text.ts';
import { type AccessFile, firstErrorIn, type Rule, readAccessFile, ruleKindOf } from './accessFile.ts';
import { type Drift, driftOf } from './drift.ts';
import { type Finding, sortedFindings } from './findings.ts';
import type { ListName, RuleKind } from './kinds/kind.ts';
import { duplicatesEvidence } from './people.ts';
import { type CheckContext, createCheckContext, peopleErrorText, RuleEvaluation } from './ruleEvaluation.ts';
import { dayOfTime, type Field, type FileProblem, problem, replacement } from './schema.ts';
import { applyWaivers } from './waivers.ts';

/** `undecided`: undetermined. `off`: not enabled. */
export type RuleStatus = 'fail' | 'undecided' | 'waived' | 'pass' | 'off';

export interface RuleResult {
  readonly rule: Rule;
  readonly status: RuleStatus;
  /** In the order of the reading; waived ones have their waiver. */
  readonly findings: readonly Finding[];
  /** Why it cannot be judged, localized. */
  readonly reasons: readonly string[];
}

export type CheckVerdict = 'clean' | 'findings' | 'undecided';

export interface CheckResult {
  readonly file: AccessFile;
  readonly organization: string;
  readonly verdict: CheckVerdict;
  readonly rules: readonly RuleResult[];
  readonly drift: Drift | undefined;
  /** Problems of the file itself, its references and its waivers, in the order of the text. */
  readonly problems: readonly FileProblem[];
  /** Why the file as a whole cannot be judged; localized. */
  readonly reasons: readonly string[];
  readonly tested: { readonly rules: number; readonly groups: number };
  readonly gaps: readonly Gap[];
  /** When the older list was read, in milliseconds since 1970. */
  readonly at: number | undefined;
}

export interface CheckOptions {
  /** In milliseconds since 1970: the day in UTC decides about waivers. */
  readonly now: number;
  /** Whether findings show email addresses; they do unless this is false. */
  readonly emails?: boolean;
}

/** Judges one reading of an organization by a file of access rules. Never throws, whatever the file holds. */
export function checkAccess(text: string | AccessFile, model: AccessModel, options: CheckOptions): CheckResult {
  const file = typeof text === 'string' ? readAccessFile(text) : text;
  const problems = [...file.problems];
  const today = dayOfTime(options.now);
  const context = createCheckContext(file, model, today, options.emails !== false, (one) => problems.push(one));
  const isJudged = file.isReadable && file.organization === model.organization;
  const judged = isJudged ? evaluateRules(file.rules, context) : [];
  const rules = applyWaivers(file.waivers, judged, context);
  const drift = isJudged && file.declared ? driftOf(file.declared, context) : undefined;
  if (rules.some(({ hasTwins }) => hasTwins) || drift?.hasTwins) offerDuplicates(file, context);
  const reasons = reasonsOf(file, model, drift);
  const tested = { rules: rules.filter(({ status }) => status !== 'off').length, groups: drift?.tested ?? 0 };
  return {
    file,
    organization: model.organization,
    verdict: verdictOf(rules, drift, reasons),
    rules,
    drift,
    problems: problems.sort((one, other) => one.start - other.start || compareText(one.message, other.message)),
    reasons,
    tested,
    gaps: model.gaps,
    at: model.at,
  };
}

/**
 * The result for a file whose organization was not read: everything in it is undetermined. @param reason can be a problem
 * of the file.
 */
export function checkUnread(file: AccessFile, reason: FileProblem | string = '', options: CheckOptions): CheckResult {
  const [message, problems] = typeof reason === 'string' ? [reason, []] : [reason.message, [reason]];
  const list = { items: undefined, malformed: 0, at: undefined, problem: message };
  const model = buildModel({ organization: file.organization ?? '', groups: list, roles: list });
  return checkAccess({ ...file, problems: [...file.problems, ...problems] }, model, options);
}

/** The result for a file that names an organization which the user does not show: nothing is read for it. */
export function unknownOrganization(
  { organization, value }: AccessFile,
  organizations: readonly string[],
): FileProblem | undefined {
  const field = value.fields?.get('organization');
  if (organization === undefined || field === undefined || organizations.includes(organization)) return undefined;
  const suggestion = nearest(organization, organizations);
  const message = l10n.t('{0} is not one of the organizations that you show.', oneLine(organization));
  const fixes = suggestion === undefined ? [] : [replacement(field.value, suggestion)];
  return problem('unknown-organization', field.value, didYouMean(message, suggestion), 'warning', fixes);
}

/** Why nothing was read of an organization, localized; empty if one of its lists was read. */
export function unreadReasons({ gaps }: Pick<AccessModel, 'gaps'>): readonly string[] {
  const unread = gaps.filter(({ kind }) => kind === 'unread');
  // A reason usually names the organization; for both lists it is the same.
  return unread.length < 2 ? [] : [...new Set(unread.map((gap) => (gap.reason === '' ? gapText(gap) : gap.reason)))];
}

/** All findings of a check, including waived ones, in the order of the rules and of the reading. */
export function findingsOf({ rules, drift }: Pick<CheckResult, 'rules' | 'drift'>): readonly Finding[] {
  return [...rules.flatMap(({ findings }) => findings), ...(drift?.findings ?? [])];
}

/** The same in a stable order, for files and views: the findings of each rule are sorted by message. */
export function sortedFindingsOf({ rules, drift }: Pick<CheckResult, 'rules' | 'drift'>): readonly Finding[] {
  return [...rules.flatMap(({ findings }) => sortedFindings(findings)), ...(drift?.findings ?? [])];
}

function verdictOf(rules: readonly RuleResult[], drift: Drift | undefined, reasons: readonly string[]): CheckVerdict {
  const counted = rules.filter(({ rule }) => rule.severity !== 'info');
  if (counted.some(({ status }) => status === 'fail') || (drift && drift.findings.length > 0)) return 'findings';
  const isUndecided = counted.some(({ status }) => status === 'undecided') || (drift && drift.reasons.length > 0);
  return isUndecided || reasons.length > 0 ? 'undecided' : 'clean';
}

function reasonsOf(file: AccessFile, model: AccessModel, drift: Drift | undefined): readonly string[] {
  if (!file.isReadable || !file.isWhole)
    return [firstErrorIn(file.problems, { start: 0, end: file.text.length }) ?? l10n.t('The file cannot be read.')];
  if (file.organization !== model.organization) return [l10n.t('The file is about another organization.')];
  const hasRules = file.rules.some(({ isEnabled }) => isEnabled);
  return hasRules || drift ? unreadReasons(model) : [l10n.t('The file has no rules and no declaration.')];
}

/** A judged rule, before {@link applyWaivers}. */
export interface EvaluatedRule extends Omit<RuleResult, 'status'> {
  readonly isOff: boolean;
  readonly hasTwins: boolean;
}

/** The number of groups that fit in the processor's cache. */
const BLOCK = 100;

/**
 * Goes through the groups once for all rules: fetching a group from memory takes longer than what a rule does with it.
 */
function evaluateRules(rules: readonly Rule[], context: CheckContext): readonly EvaluatedRule[] {
  const evaluations = rules.map((rule) => startRule(rule, context));
  const visitors = evaluations.flatMap(({ groupVisitors }) => groupVisitors);
  const { groups } = context.model;
  for (let start = 0; start < groups.length; start += BLOCK) {
    const block = groups.slice(start, start + BLOCK);
    for (const visit of visitors) block.forEach(visit);
  }
  return evaluations.map(({ end }) => end());
}

/** A rule that is evaluated except for its group callbacks. */
interface StartedRule {
  readonly groupVisitors: RuleEvaluation['groupVisitors'];
  readonly end: () => EvaluatedRule;
}

function startRule(rule: Rule, context: CheckContext): StartedRule {
  const decided = (judged: Partial<EvaluatedRule>): StartedRule => {
    const whole = { rule, isOff: false, findings: [], reasons: [], hasTwins: false, ...judged };
    return { groupVisitors: [], end: () => whole };
  };
  const undecided = (reasons: readonly string[]) => decided({ reasons });
  const kind = ruleKindOf(rule.kind);
  if (!rule.isEnabled && rule.mistake === undefined) return decided({ isOff: true });
  if (rule.mistake !== undefined || kind === undefined) return undecided([rule.mistake ?? '']);
  if (kind.isAboutHolders && !context.arePeopleSound) return undecided([peopleErrorText()]);
  const unread = kind.needs(rule.value).filter((list) => gapsOf(context.model, list, 'unread').length > 0);
  if (unread.length > 0) return undecided(unread.map(unreadText));
  const evaluation = new RuleEvaluation(context, rule, kind);
  if (evaluation.obstacles.length > 0) return undecided(evaluation.obstacles);
  kind.evaluate(evaluation);
  if (evaluation.obstacles.length > 0) return undecided(evaluation.obstacles);
  return { groupVisitors: evaluation.groupVisitors, end: () => concludeRule(rule, kind, evaluation, context.model) };
}

const LISTS_MISSING = ['missing'] as const;

/** A list that is incomplete turns a pass into "undetermined"; for the lists in `turned` it turns findings into that. */
function concludeRule(rule: Rule, kind: RuleKind, evaluation: RuleEvaluation, model: AccessModel): EvaluatedRule {
  const reasons = evaluation.undecidedReasons.map(({ reason }) => reason);
  let { findings } = evaluation;
  for (const list of evaluation.lists) {
    // A role that a rule names is complete if it was found.
    const isConcerned = list !== 'roles' || kind.needs(rule.value).includes('roles') || evaluation.namesRolePatterns;
    const missing = isConcerned ? gapsOf(model, list, 'malformed', ...(kind.isAboutMetadata ? [] : LISTS_MISSING)) : [];
    const isTurned = kind.turned?.includes(list) === true;
    if (missing.length > 0 && isTurned === findings.length > 0) {
      reasons.push(...missing.map(gapReason));
      findings = [];
    }
    if (findings.length === 0) reasons.push(...gapsOf(model, list, 'stale').map(gapReason));
  }
  const hasTwins = evaluation.undecidedReasons.some(({ isTwin }) => isTwin);
  return { rule, isOff: false, findings, reasons: [...new Set(reasons)], hasTwins };
}

function gapsOf(model: AccessModel, list: ListName, ...kinds: readonly Gap['kind'][]): readonly Gap[] {
  return model.gaps.filter((gap) => gap.list === list && kinds.includes(gap.kind));
}

function unreadText(list: ListName): string {
  return list === 'groups' ? l10n.t('The groups could not be read.') : l10n.t('The roles could not be read.');
}

function gapReason({ list, kind }: Gap): string {
  if (kind === 'stale')
    return list === 'groups'
      ? l10n.t('The groups could not be refreshed.')
      : l10n.t('The roles could not be refreshed.');
  return list === 'groups'
    ? l10n.t('Some groups could not be understood.')
    : l10n.t('Some roles could not be understood.');
}

/** If it matters whether user IDs repeat subjects, reports the evidence for it. */
function offerDuplicates(file: AccessFile, { model, people, report }: CheckContext): void {
  const { equal, all } = duplicatesEvidence(model);
  if (people.identity !== 'unknown' || all === 0) return;
  const field = file.value.fields?.get('organization');
  if (field === undefined) return;
  const place = { start: field.key.start, end: field.value.end };
  const message =
    equal === all
      ? l10n.t(
          'User IDs may repeat subjects: {0} of {1} groups have as many of one as of the other. Set "identity" to say whether they do.',
          equal,
          all,
        )
      : l10n.t(
          'User IDs may repeat subjects, although only {0} of {1} groups have as many of one as of the other.',
          equal,
          all,
        );
  const fixes =
    equal === all && !file.value.fields?.has('identity')
      ? [{ title: l10n.t('User IDs Repeat Subjects'), edits: [identityAfter(file, field)] }]
      : [];
  report(problem('duplicate-people', place, message, 'information', fixes));
}

/** The key that says that user IDs repeat subjects, inserted after another key of the file. */
function identityAfter({ text, value: top }: AccessFile, { key, value: { end } }: Field) {
  const member = 'identity: { userIds: duplicates }';
  if (text[top.start] === '{') return { start: end, end, text: `, ${member}` };
  const line = text.slice(0, key.start).search(/[^\r\n]*$/);
  const indentation = text.slice(line, key.start);
  const lineEnd = end + text.slice(end).search(/\r?\n|$/);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  return { start: lineEnd, end: lineEnd, text: `${lineBreak}${indentation}${member}` };
}

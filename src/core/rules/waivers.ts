import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { didYouMean, nearest, oneLine } from '../base/text.ts';
import type { Waiver } from './accessFile.ts';
import type { EvaluatedRule, RuleResult, RuleStatus } from './checkAccess.ts';
import type { Finding } from './findings.ts';
import type { FindingSubject } from './kinds/kind.ts';
import { type CheckContext, reportUnresolved } from './ruleEvaluation.ts';
import { problem, replacement, type Value } from './schema.ts';

/**
 * The number of days before its end from which an ending waiver is reported. A waiver for more than a year is
 * questioned.
 */
const SOON = 14;
const YEAR = 366;

const MAX_HOLDERS = 'max-holders';

/** A waiver with the entries that it names in this reading. */
interface Candidate {
  readonly waiver: Waiver;
  readonly isActive: boolean;
  readonly covers: (subject: FindingSubject) => boolean;
  isUsed: boolean;
}

type Weighed = RuleResult & { readonly hasTwins: boolean };

/**
 * Removes accepted findings from the verdict, and reports mistakes in the waivers. Waivers hide neither doubts nor
 * problems.
 */
export function applyWaivers(
  waivers: readonly Waiver[],
  judged: readonly EvaluatedRule[],
  context: CheckContext,
): readonly Weighed[] {
  const byRule = new Map<string, Candidate[]>();
  const rules = new Map(judged.map((one) => [one.rule.id, one]));
  for (const waiver of waivers) {
    const rule = rules.get(waiver.rule);
    if (rule === undefined) {
      reportUnknownRule(waiver, [...rules.keys()], context);
      continue;
    }
    const candidate = candidateOf(waiver, rule, context);
    if (candidate === undefined) continue;
    const before = byRule.get(waiver.rule);
    if (before) before.push(candidate);
    else byRule.set(waiver.rule, [candidate]);
  }
  return judged.map((one) => {
    const candidates = byRule.get(one.rule.id);
    if (candidates === undefined) return { ...one, status: statusOf(one, one.findings, one.reasons) };
    const reasons = [...one.reasons];
    const findings: Finding[] = [];
    for (const finding of one.findings) {
      const { result, doubt } = waive(finding, candidates);
      if (doubt === undefined) findings.push(result);
      else reasons.push(doubt);
    }
    const weighed = { ...one, findings, reasons, status: statusOf(one, findings, reasons) };
    const canTell = weighed.status !== 'undecided' && weighed.status !== 'off';
    if (canTell)
      for (const { waiver, isActive, isUsed } of candidates) if (isActive && !isUsed) reportUnused(waiver, context);
    return weighed;
  });
}

/** Fail, then undetermined, then waived, then pass. */
function statusOf({ isOff }: EvaluatedRule, findings: readonly Finding[], reasons: readonly string[]): RuleStatus {
  if (isOff) return 'off';
  if (findings.some(({ waiver }) => waiver === undefined)) return 'fail';
  if (reasons.length > 0) return 'undecided';
  return findings.length > 0 ? 'waived' : 'pass';
}

function waive(
  finding: Finding,
  candidates: readonly Candidate[],
): { readonly result: Finding; readonly doubt?: string } {
  const fitting = candidates.filter(({ covers }) => finding.subjects.some(covers));
  for (const candidate of fitting) candidate.isUsed = true;
  let doubt: string | undefined;
  for (const { waiver, isActive } of fitting) {
    if (!isActive) continue;
    const { range } = finding;
    if (waiver.upTo === undefined || range === undefined || range.most <= waiver.upTo)
      return { result: { ...finding, waiver } };
    if (range.least <= waiver.upTo)
      doubt = l10n.t(
        '{0}: it could not be determined whether that is more than the {1} accepted.',
        finding.message,
        waiver.upTo,
      );
  }
  const lapsed = fitting.find(({ isActive }) => !isActive)?.waiver;
  return { result: lapsed === undefined ? finding : { ...finding, lapsed }, ...(doubt !== undefined && { doubt }) };
}

function candidateOf(waiver: Waiver, judged: EvaluatedRule, context: CheckContext): Candidate | undefined {
  const { rule } = judged;
  if ((waiver.upTo !== undefined) !== (rule.kind === MAX_HOLDERS) && rule.mistake === undefined) {
    const message =
      rule.kind === MAX_HOLDERS
        ? l10n.t(
            'A waiver of this rule needs "upTo", the number of holders that are accepted. This waiver does not apply.',
          )
        : l10n.t('"upTo" is only for rules of the kind max-holders. This waiver does not apply.');
    warn(context, 'waiver-up-to', waiver, waiver.upTo === undefined ? 'rule' : 'upTo', message);
    return undefined;
  }
  const isActive = reportDates(waiver, context);
  if (waiver.for.text === 'all') {
    reportOwner(waiver, () => false, context);
    return { waiver, isActive, covers: () => true, isUsed: false };
  }
  const resolved = context.resolver.named(waiver.for);
  if (resolved.failure !== undefined) {
    const canTell = judged.reasons.length === 0 && !judged.isOff;
    if (resolved.failure === 'ambiguous' || (resolved.failure === 'unknown' && canTell)) {
      const [, prefix = ''] = /^((?:group|role):)/.exec(waiver.for.text ?? '') ?? [];
      reportUnresolved(context, waiver.for, resolved, resolved.kind, 'warning', prefix);
    }
    return undefined;
  }
  const entries = new Set<unknown>(
    resolved.entries.flatMap((entry): readonly unknown[] =>
      'kind' in entry ? (context.people.personOf(entry)?.principals ?? [entry]) : [entry],
    ),
  );
  const covers = (subject: FindingSubject) => {
    if (subject.kind === 'principal') return subject.principals.some((principal) => entries.has(principal));
    if (subject.kind === 'group') return entries.has(subject.group);
    return subject.kind === 'role' && entries.has(subject.role);
  };
  reportOwner(waiver, (principal) => entries.has(principal), context);
  return { waiver, isActive, covers, isUsed: false };
}

function reportDates(waiver: Waiver, context: CheckContext): boolean {
  const remaining = waiver.until - context.today;
  const warnOfDate = (code: string, message: string) => warn(context, code, waiver, 'until', message);
  if (remaining < 0) warnOfDate('waiver-expired', l10n.t('This waiver has expired.'));
  else if (remaining <= SOON)
    warnOfDate(
      'waiver-expires',
      remaining === 0 ? l10n.t('This waiver expires today.') : l10n.t('This waiver expires in {0} days.', remaining),
    );
  else if (remaining > YEAR) warnOfDate('waiver-long', l10n.t('This waiver is valid for more than a year.'));
  return remaining >= 0;
}

function reportOwner(waiver: Waiver, isSubject: (principal: unknown) => boolean, context: CheckContext): void {
  const { entries: owners } = context.resolver.principal(waiver.owner, false);
  const isSame = waiver.owner.text !== undefined && waiver.owner.text === waiver.for.text;
  if (isSame || owners.some(isSubject))
    warn(context, 'waiver-owner', waiver, 'owner', l10n.t('The owner of this waiver is the person it is for.'));
}

function reportUnused(waiver: Waiver, context: CheckContext): void {
  warn(context, 'waiver-unused', waiver, 'for', l10n.t('This waiver has no effect: the rule has no such finding.'));
}

function reportUnknownRule(waiver: Waiver, rules: readonly string[], context: CheckContext): void {
  const place = placeIn(waiver, 'rule');
  const suggestion = nearest(waiver.rule, rules);
  const message = didYouMean(l10n.t('There is no rule "{0}".', oneLine(waiver.rule)), suggestion);
  context.report(
    problem('waiver-rule', place, message, 'warning', suggestion === undefined ? [] : [replacement(place, suggestion)]),
  );
}

function warn(context: CheckContext, code: string, waiver: Waiver, key: string, message: string): void {
  context.report(problem(code, placeIn(waiver, key), message, 'warning'));
}

function placeIn({ value }: { readonly value: Value }, key: string): TextRange {
  return value.fields?.get(key)?.value ?? value;
}

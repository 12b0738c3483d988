import * as vscode from 'vscode';
import type { TextRange } from '../../core/base/errors.ts';
import { joinSentences } from '../../core/base/text.ts';
import type { RuleResult } from '../../core/rules/checkAccess.ts';
import { type Finding, firstFindings } from '../../core/rules/findings.ts';
import { relatedLocations } from '../../core/rules/relatedLocations.ts';
import { positionsIn } from '../../core/rules/reports.ts';
import { peopleErrorText } from '../../core/rules/ruleEvaluation.ts';
import { dateText, type FileProblem } from '../../core/rules/schema.ts';
import { DIAGNOSTIC_SOURCE } from '../../ids.ts';
import type { CheckedDocument } from './accessFiles.ts';

/** The most findings of one rule that are shown separately: the editor cuts the problems of a file at 1,000. */
const MAX_FINDINGS = 50;

/** Offsets of a text as ranges. */
export function rangesIn(text: string): (place: TextRange) => vscode.Range {
  const positionOf = positionsIn(text);
  return ({ start, end }) => {
    const [from, to] = [positionOf(start), positionOf(end)];
    return new vscode.Range(from.line - 1, from.column - 1, to.line - 1, to.column - 1);
  };
}

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  info: vscode.DiagnosticSeverity.Information,
  information: vscode.DiagnosticSeverity.Information,
} as const;

export function diagnosticOf(
  { severity, message, code, ...place }: FileProblem,
  rangeOf: (place: TextRange) => vscode.Range,
): vscode.Diagnostic {
  const shown = new vscode.Diagnostic(rangeOf(place), message, SEVERITIES[severity]);
  shown.source = DIAGNOSTIC_SOURCE;
  shown.code = code;
  return shown;
}

/** The diagnostics of a file. */
export function diagnosticsOf(
  { uri, file, unread, result }: CheckedDocument,
  extensionUri: vscode.Uri,
): vscode.Diagnostic[] {
  const rangeOf = rangesIn(file.text);
  const about = vscode.Uri.joinPath(extensionUri, 'media', 'access-rules.md');
  const diagnostic = (
    place: TextRange,
    message: string,
    severity: keyof typeof SEVERITIES,
    code: string,
    isOfRule = false,
  ) => {
    const shown = new vscode.Diagnostic(rangeOf(place), message, SEVERITIES[severity]);
    shown.source = DIAGNOSTIC_SOURCE;
    shown.code = isOfRule ? { value: code, target: about } : code;
    return shown;
  };
  const ofProblem = (one: FileProblem) => diagnosticOf(one, rangeOf);
  if (!result) return [...file.problems, ...(unread ? [unread] : [])].map(ofProblem);
  const { check } = result;
  // A problem that keeps a rule from being judged is not repeated at the rule.
  const reportedTexts = new Set([...check.problems.map(({ message }) => message), peopleErrorText()]);
  const cannotTell = (
    place: TextRange,
    reasons: readonly string[],
    ...[severity, code, isOfRule]: ['info' | 'warning', string, boolean]
  ) => {
    const unreported = reasons.filter((reason) => !reportedTexts.has(reason));
    const message = vscode.l10n.t('Undetermined: {0}', joinSentences(unreported));
    return unreported.length === 0 ? [] : [diagnostic(place, message, severity, code, isOfRule)];
  };
  const ofFinding = (finding: Finding) => {
    const { waiver, lapsed } = finding;
    const message = waiver
      ? vscode.l10n.t('{0} (waived until {1}: {2})', finding.message, dateText(waiver.until), waiver.reason)
      : finding.message;
    const shown = diagnostic(finding.place, message, waiver ? 'info' : finding.severity, finding.kind, true);
    if (waiver) shown.tags = [vscode.DiagnosticTag.Unnecessary];
    const related = [
      ...(waiver ? [{ place: waiver.value, text: vscode.l10n.t('The waiver') }] : []),
      ...(lapsed ? [{ place: lapsed.value, text: vscode.l10n.t('The expired waiver') }] : []),
      ...relatedLocations(finding, file),
    ];
    shown.relatedInformation = related.map(({ place, text }) => {
      const { start } = place;
      return new vscode.DiagnosticRelatedInformation(new vscode.Location(uri, rangeOf({ start, end: start })), text);
    });
    return shown;
  };
  const ofRule = ({ rule, status, findings, reasons }: RuleResult) => {
    const more = findings.length - MAX_FINDINGS;
    const sum = vscode.l10n.t('{0} more findings of this rule. Show Access Check lists them all.', more);
    return [
      ...firstFindings(findings, MAX_FINDINGS).map(ofFinding),
      ...(more > 0 ? [diagnostic(rule.place, sum, rule.severity, rule.kind, true)] : []),
      ...(status === 'undecided'
        ? cannotTell(rule.place, reasons, rule.severity === 'info' ? 'info' : 'warning', rule.kind, true)
        : []),
    ];
  };
  const declared = file.declared?.place ?? { start: 0, end: 1 };
  const drift = check.drift?.findings ?? [];
  return [
    ...check.problems.map(ofProblem),
    ...cannotTell({ start: 0, end: 1 }, check.reasons, 'warning', 'file', false),
    ...check.rules.flatMap(ofRule),
    ...drift.slice(0, MAX_FINDINGS).map(ofFinding),
    ...(drift.length > MAX_FINDINGS
      ? [
          diagnostic(
            declared,
            vscode.l10n.t('{0} more differences. Show Access Check lists them all.', drift.length - MAX_FINDINGS),
            'warning',
            'drift',
            true,
          ),
        ]
      : []),
    ...cannotTell(declared, check.drift?.reasons ?? [], 'warning', 'drift', true),
  ];
}

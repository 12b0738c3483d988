import * as vscode from 'vscode';
import type { EntryFinding, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import type { TextRange } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { type AccessFile, readAccessFile } from '../../core/rules/accessFile.ts';
import {
  type CheckResult,
  checkAccess,
  checkUnread,
  findingsOf,
  type RuleResult,
  unknownOrganization,
  unreadReasons,
} from '../../core/rules/checkAccess.ts';
import { type Finding, firstFindings, groupsOf, principalsOf } from '../../core/rules/findings.ts';
import { relatedLocations } from '../../core/rules/relatedLocations.ts';
import { positionsIn } from '../../core/rules/reports.ts';
import { peopleErrorText } from '../../core/rules/ruleEvaluation.ts';
import { dateText, type FileProblem, problem } from '../../core/rules/schema.ts';
import { DIAGNOSTIC_SOURCE } from '../../ids.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { WatchedFiles } from '../watchedFiles.ts';

export const ACCESS_FILE_GLOB = '**/*.access.yaml';
/** The most findings of one rule that are shown separately: the editor cuts the problems of a file at 1,000. */
const MAX_FINDINGS = 50;
/** The most findings that are named at a row of the tree. */
const MAX_MARKS = 5;

/** A file, and the result of checking its organization's last reading by it. */
export interface CheckedDocument {
  readonly uri: vscode.Uri;
  readonly file: AccessFile;
  /** Without a reading, everything in it is undecided. */
  readonly check: CheckResult;
  /** Why there is no reading, and what can be done about it. */
  readonly unread: FileProblem | undefined;
  /** `undefined` if its organization has not been read in this window. */
  readonly result: { readonly check: CheckResult; readonly read: ReadOrganization } | undefined;
}

/**
 * Checks the access rules of the workspace when a file is saved and when a reading arrives. Files are not trusted: they
 * cause no reading, whatever organization they name.
 */
export class AccessFiles implements vscode.Disposable {
  readonly #data: AccessData;
  readonly #files: WatchedFiles<CheckedDocument>;
  readonly onDidCheck: vscode.Event<void>;
  readonly #marking: vscode.Disposable;
  /** The organizations that the user shows. */
  #known: { readonly session: unknown; readonly ids: readonly string[] } | undefined;

  constructor({ data, extensionUri }: { readonly data: AccessData; readonly extensionUri: vscode.Uri }, log: Log) {
    this.#data = data;
    this.#files = new WatchedFiles(
      {
        pattern: ACCESS_FILE_GLOB,
        name: 'rolecall.access',
        read: (uri, text) => this.checkText(uri, text),
        diagnosticsOf: (one) => diagnosticsOf(one, extensionUri),
        recheckOn: (recheck) =>
          onDidRead(data, () => {
            recheck();
            void this.#relist(); // Never rejects.
          }),
      },
      log,
    );
    this.onDidCheck = this.#files.onDidCheck;
    this.#marking = this.onDidCheck(() => this.#markEntries());
    void this.#relist(); // Never rejects.
  }

  /** The files as they were last checked. */
  get checked(): readonly CheckedDocument[] {
    return this.#files.all;
  }

  /** Checks every file as it is saved, and shows the findings. Never rejects. */
  check(): Promise<void> {
    return this.#files.check();
  }

  /** The result of checking a text that may not be saved. */
  checkText(uri: vscode.Uri, text: string): CheckedDocument {
    const now = Date.now();
    const file = readAccessFile(text);
    const read = file.organization === undefined ? undefined : this.#data.last(file.organization);
    const unread = this.#unreadBecause(file, read);
    const check = read ? checkAccess(file, read.model, { now }) : checkUnread(file, unread, { now });
    return { uri, file, check, unread, result: read && !unread ? { check, read } : undefined };
  }

  /** Finds out which organizations the user shows: a file may name another one by mistake. @throws RolecallError */
  async list(): Promise<void> {
    const { session } = this.#data;
    const listed = session && (await this.#data.organizations(session));
    if (session === this.#data.session) this.#known = listed && { session, ids: listed.map(({ id }) => id) };
  }

  async #relist(): Promise<void> {
    const before = JSON.stringify(this.#known?.ids);
    await this.list().catch(() => {}); // The tree shows it.
    if (JSON.stringify(this.#known?.ids) !== before) await this.check();
  }

  #unreadBecause(file: AccessFile, read: ReadOrganization | undefined): FileProblem | undefined {
    const { organization, value } = file;
    if (!file.isReadable || organization === undefined) return undefined;
    const place = value.fields?.get('organization')?.value ?? value;
    const { session } = this.#data;
    if (!session)
      return problem('signed-out', place, vscode.l10n.t('Not checked. Sign in to check it.'), 'information');
    const reasons = read ? unreadReasons(read.model) : [];
    if (reasons.length > 0)
      return problem('unread', place, vscode.l10n.t('Undetermined: {0}', reasons.join(' ')), 'warning');
    if (read) return undefined;
    const message = vscode.l10n.t(
      'Not checked: {0} has not been read. Open it in the Organizations view.',
      organization,
    );
    const unknown = this.#known?.session === session ? unknownOrganization(file, this.#known.ids) : undefined;
    return unknown ?? problem('not-read', place, message, 'information');
  }

  /** Adds the findings to the models, where the views look for them. */
  #markEntries(): void {
    for (const { model } of this.#data.all) {
      const found = messagesByEntry(this.checked.filter(({ result }) => result?.read.model === model));
      if (isSame(found, model.findings)) continue;
      model.findings.clear();
      for (const [entry, messages] of found) model.findings.set(entry, messages);
      this.#data.announceFindings(model.organization);
    }
  }

  dispose(): void {
    this.#marking.dispose();
    this.#files.dispose();
  }
}

/** A reading has arrived, or another account. What the checks themselves announce is neither. */
export function onDidRead(data: AccessData, listener: () => void): vscode.Disposable {
  return data.onDidChange(({ kind }) => {
    if (kind !== 'due' && kind !== 'checked') listener();
  });
}

type Entry = GroupEntry | RoleEntry | Principal;

/** The findings by entry: a role is marked if the finding is about it, not if it only leads to it. */
function messagesByEntry(checked: readonly CheckedDocument[]): Map<Entry, readonly EntryFinding[]> {
  const found = new Map<Entry, Finding[]>();
  for (const finding of checked.flatMap(({ result }) => (result ? findingsOf(result.check) : []))) {
    const roles = finding.subjects.flatMap((subject) => (subject.kind === 'role' ? [subject.role] : []));
    for (const entry of new Set<Entry>([...principalsOf(finding), ...groupsOf(finding), ...roles])) {
      const all = found.get(entry);
      if (all) all.push(finding);
      else found.set(entry, [finding]);
    }
  }
  return new Map([...found].map(([entry, all]) => [entry, firstFindings(all, MAX_MARKS).map(markOf)]));
}

function markOf({ rule, message, waiver }: Finding): EntryFinding {
  return { rule, message, accepted: waiver && `until ${dateText(waiver.until)}: ${waiver.reason}` };
}

type Marks = ReadonlyMap<Entry, readonly EntryFinding[]>;

function isSame(one: Marks, other: Marks): boolean {
  return (
    one.size === other.size &&
    [...one].every(([entry, marks]) => JSON.stringify(other.get(entry)) === JSON.stringify(marks))
  );
}

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
  const told = new Set([...check.problems.map(({ message }) => message), peopleErrorText()]);
  const cannotTell = (
    place: TextRange,
    reasons: readonly string[],
    ...[severity, code, isOfRule]: ['info' | 'warning', string, boolean]
  ) => {
    const untold = reasons.filter((reason) => !told.has(reason));
    const message = vscode.l10n.t('Undetermined: {0}', untold.join(' '));
    return untold.length === 0 ? [] : [diagnostic(place, message, severity, code, isOfRule)];
  };
  const ofFinding = (finding: Finding) => {
    const { waiver, lapsed } = finding;
    const message = waiver
      ? vscode.l10n.t('{0} (accepted until {1}: {2})', finding.message, dateText(waiver.until), waiver.reason)
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

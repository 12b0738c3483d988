import * as vscode from 'vscode';
import type { EntryFinding, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import type { Log } from '../../core/base/log.ts';
import { joinSentences } from '../../core/base/text.ts';
import { type AccessFile, readAccessFile } from '../../core/rules/accessFile.ts';
import {
  type CheckResult,
  checkAccess,
  checkUnread,
  findingsOf,
  unknownOrganization,
  unreadReasons,
} from '../../core/rules/checkAccess.ts';
import { type Finding, firstFindings, groupsOf, principalsOf } from '../../core/rules/findings.ts';
import { dateText, type FileProblem, problem } from '../../core/rules/schema.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { WatchedFiles } from '../watchedFiles.ts';
import { diagnosticsOf } from './accessDiagnostics.ts';

export const ACCESS_FILE_GLOB = '**/*.access.yaml';
/** The most findings that are named at a row of the tree. */
const MAX_MARKS = 5;

/** A file, and the result of checking its organization's last reading by it. */
export interface CheckedDocument {
  readonly uri: vscode.Uri;
  readonly file: AccessFile;
  /** Without a reading, everything in it is undetermined. */
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
  #organizations: { readonly session: unknown; readonly ids: readonly string[] } | undefined;

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
    if (session === this.#data.session) this.#organizations = listed && { session, ids: listed.map(({ id }) => id) };
  }

  async #relist(): Promise<void> {
    const before = JSON.stringify(this.#organizations?.ids);
    await this.list().catch(() => {}); // The tree shows it.
    if (JSON.stringify(this.#organizations?.ids) !== before) await this.check();
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
      return problem('unread', place, vscode.l10n.t('Undetermined: {0}', joinSentences(reasons)), 'warning');
    if (read) return undefined;
    const message = vscode.l10n.t(
      'Not checked: {0} has not been read. Open it in the Organizations view.',
      organization,
    );
    const unknown =
      this.#organizations?.session === session ? unknownOrganization(file, this.#organizations.ids) : undefined;
    return unknown ?? problem('not-read', place, message, 'information');
  }

  /** Adds the findings to the models, where the views look for them. */
  #markEntries(): void {
    for (const { model } of this.#data.all) {
      const marks = messagesByEntry(this.checked.filter(({ result }) => result?.read.model === model));
      if (isSame(marks, model.findings)) continue;
      model.findings.clear();
      for (const [entry, messages] of marks) model.findings.set(entry, messages);
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
  const marks = new Map<Entry, Finding[]>();
  for (const finding of checked.flatMap(({ result }) => (result ? findingsOf(result.check) : []))) {
    const roles = finding.subjects.flatMap((subject) => (subject.kind === 'role' ? [subject.role] : []));
    for (const entry of new Set<Entry>([...principalsOf(finding), ...groupsOf(finding), ...roles])) {
      const all = marks.get(entry);
      if (all) all.push(finding);
      else marks.set(entry, [finding]);
    }
  }
  return new Map([...marks].map(([entry, all]) => [entry, firstFindings(all, MAX_MARKS).map(markOf)]));
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

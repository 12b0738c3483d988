import * as vscode from 'vscode';
import { timeText } from '../../core/access/descriptions.ts';
import type { AccessModel, GroupEntry, Principal, RoleEntry } from '../../core/access/model.ts';
import { documentMarkdown } from '../../core/access/pageDocument.ts';
import { groupName, principalName, roleName, shortId } from '../../core/access/queries.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { isString } from '../../core/base/shape.ts';
import { oneLine } from '../../core/base/text.ts';
import { readAccessFile } from '../../core/rules/accessFile.ts';
import { accessGraph, type GraphSubject } from '../../core/rules/accessGraph.ts';
import { findingsOf } from '../../core/rules/checkAccess.ts';
import { addWaiver, declareAccess } from '../../core/rules/declare.ts';
import { type Finding, fingerprintOf, groupsOf, principalsOf, rolesOf } from '../../core/rules/findings.ts';
import { newAccessFile } from '../../core/rules/newFile.ts';
import { groupReference, principalReference, Resolver, roleReference } from '../../core/rules/references.ts';
import {
  type CheckedFile,
  type ReportLink,
  reportDocument,
  reportJson,
  reportSarif,
} from '../../core/rules/reports.ts';
import { dateText, dayOf, dayOfTime } from '../../core/rules/schema.ts';
import { commands, documentPanel, extensionId } from '../../ids.ts';
import type { ReadOrganization } from '../accessData.ts';
import { type AccessTarget, followLink, linkTitleOf, targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { showInputBox, showQuickPick, showWarningMessage } from '../dialogs.ts';
import type { OpenPage } from '../pages.ts';
import { pickGroupOrRole, pickPrincipal, readPicked } from '../pickTarget.ts';
import { ACCESS_FILE_GLOB, type AccessFiles, type CheckedDocument } from './accessFiles.ts';
import { editOf, openAccessDraft } from './edits.ts';
import type { RulesDeps } from './rules.ts';

interface RuleCommandsDeps extends RulesDeps {
  readonly files: AccessFiles;
}

/** New Access Rules, Declare Current State, Add Waiver…, Show and Export Access Check. */
export function ruleCommands(deps: RuleCommandsDeps) {
  const { data, files } = deps;
  let page: OpenPage<ReportLink> | undefined;
  return {
    [commands.newAccessRules]: async (node) => {
      const { model } = await readPicked(data, node);
      await openAccessDraft(model.organization, newAccessFile(model, Date.now()));
    },
    [commands.declareAccess]: async (node) => {
      const active = targetOf(node) ? undefined : await activeFile(deps);
      const { model, session } = await readPicked(data, active?.target ?? node);
      await files.check();
      const own = files.checked.filter(({ file }) => file.organization === model.organization);
      const uri = own.find(({ file }) => file.declared)?.uri ?? active?.uri ?? own[0]?.uri;
      if (!uri) return openAccessDraft(model.organization, declareAccess(model));
      const document = await vscode.workspace.openTextDocument(uri);
      const text = document.getText();
      const declaring = declareAccess(model, text);
      if (readAccessFile(text).declared && !(await mayReplace(uri))) throw cancelled();
      // Signed out, or written on, while the dialog was open.
      if (data.session !== session || document.getText() !== text) throw cancelled();
      await vscode.window.showTextDocument(document);
      await vscode.workspace.applyEdit(editOf(document, declaring));
    },
    [commands.addWaiver]: async (file, fingerprint) => {
      if (!(file instanceof vscode.Uri) || !isString(fingerprint)) return;
      const document = await vscode.workspace.openTextDocument(file);
      const { result } = files.checkText(file, document.getText());
      const finding = result && findingsOf(result.check).find((one) => fingerprintOf(one) === fingerprint);
      if (!result || !finding) throw notFound();
      const text = await askWaiver(document, finding, result.read);
      await vscode.window.showTextDocument(document);
      await vscode.workspace.applyEdit(editOf(document, text));
    },
    [commands.copyToDo]: async (text) => {
      if (isString(text)) await vscode.env.clipboard.writeText(text);
    },
    [commands.showCheck]: async () => {
      await readAll(deps);
      page = (await deps.pages()).open<ReportLink>({
        key: 'rolecall.check',
        kind: documentPanel,
        title: vscode.l10n.t('Access Check'),
        icon: 'verified',
        column: 'active',
        linkTitle: (link) => (link.kind === 'place' ? vscode.l10n.t('Show in the file') : linkTitleOf(link)),
        follow: (link) => follow(link, deps),
        refresh: () => readAll(deps),
      });
      const shown = page;
      const draw = () => shown.show({ document: reportDocument(reported(files.checked), { now: Date.now() }) });
      const subscriptions = vscode.Disposable.from(
        files.onDidCheck(draw),
        data.onDidChange(({ kind }) => {
          if (kind === 'session') shown.close();
        }),
      );
      shown.closed.addEventListener('abort', () => subscriptions.dispose(), { once: true });
      draw();
    },
    [commands.showAccessGraph]: async (node) => {
      const read = await readPicked(data, node);
      const entry = entryOf(targetOf(node), read) ?? (await pickEntry(read.model));
      const subject = subjectOfEntry(entry);
      const text = accessGraph(read.model, subject, vscode.l10n.t('read {0}', timeText(read.model.at)));
      const name = `${vscode.l10n.t('Access graph of {0}', nameOfEntry(entry))}.md`;
      // Names are escaped in it, so the editor's own preview finds no picture to load.
      await vscode.commands.executeCommand('markdown.showPreview', deps.documents.put(read, name, text));
    },
    [commands.exportCheck]: async () => {
      await readAll(deps);
      const session = data.requireSession();
      const format = await showQuickPick(formats(), { placeHolder: vscode.l10n.t('Format of the report') });
      if (!format) throw cancelled();
      const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
      const uri = await vscode.window.showSaveDialog({
        title: vscode.l10n.t('Export Access Check'),
        filters: { [format.label]: [format.extension] },
        ...(folder && { defaultUri: vscode.Uri.joinPath(folder, `access-check.${format.extension}`) }),
      });
      if (!uri) throw cancelled();
      if (data.session !== session) throw cancelled(); // Signed out while the dialog was open.
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(format.write(reported(files.checked))));
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    },
  } satisfies Partial<Handlers>;
}

/** Asks, because an editor with auto save writes the file at once. */
async function mayReplace(file: vscode.Uri): Promise<boolean> {
  const replace = vscode.l10n.t('Replace');
  const question = vscode.l10n.t('Replace the declared state in {0}?', vscode.workspace.asRelativePath(file));
  const detail = vscode.l10n.t('It will list the groups, roles and members that the organization has now.');
  return (await showWarningMessage(question, { modal: true, detail }, replace)) === replace;
}

/**
 * The file of access rules in the active editor, with its organization as commands take it, if the user shows that one.
 */
async function activeFile({ data, files }: RuleCommandsDeps) {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || vscode.languages.match({ pattern: ACCESS_FILE_GLOB }, document) === 0) return undefined;
  const { organization } = files.checkText(document.uri, document.getText()).file;
  const session = data.requireSession();
  const shown = await data.organizations(session);
  if (organization === undefined || !shown.some(({ id }) => id === organization)) return undefined;
  const target = { kind: 'organization', organization, connection: session.cloud.key } as const;
  return { uri: document.uri, target: { target } };
}

/** Reads the organizations of the files, as far as the user shows them, and checks again. */
async function readAll({ data, files }: RuleCommandsDeps): Promise<void> {
  await files.check();
  if (files.checked.length === 0) {
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('There is no *.access.yaml in this workspace. Use "New Access Rules" to create one.'),
    );
  }
  const session = data.requireSession();
  const shown = new Set((await data.organizations(session)).map(({ id }) => id));
  const wanted = new Set(files.checked.flatMap(({ file }) => file.organization ?? []));
  for (const organization of wanted) {
    if (!shown.has(organization)) continue;
    data.refresh(organization);
    await data.read(session, organization);
  }
  await files.list();
  await files.check();
}

function reported(checked: readonly CheckedDocument[]): readonly CheckedFile[] {
  return checked.map(({ uri, check }) => ({ path: vscode.workspace.asRelativePath(uri), check }));
}

async function follow(link: ReportLink, { data, files, reveal }: RuleCommandsDeps): Promise<void> {
  if (link.kind !== 'place') {
    const session = data.requireSession();
    return followLink({ ...link, connection: session.cloud.key }, reveal);
  }
  const file = files.checked.find(({ uri }) => vscode.workspace.asRelativePath(uri) === link.path);
  if (!file) throw notFound();
  const document = await vscode.workspace.openTextDocument(file.uri);
  const selection = new vscode.Range(document.positionAt(link.start), document.positionAt(link.end));
  await vscode.window.showTextDocument(document, { selection });
}

function notFound(): RolecallError {
  return new RolecallError('notFound', vscode.l10n.t('This finding is no longer there.'));
}

async function askWaiver(
  document: vscode.TextDocument,
  finding: Finding,
  { model, session }: ReadOrganization,
): Promise<string> {
  const title = vscode.l10n.t('Add Waiver: {0}', oneLine(finding.message));
  const ask = async (prompt: string, value = '', validateInput?: (typed: string) => string | undefined) => {
    const typed = await showInputBox({ title, prompt, value, ...(validateInput && { validateInput }) });
    if (typed === undefined) throw cancelled();
    return typed.trim();
  };
  const required = (typed: string) => (typed.trim() === '' ? vscode.l10n.t('This cannot be empty.') : undefined);
  const subject = subjectOf(finding, model);
  const { label } = session.account;
  // Nobody grants a waiver to themselves.
  const ownAddress = label.includes('@') && label !== subject ? label : '';
  const reason = await ask(vscode.l10n.t('Why is this acceptable? Enter a reason or a ticket.'), '', required);
  const owner = await ask(
    vscode.l10n.t('Who is responsible for the waiver? Enter an email address.'),
    ownAddress,
    required,
  );
  const now = dayOfTime(Date.now());
  const until = await ask(vscode.l10n.t('What is the last day of the waiver, in UTC?'), dateText(now + 90), (typed) => {
    const day = dayOf(typed.trim());
    if (day === undefined) return vscode.l10n.t('Expected a date such as 2027-03-31.');
    return day < now ? vscode.l10n.t('This date is in the past.') : undefined;
  });
  const upTo = finding.range && finding.kind === 'max-holders' ? { upTo: finding.range.most } : {};
  const waiver = { rule: finding.rule, for: subject, owner, reason, until, ...upTo };
  return addWaiver(document.getText(), waiver, finding.lapsed); // The text after the questions.
}

/** The finding's subject in the form of a waiver. */
function subjectOf(finding: Finding, model: AccessModel): unknown {
  const resolver = new Resolver(model);
  const [principal] = principalsOf(finding);
  if (principal) return principalReference(resolver, principal);
  const subject = finding.subjects.find(({ kind }) => kind === 'group' || kind === 'role');
  const [group] = groupsOf({ ...finding, through: [] });
  if (subject?.kind === 'group' && group) return `group:${groupReference(resolver, group)}`;
  const [role] = rolesOf({ ...finding, through: [] });
  return role ? `role:${roleReference(resolver, role)}` : 'all';
}

type Entry = GroupEntry | RoleEntry | Principal;

function entryOf(target: AccessTarget | undefined, { model }: ReadOrganization): Entry | undefined {
  switch (target?.kind) {
    case 'group':
      return model.group(target.key);
    case 'role':
      return model.role(target.key);
    case 'principal':
      return model.principal(target.key);
    default:
      return undefined;
  }
}

async function pickEntry(model: AccessModel): Promise<Entry> {
  const person = vscode.l10n.t('Person or service account…');
  const groupOrRole = vscode.l10n.t('Group or role…');
  const placeHolder = vscode.l10n.t('Whose access?');
  const picked = await showQuickPick([{ label: person }, { label: groupOrRole }], { placeHolder });
  if (!picked) throw cancelled();
  return picked.label === person ? pickPrincipal(model) : pickGroupOrRole(model);
}

function subjectOfEntry(entry: Entry): GraphSubject {
  if ('group' in entry) return { kind: 'group', entry };
  return 'role' in entry ? { kind: 'role', entry } : { kind: 'principal', entry };
}

function nameOfEntry(entry: Entry): string {
  if ('group' in entry) return groupName(entry);
  return shortId('role' in entry ? roleName(entry) : principalName(entry));
}

interface Format extends vscode.QuickPickItem {
  readonly extension: string;
  readonly write: (files: readonly CheckedFile[]) => string;
}

function formats(): readonly Format[] {
  const now = Date.now();
  const version = String(vscode.extensions.getExtension(extensionId)?.packageJSON.version ?? '');
  const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
  return [
    {
      label: vscode.l10n.t('Markdown, for reading'),
      extension: 'md',
      write: (files) => documentMarkdown(reportDocument(files, { now })),
    },
    {
      label: vscode.l10n.t('JSON, for programs'),
      extension: 'json',
      write: (files) => json(reportJson(files, { now })),
    },
    {
      label: vscode.l10n.t('SARIF, for code scanning'),
      extension: 'sarif',
      write: (files) => json(reportSarif(files, version)),
    },
  ];
}

import * as vscode from 'vscode';
import { groupName, principalName, roleName } from '../../core/access/queries.ts';
import { createQueue } from '../../core/base/abort.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { isString } from '../../core/base/shape.ts';
import {
  beginCampaign,
  blockPlace,
  type CampaignState,
  campaignDocument,
  DECISIONS,
  type Decision,
  decide,
  type Membership,
  nextUndecided,
  progressText,
  readCampaign,
  stateOf,
  statusText,
  whoOf,
} from '../../core/rules/campaign.ts';
import { commands, documentPanel } from '../../ids.ts';
import type { ReadOrganization } from '../accessData.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showInputBox, showQuickPick } from '../dialogs.ts';
import { readPicked } from '../pickTarget.ts';
import { describe } from '../showError.ts';
import { diagnosticOf, rangesIn } from './accessFiles.ts';
import { editOf, fileFor, isThere, writeFile } from './edits.ts';
import { CAMPAIGN_FILES } from './language.ts';
import type { RulesDeps } from './rules.ts';

const EXCLUDED = '**/node_modules/**';
const MAX_FILES = 50;

/** A review with what its decisions come to; `undefined` where its organization has not been read in this window. */
type Reviewed = { readonly state: CampaignState; readonly read: ReadOrganization } | undefined;

/** Reviews with decisions in files of the workspace: each membership can be decided where it stands. Nothing changes the cloud. */
export class Reviews implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #deps: RulesDeps;
  readonly #log: Log;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection('rolecall.review');
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #inTurn = createQueue();
  readonly #disposables: vscode.Disposable[];
  #last: { readonly text: string; readonly model: unknown; readonly reviewed: Reviewed } | undefined;
  #isDisposed = false;

  constructor(deps: RulesDeps, log: Log) {
    this.#deps = deps;
    this.#log = log;
    const watcher = vscode.workspace.createFileSystemWatcher(CAMPAIGN_FILES);
    const recheck = () => void this.check(); // Never rejects.
    this.#disposables = [
      this.#diagnostics,
      this.#changed,
      watcher,
      watcher.onDidCreate(recheck),
      watcher.onDidChange(recheck),
      watcher.onDidDelete(recheck),
      deps.data.onDidChange(({ kind }) => {
        if (kind !== 'due' && kind !== 'checked') recheck();
      }),
      vscode.languages.registerCodeLensProvider({ pattern: CAMPAIGN_FILES }, this),
    ];
  }

  /** Shows what is wrong with every review, and what is revoked and still there. Never rejects. */
  check(): Promise<void> {
    return this.#inTurn(() => this.#check()).catch((error: unknown) => {
      this.#log.error(`The reviews were not checked: ${describe(error)}`);
    });
  }

  async #check(): Promise<void> {
    const uris = await vscode.workspace.findFiles(CAMPAIGN_FILES, EXCLUDED, MAX_FILES);
    const shown: [vscode.Uri, vscode.Diagnostic[]][] = [];
    for (const uri of uris) {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      const problems = this.#reviewed(text)?.state.problems ?? readCampaign(text).problems;
      const rangeOf = rangesIn(text);
      shown.push([uri, problems.map((problem) => diagnosticOf(problem, rangeOf))]);
    }
    if (this.#isDisposed) return;
    this.#diagnostics.clear();
    this.#diagnostics.set(shown);
    this.#changed.fire();
  }

  #reviewed(text: string): Reviewed {
    const campaign = readCampaign(text);
    const read = campaign.organization === undefined ? undefined : this.#deps.data.last(campaign.organization);
    if (!read?.model.groupsKnown) return undefined;
    if (this.#last?.text === text && this.#last.model === read.model) return this.#last.reviewed;
    const reviewed = { state: stateOf(campaign, read.model, Date.now()), read };
    this.#last = { text, model: read.model, reviewed };
    return reviewed;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const reviewed = this.#reviewed(text);
    if (!reviewed) return [];
    const { state } = reviewed;
    const rangeOf = rangesIn(text);
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (range: vscode.Range, title: string, command: string, ...args: readonly unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [...args] });
    const uri = document.uri;
    return [
      lens(top, progressText(state), commands.showReviewSummary, uri),
      lens(top, vscode.l10n.t('Next Undecided'), commands.nextUndecided, uri),
      ...state.memberships.flatMap((membership) => {
        const { item, group, principal, status } = membership;
        if (item === undefined) return [];
        const range = rangeOf({ start: item.value.start, end: item.value.start });
        const gives = group.roles.map(roleName).join(', ') || vscode.l10n.t('no roles');
        const title = vscode.l10n.t(
          '{0} in {1}: {2} · {3}',
          principalName(principal),
          groupName(group),
          gives,
          statusText(status),
        );
        return [
          // Icons of VS Code's own would be drawn from a server's text.
          lens(range, title.replaceAll('$(', '$\u200b('), ''),
          ...DECISIONS.map((decision) =>
            lens(range, decisionText(decision), commands.decideAccess, uri, group.key, whoOf(principal), decision),
          ),
        ];
      }),
    ];
  }

  get commands() {
    return {
      [commands.startReview]: (node) => this.#start(node),
      [commands.nextUndecided]: (uri) => this.#showNext(uri),
      [commands.decideAccess]: (uri, group, who, decision) => this.#decide(uri, group, who, decision),
      [commands.showReviewSummary]: (uri) => this.#showSummary(uri),
    } satisfies Partial<Handlers>;
  }

  /** Writes a review of everything; decisions of an earlier one whose grant is unchanged are taken over. */
  async #start(node: unknown): Promise<void> {
    const { model } = await readPicked(this.#deps.data, node);
    const earlier = await this.#earlier(model.organization);
    const day = new Date().toISOString().slice(0, 10);
    const uri = fileFor(model.organization, `${day}.review`);
    if (await isThere(uri)) {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri)); // Begun today.
      return;
    }
    const editor = await writeFile(uri, beginCampaign(model, Date.now(), earlier && readCampaign(earlier.text)));
    await this.check();
    const progress = this.#reviewed(editor.document.getText());
    if (earlier && progress) {
      void showInformationMessage(
        vscode.l10n.t('Decisions of {0} were taken over: {1}.', earlier.name, progressText(progress.state)),
      );
    }
    await this.#showNext(uri);
  }

  /** The newest review of an organization, by the name of its file. */
  async #earlier(organization: string): Promise<{ readonly name: string; readonly text: string } | undefined> {
    const uris = await vscode.workspace.findFiles(CAMPAIGN_FILES, EXCLUDED, MAX_FILES);
    for (const uri of uris.sort((one, other) => (one.path < other.path ? 1 : -1))) {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
      const campaign = readCampaign(text);
      if (campaign.isReadable && campaign.organization === organization) return { name: nameOf(uri), text };
    }
    return undefined;
  }

  async #showNext(of: unknown): Promise<void> {
    const { document, state } = await this.#opened(of);
    const editor = await vscode.window.showTextDocument(document);
    const next = nextUndecided(state, document.offsetAt(editor.selection.active));
    if (!next) {
      void showInformationMessage(vscode.l10n.t('Nothing is undecided: {0}.', progressText(state)));
      return;
    }
    await this.#reveal(editor, next);
  }

  async #reveal(editor: vscode.TextEditor, membership: Membership): Promise<void> {
    const place = blockPlace(editor.document.getText(), membership);
    if (!place) return; // Not in the file: deciding adds it.
    const at = editor.document.positionAt(place.start);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
  }

  async #decide(of: unknown, group: unknown, who: unknown, decision: unknown): Promise<void> {
    const { document, state, read } = await this.#opened(of);
    const chosen = DECISIONS.find((one) => one === decision);
    const membership = state.memberships.find((one) => one.group.key === group && whoOf(one.principal) === who);
    if (!chosen || !membership)
      throw new RolecallError('notFound', vscode.l10n.t('This is no longer in the loaded data.'));
    const note = chosen === 'keep' ? undefined : await askNote(chosen, membership);
    const { account } = read.session;
    const made = { decision: chosen, by: account.label, ...(note !== undefined && { note }) };
    const text = decide(document.getText(), membership, made, Date.now());
    await vscode.workspace.applyEdit(editOf(document, text));
    this.#changed.fire();
  }

  async #showSummary(of: unknown): Promise<void> {
    const { document, state, read } = await this.#opened(of);
    const page = (await this.#deps.pages()).open<never>({
      key: `rolecall.review ${document.uri.toString()}`,
      kind: documentPanel,
      title: vscode.l10n.t('Decisions in {0}', nameOf(document.uri)),
      icon: 'checklist',
      column: 'active',
    });
    const { data } = this.#deps;
    const subscription = data.onDidChange(({ kind }) => {
      if (kind === 'session') page.close();
    });
    page.closed.addEventListener('abort', () => subscription.dispose(), { once: true });
    page.show({ document: campaignDocument(state, read.model, Date.now()) });
  }

  /** The review that a command is about: the one it was called on, the one that is looked at, or the one that is picked. */
  async #opened(of: unknown) {
    const uri = of instanceof vscode.Uri ? of : await pickReview();
    const document = await vscode.workspace.openTextDocument(uri);
    const reviewed = this.#reviewed(document.getText()) ?? (await this.#readFor(document));
    return { document, ...reviewed };
  }

  /** Reads the organization of a review if it is one that the user shows. */
  async #readFor(document: vscode.TextDocument): Promise<NonNullable<Reviewed>> {
    const { data } = this.#deps;
    const { organization } = readCampaign(document.getText());
    const session = data.requireSession();
    const isShown = (await data.organizations(session)).some(({ id }) => id === organization);
    if (organization !== undefined && isShown) await data.read(session, organization);
    const reviewed = this.#reviewed(document.getText());
    if (reviewed) return reviewed;
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('The organization of this review could not be read. Open it in the Organizations view.'),
    );
  }

  dispose(): void {
    this.#isDisposed = true;
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split('/').at(-1) ?? '';
}

function decisionText(decision: Decision): string {
  switch (decision) {
    case 'keep':
      return vscode.l10n.t('Keep');
    case 'revoke':
      return vscode.l10n.t('Revoke…');
    case 'ask':
      return vscode.l10n.t('Ask…');
  }
}

async function askNote(decision: Decision, { group, principal }: Membership): Promise<string> {
  const who = principalName(principal);
  const note = await showInputBox({
    title: vscode.l10n.t('{0} in {1}', who, groupName(group)),
    prompt:
      decision === 'revoke'
        ? vscode.l10n.t('Why is it revoked? Nothing is changed in your cloud.')
        : vscode.l10n.t('What has to be asked, and whom?'),
    validateInput: (typed) => (typed.trim() === '' ? vscode.l10n.t('This cannot be empty.') : undefined),
  });
  if (!isString(note)) throw cancelled();
  return note.trim();
}

async function pickReview(): Promise<vscode.Uri> {
  const active = vscode.window.activeTextEditor?.document;
  if (active && vscode.languages.match({ pattern: CAMPAIGN_FILES }, active) > 0) return active.uri;
  const uris = await vscode.workspace.findFiles(CAMPAIGN_FILES, EXCLUDED, MAX_FILES);
  const [first] = uris;
  if (!first)
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('There is no review yet. Use “Start Review” to begin one.'),
    );
  if (uris.length === 1) return first;
  const items = uris.map((uri) => ({ label: nameOf(uri), description: vscode.workspace.asRelativePath(uri), uri }));
  const picked = await showQuickPick(items, { placeHolder: vscode.l10n.t('Which review?') });
  if (!picked) throw cancelled();
  return picked.uri;
}

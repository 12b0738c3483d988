import * as vscode from 'vscode';
import { memberName } from '../../core/access/descriptions.ts';
import { groupName, roleName } from '../../core/access/queries.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { isString } from '../../core/base/shape.ts';
import { compareText } from '../../core/base/text.ts';
import {
  type Campaign,
  type CampaignState,
  campaignState,
  DECISIONS,
  type Decision,
  isDecision,
  type Membership,
  memberIdentity,
  nextUndecided,
  readCampaign,
} from '../../core/rules/campaign.ts';
import { decisionPlace, type NewDecision, startCampaign, writeDecision } from '../../core/rules/campaignEdits.ts';
import { campaignDocument, membershipText, progressText, takenOverText } from '../../core/rules/campaignText.ts';
import { commands, documentPanel } from '../../ids.ts';
import type { ReadOrganization } from '../accessData.ts';
import { targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { showInformationMessage, showInputBox, showQuickPick } from '../dialogs.ts';
import { readPicked } from '../pickTarget.ts';
import { fileExists, WatchedFiles } from '../watchedFiles.ts';
import { diagnosticOf, rangesIn } from './accessDiagnostics.ts';
import { onDidRead } from './accessFiles.ts';
import { editOf, organizationFile, writeFile } from './edits.ts';
import { CAMPAIGN_FILE_GLOB } from './language.ts';
import type { RulesDeps } from './rules.ts';

/** The choices for a membership: `clear` removes a decision. */
type Choice = Decision | 'clear';
const CHOICES: readonly Choice[] = [...DECISIONS, 'clear'];

/** A review file of the workspace. */
interface Review {
  readonly uri: vscode.Uri;
  readonly campaign: Campaign;
  /** The state of its decisions; `undefined` if its organization has not been read in this window. */
  readonly judged: { readonly state: CampaignState; readonly read: ReadOrganization } | undefined;
}

/**
 * Reviews with decisions in files of the workspace: each membership can be decided at its place. Nothing changes the
 * cloud.
 */
export class Reviews implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #deps: RulesDeps;
  readonly #files: WatchedFiles<Review>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #disposables: vscode.Disposable;
  /** VS Code asks again for the same text. */
  #last: Review | undefined;

  constructor(deps: RulesDeps, log: Log) {
    this.#deps = deps;
    this.#files = new WatchedFiles(
      {
        pattern: CAMPAIGN_FILE_GLOB,
        name: 'rolecall.review',
        read: (uri, text) => this.#reviewOf(uri, text),
        diagnosticsOf: ({ campaign, judged }) => {
          const rangeOf = rangesIn(campaign.text);
          return (judged?.state ?? campaign).problems.map((problem) => diagnosticOf(problem, rangeOf));
        },
        recheckOn: (recheck) => onDidRead(deps.data, recheck),
      },
      log,
    );
    this.#disposables = vscode.Disposable.from(
      this.#files,
      this.#changed,
      this.#files.onDidCheck(() => {
        this.#showProgress();
        this.#changed.fire();
      }),
      vscode.languages.registerCodeLensProvider({ pattern: CAMPAIGN_FILE_GLOB }, this),
    );
  }

  /** Shows the problems of every review, and memberships that are revoked but still exist. Never rejects. */
  check(): Promise<void> {
    return this.#files.check();
  }

  #reviewOf(uri: vscode.Uri, text: string): Review {
    const last = this.#last;
    const campaign = last?.campaign.text === text ? last.campaign : readCampaign(text);
    const { organization } = campaign;
    const read = organization === undefined ? undefined : this.#deps.data.last(organization);
    if (!read?.model.groupsKnown) return { uri, campaign, judged: undefined };
    const isSame = last?.campaign === campaign && last.judged?.read.model === read.model;
    const judged = isSame
      ? last.judged
      : { state: campaignState(campaign, read.model, Date.now(), read.session.account), read };
    this.#last = { uri, campaign, judged };
    return this.#last;
  }

  /** The newest review of an organization. */
  #newestOf(organization: string): Review | undefined {
    const own = this.#files.all.filter(({ campaign }) => campaign.isReadable && campaign.organization === organization);
    const orderOf = ({ uri, campaign }: Review) => `${campaign.started ?? ''} ${nameOf(uri)}`;
    return own.sort((one, other) => compareText(orderOf(one), orderOf(other))).at(-1);
  }

  /** Reports the progress of each organization's newest review to the views. */
  #showProgress(): void {
    const { data } = this.#deps;
    for (const { model } of data.all) {
      const { uri, judged } = this.#newestOf(model.organization) ?? {};
      const progress = uri && judged && { name: nameOf(uri), ...judged.state.progress };
      if (JSON.stringify(progress) === JSON.stringify(model.review)) continue;
      model.review = progress;
      data.announceFindings(model.organization);
    }
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document;
    const text = document.getText();
    const { judged } = this.#reviewOf(uri, text);
    if (!judged) return [];
    const { state } = judged;
    const rangeOf = rangesIn(text);
    const top = new vscode.Range(0, 0, 0, 0);
    const lens = (range: vscode.Range, title: string, command: string, ...args: readonly unknown[]) =>
      new vscode.CodeLens(range, { title, command, arguments: [...args] });
    return [
      lens(top, progressText(state), commands.showReviewSummary, uri),
      lens(top, vscode.l10n.t('Next Undecided Membership'), commands.nextUndecided, uri),
      ...state.memberships.flatMap((membership) => {
        const { item, group, principal, status } = membership;
        if (item === undefined) return [];
        const range = rangeOf({ start: item.value.start, end: item.value.start });
        const gives = group.roles.map(roleName).join(', ') || vscode.l10n.t('no roles');
        const what = vscode.l10n.t('{0} in {1}: {2}', memberName(principal), groupName(group), gives);
        const offered = isDecision(status) ? CHOICES.filter((one) => one !== status) : DECISIONS;
        // Names are last: a line that is too long is cut, and they stand in the comment too.
        return [
          lens(range, withoutIcons(membershipText(membership)), ''),
          ...offered.map((one) =>
            lens(range, choiceText(one), commands.decideAccess, uri, group.key, memberIdentity(principal), one),
          ),
          lens(range, withoutIcons(what), ''),
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

  /** Writes a new review of everything; decisions of an earlier one whose grant is unchanged are taken over. */
  async #start(node: unknown): Promise<void> {
    const { model } = await readPicked(this.#deps.data, node);
    await this.check();
    const earlier = this.#newestOf(model.organization);
    const day = new Date().toISOString().slice(0, 10);
    const uri = organizationFile(model.organization, `${day}.review`);
    if (await fileExists(uri)) {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri)); // Begun today.
      return;
    }
    const text = startCampaign(model, Date.now(), earlier?.campaign);
    const state = campaignState(readCampaign(text), model, Date.now());
    // Goes there at once: later, it would interrupt somebody who has begun to decide.
    goToNext(await writeFile(uri, text), state);
    if (earlier) {
      const before = campaignState(earlier.campaign, model, Date.now());
      void showInformationMessage(takenOverText(nameOf(earlier.uri), before, state));
    }
    await this.check();
  }

  async #showNext(of: unknown): Promise<void> {
    const { document, state } = await this.#opened(of);
    goToNext(await vscode.window.showTextDocument(document), state);
  }

  async #decide(of: unknown, group: unknown, who: unknown, decision: unknown): Promise<void> {
    const { document, state, read } = await this.#opened(of);
    const chosen = CHOICES.find((one) => one === decision);
    const membership = state.memberships.find(
      (one) => one.group.key === group && memberIdentity(one.principal) === who,
    );
    if (!chosen || !membership)
      throw new RolecallError('notFound', vscode.l10n.t('This is no longer in the loaded data.'));
    const newDecision = await askDecision(chosen, membership, read.session.account.label);
    const text = writeDecision(document.getText(), membership, newDecision, Date.now()); // As it is after the question.
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

  /** The review of a command: the one it was called on, the active one, or one that the user picks. */
  async #opened(of: unknown) {
    const uri = of instanceof vscode.Uri ? of : await this.#pick(targetOf(of)?.organization);
    const document = await vscode.workspace.openTextDocument(uri);
    const { judged } = this.#reviewOf(uri, document.getText());
    return { document, ...(judged ?? (await this.#readFor(document))) };
  }

  /** @param organization whose newest review is wanted. */
  async #pick(organization: string | undefined): Promise<vscode.Uri> {
    const active = vscode.window.activeTextEditor?.document;
    const isActive = active && vscode.languages.match({ pattern: CAMPAIGN_FILE_GLOB }, active) > 0;
    if (isActive && organization === undefined) return active.uri;
    await this.check();
    const { all } = this.#files;
    const [first] = organization === undefined ? all : [this.#newestOf(organization)];
    if (!first)
      throw new RolecallError(
        'invalidRequest',
        vscode.l10n.t('There is no review yet. Use "Start Review" to create one.'),
      );
    if (all.length === 1 || organization !== undefined) return first.uri;
    const items = all.map(({ uri }) => ({
      label: nameOf(uri),
      description: vscode.workspace.asRelativePath(uri),
      uri,
    }));
    const picked = await showQuickPick(items, { placeHolder: vscode.l10n.t('Which review?') });
    if (!picked) throw cancelled();
    return picked.uri;
  }

  /** Reads the organization of a review, if the user shows it. */
  async #readFor(document: vscode.TextDocument): Promise<NonNullable<Review['judged']>> {
    const { data } = this.#deps;
    const { organization } = readCampaign(document.getText());
    const session = data.requireSession();
    const isShown = (await data.organizations(session)).some(({ id }) => id === organization);
    if (organization !== undefined && isShown) await data.read(session, organization);
    const { judged } = this.#reviewOf(document.uri, document.getText());
    if (judged) return judged;
    throw new RolecallError(
      'invalidRequest',
      vscode.l10n.t('The organization of this review could not be read. Open it in the Organizations view.'),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/** Moves the cursor to the next membership that is undecided. */
function goToNext(editor: vscode.TextEditor, state: CampaignState): void {
  const { document } = editor;
  const next = nextUndecided(state, document.offsetAt(editor.selection.active));
  if (!next) {
    void showInformationMessage(vscode.l10n.t('Everything is decided: {0}.', progressText(state)));
    return;
  }
  const place = decisionPlace(document.getText(), next);
  if (!place) return; // Not in the file: deciding adds it.
  const at = document.positionAt(place.start);
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split('/').at(-1) ?? '';
}

/** Removes icons of VS Code, which a server's text could contain. */
function withoutIcons(text: string): string {
  return text.replaceAll('$(', '$\u200b(');
}

function choiceText(choice: Choice): string {
  switch (choice) {
    case 'keep':
      return vscode.l10n.t('Keep');
    case 'revoke':
      return vscode.l10n.t('Revoke…');
    case 'ask':
      return vscode.l10n.t('Ask…');
    case 'clear':
      return vscode.l10n.t('Clear Decision');
  }
}

/** The decision to write, with a note if one is needed. */
async function askDecision(choice: Choice, membership: Membership, by: string): Promise<NewDecision | undefined> {
  if (choice === 'clear') return undefined;
  if (choice === 'keep') return { decision: choice, by };
  const { group, principal } = membership;
  const note = await showInputBox({
    title: vscode.l10n.t('{0} in {1}', memberName(principal), groupName(group)),
    prompt:
      choice === 'revoke'
        ? vscode.l10n.t('Why is this membership revoked? Nothing changes in your cloud.')
        : vscode.l10n.t('What is the question, and who should answer it?'),
    validateInput: (typed) => (typed.trim() === '' ? vscode.l10n.t('This cannot be empty.') : undefined),
  });
  if (!isString(note)) throw cancelled();
  return { decision: choice, by, note: note.trim() };
}

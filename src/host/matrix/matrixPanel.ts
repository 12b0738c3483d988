import * as vscode from 'vscode';
import { findingsText } from '../../core/access/descriptions.ts';
import type { SortOrder } from '../../core/access/filter.ts';
import type { Log } from '../../core/base/log.ts';
import { type Mode, readToHost, type ToHost, type ToPage, versioned } from '../../webview/matrix/protocol.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import { clockTime } from '../formats.ts';
import { targetOfEntry } from '../pickTarget.ts';
import { showError } from '../showError.ts';
import { entryToReveal, filterPositions, matrixMessage, resolveSelection } from './matrixMessages.ts';
import { detailText, emptyText, noticesOf, pageTexts, rowNotes } from './texts.ts';

/** The filter of each organization and the order, shared with the tree. */
export interface SharedViewOptions {
  readonly order: SortOrder;
  readonly onDidChange: vscode.Event<string | undefined>;
  filterOf(connection: string, organization: string): string;
  setFilter(connection: string, organization: string, text: string): Promise<void>;
}

export interface MatrixDeps {
  readonly data: AccessData;
  readonly shared: SharedViewOptions;
  /** Shows it in the tree; the focus stays in the matrix. */
  readonly reveal: (target: AccessTarget) => Promise<void>;
  readonly log: Log;
}

/** The matrix of one organization of one session, in an editor tab. Its creator closes it when the session changes. */
export class MatrixPanel implements vscode.Disposable {
  readonly #deps: MatrixDeps;
  readonly #panel: vscode.WebviewPanel;
  readonly #disposables: vscode.Disposable[];
  #read: ReadOrganization;
  #mode: Mode = 'groups';
  /** VS Code unloads the page while it is hidden; the page announces when it has loaded again. */
  #isReady = false;
  #isReading = false;
  /** Whether to read again when it is next visible. */
  #isDue = false;
  /** The last filter that the page sent. */
  #answered = 0;
  /** The data that the page has, so that 10,000 rows are not posted again for each filter. */
  #posted: { readonly read: ReadOrganization; readonly mode: Mode } | undefined;

  constructor(deps: MatrixDeps, panel: vscode.WebviewPanel, read: ReadOrganization) {
    this.#deps = deps;
    this.#panel = panel;
    this.#read = read;
    this.#disposables = [
      panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
      panel.onDidChangeViewState(() => {
        if (!panel.visible) this.#isReady = false;
        else if (this.#isDue) this.readAgain();
      }),
      deps.shared.onDidChange((organization) => {
        if (organization === undefined || organization === this.organization) this.#postAll();
      }),
    ];
  }

  get organization(): string {
    return this.#read.model.organization;
  }

  get #filter(): string {
    return this.#deps.shared.filterOf(this.#read.session.cloud.key, this.organization);
  }

  show(): void {
    this.#panel.reveal();
  }

  /** The user may have given the organization another label. */
  showLabel(): void {
    const label = this.#deps.data.nameOf(this.organization);
    this.#panel.title = vscode.l10n.t('Access Matrix: {0}', label);
    this.#post({ type: 'texts', texts: pageTexts(label), locale: vscode.env.language });
  }

  /** Reads the organization again: at once if the panel is visible, else when it next is. */
  readAgain(): void {
    const { data } = this.#deps;
    const { session } = this.#read;
    this.#isDue = !this.#panel.visible;
    if (this.#isDue || data.session !== session) return;
    this.#isReading = true;
    this.#postNotices();
    void data.read(session, this.organization).then(() => {
      if (data.session !== session || !this.#isReading) return;
      this.#isReading = false; // The reading was stopped: otherwise its result is shown already.
      this.#postNotices();
    });
  }

  /** Called when the organization has been read, for any view. */
  showRead(): void {
    const read = this.#deps.data.last(this.organization);
    if (read?.session !== this.#read.session) return; // Another account's data never gets here.
    this.#isDue = false;
    this.#isReading = false;
    this.#read = read;
    this.#postAll();
  }

  #receive(data: unknown): void {
    const message = readToHost(data);
    if (message === undefined) {
      this.#deps.log.warn('The access matrix sent a message that this version does not know.');
      return;
    }
    void this.#answer(message).catch((error: unknown) => showError(error, this.#deps.log));
  }

  async #answer(message: ToHost): Promise<void> {
    const { data, shared, reveal } = this.#deps;
    const { model, session } = this.#read;
    if (data.session !== session) return;
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        this.#mode = message.mode;
        this.#posted = undefined;
        this.#answered = 0;
        this.showLabel();
        return this.#postAll();
      case 'mode':
        this.#mode = message.mode;
        return this.#postView();
      case 'filter':
        this.#answered = message.sequence;
        await shared.setFilter(session.cloud.key, this.organization, message.text);
        return;
      case 'refresh':
        return data.refresh(this.organization);
      case 'reveal': {
        const entry = await entryToReveal(model, message);
        return entry && reveal(targetOfEntry(this.#read, entry));
      }
      case 'active': {
        const { row, role } = resolveSelection(model, message);
        const header = row && role ? undefined : (row ?? role);
        const findings = header ? findingsText(model, header).split('\n') : [];
        const text = [detailText(row, role), ...findings].filter(Boolean).join(' · ');
        return this.#post({ type: 'detail', place: message.place, text });
      }
    }
  }

  #postAll(): void {
    this.#postNotices();
    this.#postView();
  }

  #postNotices(): void {
    const { model } = this.#read;
    const read = model.at === undefined ? '' : vscode.l10n.t('As of {0}', clockTime(model.at, Date.now()));
    this.#post({ type: 'notices', read, isReading: this.#isReading, notices: [...noticesOf(model, this.#filter)] });
  }

  #postView(): void {
    if (!this.#isReady) return;
    const read = this.#read;
    const mode = this.#mode;
    if (this.#posted?.read !== read || this.#posted.mode !== mode) {
      this.#post(matrixMessage(read.model, read.session.cloud.key, mode, rowNotes));
      this.#posted = { read, mode };
    }
    const { order } = this.#deps.shared;
    const filter = this.#filter;
    const positions = filterPositions(read.model, mode, filter, order);
    const empty = emptyText(read.model, mode, filter);
    this.#post({ type: 'view', mode, ...positions, filter, answered: this.#answered, empty });
  }

  #post(message: ToPage): void {
    if (!this.#isReady) return;
    void this.#panel.webview.postMessage(versioned(message)); // A closed page gets nothing; a new one asks again.
  }

  dispose(): void {
    this.#isReady = false;
    vscode.Disposable.from(...this.#disposables).dispose();
  }
}

import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import { endpoint } from '../../core/completions/endpoint.ts';
import type { ModelMemory } from '../../core/completions/modelMemory.ts';
import { commands } from '../../ids.ts';
import type { Clouds } from '../clouds.ts';
import { registerCommand } from '../commands.ts';
import type { OpenTools } from '../conversation.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import type { Settings } from '../settings.ts';

const SCHEME = 'rolecall-parameters';

export interface ParametersDocumentDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly settings: Settings;
  readonly memory: ModelMemory;
  readonly openTools: OpenTools;
}

/** The read-only document of Show Effective Parameters; it follows the settings while it is open. */
export class ParametersDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #deps: ParametersDocumentDeps;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  readonly uri = vscode.Uri.from({ scheme: SCHEME, path: `/${vscode.l10n.t('Effective Parameters')}.md` });

  constructor(deps: ParametersDocumentDeps) {
    this.#deps = deps;
    const changed = () => this.#changed.fire(this.uri);
    this.#subscription = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      deps.settings.onDidChange(changed),
      deps.catalog.onDidChange(changed),
      deps.catalog.onDidPick(changed),
    );
  }

  /** The document, and the command that opens it. */
  static register(deps: ParametersDocumentDeps, log: Log): vscode.Disposable {
    const document = new ParametersDocument(deps);
    const command = registerCommand(commands.showEffectiveParameters, log, () => document.show());
    return vscode.Disposable.from(document, command);
  }

  async provideTextDocumentContent(): Promise<string> {
    const { clouds, catalog, settings, memory, openTools } = this.#deps;
    const { resolveParameters } = await import('../../core/completions/parameters.ts');
    const { effectiveParametersText } = await import('./effectiveParameters.ts');
    const connection = clouds.active?.connection;
    const model = catalog.picked;
    const { tools } = await openTools();
    return effectiveParametersText({
      service: connection?.inferenceUrl,
      model,
      resolved: resolveParameters(settings.chatParameters()),
      tools: tools.map(({ name }) => name),
      refused: connection && model ? memory.refused(endpoint(connection, '/v1/chat/completions'), model.id) : [],
    });
  }

  async show(): Promise<void> {
    this.#changed.fire(this.uri); // What a model refused is learned without an event.
    const document = await vscode.workspace.openTextDocument(this.uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}

import * as vscode from 'vscode';
import type { Log } from '../../core/base/log.ts';
import type { AccessData } from '../accessData.ts';
import type { AccessTarget } from '../accessTarget.ts';
import type { OpenPages } from '../pages.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';
import { AccessFiles } from './accessFiles.ts';
import { QuickFixes, registerRuleLanguage } from './language.ts';
import { Reviews } from './reviews.ts';
import { ruleCommands } from './ruleCommands.ts';

export interface RulesDeps {
  readonly data: AccessData;
  readonly pages: OpenPages;
  readonly documents: VirtualDocuments;
  /** Shows it in the tree. */
  readonly reveal: (target: AccessTarget) => Promise<void>;
  readonly extensionUri: vscode.Uri;
}

/** Everything about files of access rules, created when one of them is opened or an organization is read. */
export class Rules implements vscode.Disposable {
  readonly commands: ReturnType<typeof ruleCommands> & Reviews['commands'];
  readonly #disposables: vscode.Disposable;

  constructor(deps: RulesDeps, log: Log) {
    const files = new AccessFiles(deps, log);
    const reviews = new Reviews(deps, log);
    this.commands = { ...ruleCommands({ ...deps, files }), ...reviews.commands };
    this.#disposables = vscode.Disposable.from(
      files,
      reviews,
      new QuickFixes(files, deps.data),
      registerRuleLanguage(deps.data),
    );
    // Neither ever rejects; Problems shows the results.
    void files.check();
    void reviews.check();
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

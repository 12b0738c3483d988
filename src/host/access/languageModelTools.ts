import * as vscode from 'vscode';
import { DEFAULT_TOKEN_BUDGET, estimateTokens, REFUSAL } from '../../core/access/accessTools.ts';
import { createSerialQueue } from '../../core/base/abort.ts';
import { asRolecallError, cancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { oneLine } from '../../core/base/text.ts';
import type { languageModelTools } from '../../ids.ts';
import type { AccessData, ActiveSession } from '../accessData.ts';
import { signalOf } from '../cancellation.ts';
import { showWarningMessage } from '../dialogs.ts';
import { ownToolName } from '../ownAccessTools.ts';
import { answerToolQuestion, readToolQuestion } from './accessTools.ts';

/** The organization and the recipient, shown to the user before anything is read. */
export interface SharingRequest {
  readonly organization: string;
  /** The model or agent, if the editor names it. */
  readonly recipient: string | undefined;
}

/**
 * The user's consent to sharing an organization's groups, roles and people with a model that is not the cloud's own. Rolecall
 * asks itself: the editor's "Allow in this Session" approves every later call of a tool, for every organization and whichever
 * model asks. Consent can last until the window closes, for this account, organization and recipient alone.
 */
class SharingConsent implements vscode.Disposable {
  readonly #allowed = new Set<string>();
  readonly #inTurn = createSerialQueue();
  readonly #subscription: vscode.Disposable;

  constructor(data: AccessData) {
    this.#subscription = data.onDidChange(({ kind }) => {
      if (kind === 'session') this.#allowed.clear();
    });
  }

  /** Questions wait for each other: one dialog at a time. */
  ask(session: ActiveSession, sharing: SharingRequest, signal: AbortSignal): Promise<boolean> {
    const key = JSON.stringify([session.cloud.key, session.account.id, sharing.organization, sharing.recipient]);
    return this.#inTurn(async () => {
      if (signal.aborted) return false;
      if (sharing.recipient !== undefined && this.#allowed.has(key)) return true;
      return this.#show(key, sharing, signal);
    });
  }

  async #show(key: string, { organization, recipient }: SharingRequest, signal: AbortSignal): Promise<boolean> {
    const once = vscode.l10n.t('Allow Once');
    const session = vscode.l10n.t('Allow Until This Window Closes');
    const who = recipient === undefined ? vscode.l10n.t('another chat agent or model') : oneLine(recipient);
    const chosen = await showWarningMessage(
      vscode.l10n.t('Share who can do what in "{0}" with {1}?', oneLine(organization), who),
      {
        modal: true,
        detail: [
          vscode.l10n.t(
            'The names of groups and roles and people’s email addresses will be sent to that model as part of a prompt. Its vendor can log them.',
          ),
          recipient === undefined
            ? vscode.l10n.t('VS Code does not say which agent or model is asking, only that it is not @rolecall.')
            : vscode.l10n.t('The request does not come from @rolecall.'),
        ].join('\n\n'),
      },
      once,
      // An unnamed recipient cannot be recognized again.
      ...(recipient === undefined ? [] : [session]),
    );
    if (signal.aborted) return false; // The dialog outlives Stop; its answer does not.
    if (chosen === session) this.#allowed.add(key);
    return chosen === once || chosen === session;
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** A question of a program outside the editor, and the user's name for the program. */
export interface ProgramSharing {
  readonly tool: string;
  readonly organization: string;
  readonly recipient: string;
}

/** Answers the contributed tools when others than `@rolecall` call them, with the user's consent. */
export class ContributedAccessTools implements vscode.Disposable {
  readonly #data: AccessData;
  readonly #consent: SharingConsent;
  readonly #answered: Set<string>;
  readonly #log: Log;

  constructor(data: AccessData, answered: Set<string>, log: Log) {
    this.#data = data;
    this.#answered = answered;
    this.#consent = new SharingConsent(data);
    this.#log = log;
  }

  async answer(
    name: (typeof languageModelTools)[keyof typeof languageModelTools],
    options: vscode.LanguageModelToolInvocationOptions<unknown>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const signal = signalOf(token);
    try {
      const session = this.#data.requireSession();
      const question = await readToolQuestion(this.#data, ownToolName(name), options.input, 'others');
      const { organization } = question;
      const recipient = recipientOf(options);
      if (!(await this.#consent.ask(session, { organization, recipient }, signal))) {
        if (signal.aborted) throw cancelled();
        return result(REFUSAL);
      }
      if (this.#data.session !== session) throw cancelled(); // The consent was for another account.
      this.#log.info(`Giving ${name} of ${organization} to ${recipient ?? 'an agent that the editor does not name'}.`);
      const { tokenBudget = DEFAULT_TOKEN_BUDGET, countTokens } = options.tokenizationOptions ?? {};
      const measure = countTokens ? async (text: string) => countTokens(text, token) : estimateTokens;
      const answer = await answerToolQuestion(this.#data, question, tokenBudget, measure, signal);
      this.#answered.add(ownToolName(name));
      return result(answer);
    } catch (error) {
      const rolecallError = asRolecallError(error);
      if (rolecallError.kind === 'cancelled') throw new vscode.CancellationError();
      return result(`Rolecall could not answer: ${rolecallError.message}`);
    }
  }

  /** Asks the user to share an organization with a program outside of the editor, which then reads it. */
  async share({ tool, ...sharing }: ProgramSharing, signal: AbortSignal): Promise<boolean> {
    const session = this.#data.requireSession();
    if (!(await this.#consent.ask(session, sharing, signal))) return false;
    if (this.#data.session !== session) throw cancelled();
    this.#log.info(`Giving ${tool} of ${sharing.organization} to ${sharing.recipient}.`);
    this.#answered.add(tool);
    return true;
  }

  dispose(): void {
    this.#consent.dispose();
  }
}

function result(text: string): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
}

/** The model that asks, if the editor names it; the stable API does not. */
function recipientOf(options: object): string | undefined {
  try {
    const { model } = options as {
      model?: { readonly vendor?: unknown; readonly name?: unknown; readonly id?: unknown };
    };
    const name = model?.name ?? model?.id;
    if (typeof name !== 'string' || typeof model?.vendor !== 'string') return undefined;
    return `${name} (${model.vendor})`;
  } catch {
    return undefined; // A proposal that throws for others.
  }
}

import * as vscode from 'vscode';
import { DEFAULT_BUDGET, estimateTokens, REFUSED } from '../../core/access/accessTools.ts';
import { asRolecallError, cancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { nameForOurselves } from '../accessToolNames.ts';
import { signalOf } from '../cancellation.ts';
import { answerToolQuestion, readToolQuestion } from './accessTools.ts';
import { SharingConsent } from './sharingConsent.ts';

/** What a program outside of the editor asks, and for whom. */
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
      const question = await readToolQuestion(this.#data, nameForOurselves(name), options.input, 'others');
      const { organization } = question;
      const recipient = recipientOf(options);
      if (!(await this.#consent.ask(session, { organization, recipient }, signal))) {
        if (signal.aborted) throw cancelled();
        return result(REFUSED);
      }
      if (this.#data.session !== session) throw cancelled(); // The consent was for another account.
      this.#log.info(`Giving ${name} of ${organization} to ${recipient ?? 'an agent that the editor does not name'}.`);
      const { tokenBudget = DEFAULT_BUDGET, countTokens } = options.tokenizationOptions ?? {};
      const measure = countTokens ? async (text: string) => countTokens(text, token) : estimateTokens;
      const answer = await answerToolQuestion(this.#data, question, tokenBudget, measure, signal);
      this.#answered.add(nameForOurselves(name));
      return result(answer);
    } catch (error) {
      const known = asRolecallError(error);
      if (known.kind === 'cancelled') throw new vscode.CancellationError();
      return result(`Rolecall could not answer: ${known.message}`);
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

/** The model that asks, where the editor says so; the stable API does not. */
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

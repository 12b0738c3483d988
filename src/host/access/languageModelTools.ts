import * as vscode from 'vscode';
import { asRolecallError, cancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { signalOf } from '../cancellation.ts';
import { type AccessToolName, answerQuestion, readQuestion } from './accessTools.ts';
import type { SharingConsent } from './sharingConsent.ts';

/** Where the caller does not say how many tokens it wants. */
const DEFAULT_TOKENS = 4000;
/** Characters of a token, roughly, where the caller cannot count them. */
const CHARACTERS_PER_TOKEN = 3;

/** Registers the contributed tools, for callers other than `@rolecall`, which has them as its own. */
export function registerLanguageModelTools(data: AccessData, consent: SharingConsent, log: Log): vscode.Disposable {
  const names = Object.values(languageModelTools);
  return vscode.Disposable.from(
    ...names.map((name) => vscode.lm.registerTool(name, new AccessTool(name, data, consent, log))),
  );
}

class AccessTool implements vscode.LanguageModelTool<unknown> {
  readonly #name: AccessToolName;
  readonly #data: AccessData;
  readonly #consent: SharingConsent;
  readonly #log: Log;

  constructor(name: AccessToolName, data: AccessData, consent: SharingConsent, log: Log) {
    this.#name = name;
    this.#data = data;
    this.#consent = consent;
    this.#log = log;
  }

  prepareInvocation(): vscode.PreparedToolInvocation {
    return { invocationMessage: vscode.l10n.t('Asking Rolecall who may do what') };
  }

  async invoke(
    options: vscode.LanguageModelToolInvocationOptions<unknown>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const signal = signalOf(token);
    try {
      const stage = this.#data.requireStage();
      const question = await readQuestion(this.#data, this.#name, options.input, 'others');
      const { organization } = question;
      const recipient = recipientOf(options);
      if (!(await this.#consent.ask(stage, { organization, recipient }, signal))) {
        if (signal.aborted) throw cancelled();
        return result('The user did not allow this. Nothing was read. Do not ask again.');
      }
      if (this.#data.stage !== stage) throw cancelled(); // The yes was given for another account.
      this.#log.info(
        `Giving ${this.#name} of ${organization} to ${recipient ?? 'an agent that the editor does not name'}.`,
      );
      const { tokenBudget = DEFAULT_TOKENS, countTokens } = options.tokenizationOptions ?? {};
      const measure = countTokens
        ? async (text: string) => countTokens(text, token)
        : (text: string) => text.length / CHARACTERS_PER_TOKEN;
      return result(await answerQuestion(this.#data, question, tokenBudget, measure, signal));
    } catch (error) {
      const known = asRolecallError(error);
      if (known.kind === 'cancelled') throw new vscode.CancellationError();
      return result(`Rolecall could not answer: ${known.message}`);
    }
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

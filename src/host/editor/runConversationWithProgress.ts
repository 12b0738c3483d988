import * as vscode from 'vscode';
import { cancelled } from '../../core/base/errors.ts';
import type { ChatMessage } from '../../core/completions/request.ts';
import type { AgentLoopResult } from '../../core/tools/agentLoop.ts';
import type { AnswerStats } from '../answerText.ts';
import { type AnswerPart, answerPart } from '../answerText.ts';
import { accountSignal, ownerOf, signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { type OpenToolRegistry, runConversation, type ToolRegistry } from '../conversation.ts';
import { withProgress } from '../dialogs.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';
import type { RequestDeps } from '../modelRequest.ts';
import { usableModel } from '../selectModel.ts';

export interface EditorDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: OpenToolRegistry;
}

/** The model that answers an editor command. */
export interface AnsweringModel {
  /** The account that the answer will belong to, see {@link ownerOf}. */
  readonly owner: string;
  readonly cloud: Cloud;
  readonly model: Model;
}

/** For conversations that must not call tools. */
export const noTools: ToolRegistry = {
  tools: [],
  invoke: async ({ name }) => ({ content: `There is no tool named ${name}.`, isError: true }),
};

/**
 * The picked model of the active cloud.
 *
 * @throws RolecallError that says why no model can answer.
 */
export async function resolveAnsweringModel({
  clouds,
  catalog,
}: Pick<EditorDeps, 'clouds' | 'catalog'>): Promise<AnsweringModel> {
  const model = await usableModel(clouds, catalog);
  return { owner: ownerOf(clouds), cloud: clouds.require(), model };
}

/** @throws RolecallError `cancelled` when the account changed meanwhile: one account never sees the answer for another. */
export function assertSameOwner(clouds: Pick<Clouds, 'active'>, { owner }: AnsweringModel): void {
  if (ownerOf(clouds) !== owner) throw cancelled();
}

/** One conversation of an editor command. */
export interface EditorConversation extends AnsweringModel {
  readonly messages: readonly ChatMessage[];
  readonly toolRegistry: ToolRegistry;
  /** Ends it besides the cancel button. */
  readonly closed?: AbortSignal;
  readonly stats?: AnswerStats;
  /** Called with what arrives, except progress, which the notification shows. */
  readonly write: (part: Exclude<AnswerPart, { kind: 'progress' }>) => void;
}

/** Asks under a notification that can be cancelled; ends with the account. Failures are in the outcome, not thrown. */
export async function runConversationWithProgress(
  deps: EditorDeps,
  { closed, write, stats, ...request }: EditorConversation,
): Promise<AgentLoopResult> {
  const title = vscode.l10n.t('{0} is answering…', request.model.label);
  return withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (report, token) => {
      const stopped = AbortSignal.any([signalOf(token), ...(closed ? [closed] : [])]);
      const account = accountSignal(deps.clouds, stopped);
      const choices = deps.catalog.choicesOf(request.model);
      const events = runConversation({ ...deps, ...request, choices }, account.signal);
      try {
        for (;;) {
          const next = await events.next();
          if (next.done) return next.value;
          stats?.accept(next.value);
          const part = answerPart(next.value);
          if (part?.kind === 'progress') report(part.text);
          else if (part) write(part);
        }
      } finally {
        account.dispose();
        await events.return(undefined as never); // Stops the request when its result cannot be shown.
      }
    },
  );
}

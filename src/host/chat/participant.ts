import * as vscode from 'vscode';
import { asRolecallError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { mergeNeighbours } from '../../core/completions/mergeNeighbours.ts';
import type { LoopEnd } from '../../core/tools/loopTypes.ts';
import { chatParticipant, commands, languageModelVendor } from '../../ids.ts';
import { answerPart, endingLine } from '../answerText.ts';
import { signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { converse, type Toolbox } from '../conversation.ts';
import type { ModelCatalog } from '../modelCatalog.ts';
import type { RequestDeps } from '../modelRequest.ts';
import { describe, nextStep } from '../showError.ts';
import { AnswerWriter } from './answerWriter.ts';
import { earlierMessages, type ResultMetadata } from './history.ts';
import { promptWithReferences } from './references.ts';

export interface ParticipantDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: () => Promise<Toolbox>;
  readonly icon: vscode.Uri;
}

/** Registers `@rolecall`. */
export function registerParticipant(deps: ParticipantDeps): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(chatParticipant, (request, context, stream, token) =>
    answer(deps, request, context, stream, signalOf(token)),
  );
  participant.iconPath = deps.icon;
  return participant;
}

async function answer(
  deps: ParticipantDeps,
  request: vscode.ChatRequest,
  context: vscode.ChatContext,
  stream: vscode.ChatResponseStream,
  signal: AbortSignal,
): Promise<vscode.ChatResult> {
  try {
    const cloud = deps.clouds.active;
    await cloud?.load();
    if (cloud?.inferenceAccount === undefined) return offerSignIn(deps.clouds, cloud, stream);
    await deps.catalog.ready(signal);
    const picked = request.model.vendor === languageModelVendor ? request.model.id : undefined;
    const model = deps.catalog.choose(picked);
    if (model && model.id === picked) deps.catalog.pick(model.id);
    if (!model) {
      stream.markdown(
        vscode.l10n.t('The service lists no models. Name one in the setting `rolecall.models` and ask again.'),
      );
      stream.button({
        title: vscode.l10n.t('Open Settings'),
        command: 'workbench.action.openSettings',
        arguments: ['rolecall.models'],
      });
      return {};
    }
    const question = { role: 'user', content: await promptWithReferences(request) };
    const messages = mergeNeighbours([...(await earlierMessages(context)), question]);
    const toolbox = await deps.openTools();
    const end = await write(converse({ ...deps, cloud, model, messages, toolbox }, signal), stream);
    return finish(end, stream, deps.log);
  } catch (error) {
    if (signal.aborted) return {}; // VS Code has closed the stream, and writing into it throws.
    return failed(error, stream, deps.log);
  }
}

async function write(events: ReturnType<typeof converse>, stream: vscode.ChatResponseStream): Promise<LoopEnd> {
  const writer = new AnswerWriter(stream);
  for (;;) {
    const next = await events.next();
    if (next.done) return next.value;
    const part = answerPart(next.value);
    if (part) writer.write(part);
  }
}

function finish(end: LoopEnd, stream: vscode.ChatResponseStream, log: Log): vscode.ChatResult {
  const line = endingLine(end);
  if (line !== undefined) new AnswerWriter(stream).write({ kind: 'line', text: line });
  const metadata: ResultMetadata = { history: end.history };
  if (end.reason !== 'failed') return { metadata };
  return { ...failed(end.error, stream, log), metadata };
}

function failed(error: unknown, stream: vscode.ChatResponseStream, log: Log): vscode.ChatResult {
  const known = asRolecallError(error);
  if (known.kind === 'cancelled') return {};
  log.error(describe(known));
  const step = nextStep(known);
  if (step) stream.button({ title: step.title, command: step.command, arguments: [...(step.arguments ?? [])] });
  return { errorDetails: { message: known.message } };
}

/** The first message of a newcomer is answered too: with the way in. */
function offerSignIn(clouds: Clouds, cloud: Cloud | undefined, stream: vscode.ChatResponseStream): vscode.ChatResult {
  const state = cloud?.keeper.state;
  if (clouds.problem) stream.markdown(clouds.problem.message);
  else if (state?.kind === 'ended' || state?.kind === 'storeUnavailable') stream.markdown(state.error.message);
  else if (cloud) stream.markdown(vscode.l10n.t('Sign in to {0}, then ask again.', cloud.connection.label));
  else {
    stream.markdown(
      vscode.l10n.t(
        'Rolecall does not know your cloud yet. Try the sandbox, a small cloud on this machine, or configure your own.',
      ),
    );
  }
  if (cloud) stream.button({ title: vscode.l10n.t('Sign In'), command: commands.signIn });
  if (cloud?.connection.id !== 'sandbox') {
    stream.button({ title: vscode.l10n.t('Try the Sandbox'), command: commands.trySandbox });
  }
  return {};
}

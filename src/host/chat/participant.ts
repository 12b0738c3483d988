import * as vscode from 'vscode';
import { asRolecallError } from '../../core/base/errors.ts';
import type { AgentLoopResult } from '../../core/tools/agentLoop.ts';
import { chatCommands, commands, contextKeys, defaultModelEntry, extensionId, languageModelVendor } from '../../ids.ts';
import { AnswerStats, answerPart, closingLine, lowConfidenceLine } from '../answerText.ts';
import { accountSignal, ownerOf, signalOf } from '../cancellation.ts';
import type { Cloud } from '../cloud.ts';
import type { Clouds } from '../clouds.ts';
import { setContextKey } from '../contextKeys.ts';
import { type Conversation, type LastExchange, type OpenToolRegistry, runConversation } from '../conversation.ts';
import { escapeMarkdown } from '../markdown.ts';
import type { Model, ModelCatalog } from '../modelCatalog.ts';
import { parametersFor, type RequestDeps } from '../modelRequest.ts';
import { ownAccessToolNames } from '../ownAccessTools.ts';
import { manageTrust, restrictedLine } from '../restrictedMode.ts';
import { describeError, nextStep } from '../showError.ts';
import { AnswerWriter } from './answerWriter.ts';
import { type BriefAccess, composeRequest, lacksCode } from './composeRequest.ts';
import { followUpOf } from './followUps.ts';
import { AskedQuestions, accessToolsFor, attachedReferences, type ResultMetadata, sessionHash } from './history.ts';
import { toolsOverview } from './toolsOverview.ts';

export interface ParticipantDeps extends RequestDeps {
  readonly clouds: Clouds;
  readonly catalog: ModelCatalog;
  readonly openTools: OpenToolRegistry;
  readonly briefAccess: BriefAccess;
  readonly lastExchange: LastExchange;
}

/** One question from VS Code. */
interface ChatTurn {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly signal: AbortSignal;
}

/** Answers questions to `@rolecall`. */
export function createParticipant(deps: ParticipantDeps): vscode.ChatRequestHandler {
  const questions = new AskedQuestions();
  let isRestrictionTold = false;
  return async (request, context, stream, token) => {
    const result = await answer(deps, questions, { request, context, stream, signal: signalOf(token) });
    // Once in a window; /tools says it each time.
    const restricted = restrictedLine();
    if (token.isCancellationRequested || restricted === undefined) return result;
    const isTools = request.command === chatCommands.tools;
    if (!isRestrictionTold && !isTools) stream.markdown(`\n\n*${escapeMarkdown(restricted)}*`);
    if (!isRestrictionTold || isTools) stream.button({ title: manageTrust.title, command: manageTrust.command });
    isRestrictionTold = true;
    return result;
  };
}

async function answer(deps: ParticipantDeps, questions: AskedQuestions, turn: ChatTurn): Promise<vscode.ChatResult> {
  const { request, stream, signal } = turn;
  try {
    if (request.command === chatCommands.tools) {
      const { tools, ...toolRegistry } = await deps.openTools({ access: ownAccessToolNames });
      stream.markdown(await toolsOverview({ tools, ...toolRegistry }));
      if (tools.some(({ name }) => ownAccessToolNames.has(name))) {
        stream.markdown(
          `\n\n${vscode.l10n.t('Tools that read who has access are available with `/access`, or when you mention one, for example `#rolecallWhoHas`.')}`,
        );
      }
      return local();
    }
    if (lacksCode(request)) {
      stream.markdown(vscode.l10n.t('Open a file, or attach one with #file, and ask again.'));
      return local();
    }
    const cloud = deps.clouds.active;
    await cloud?.load();
    if (cloud?.inferenceAccount === undefined) return offerSignIn(deps.clouds, cloud, stream);
    questions.remember(request.prompt, sessionHash(cloud));
    const picked = request.model.vendor === languageModelVendor ? request.model.id : undefined;
    const model = await deps.catalog.resolve(picked, signal);
    if (!model) {
      if (signal.aborted) return stopped();
      const result = failed(deps.catalog.whyNone(), stream, deps);
      const again = request.command === undefined ? request.prompt : `/${request.command} ${request.prompt}`;
      stream.button({ title: vscode.l10n.t('Try Again'), command: commands.openChat, arguments: [again] });
      return { ...result, ...local() };
    }
    deps.catalog.pick(model.id === picked ? picked : undefined);
    // Choices for a model that is no longer available, or for another vendor's, are not used for the one that answers.
    const isPicked = picked === model.id || picked === defaultModelEntry;
    const choices = deps.catalog.readChoices(isPicked ? model : undefined, request);
    setContextKey(contextKeys.hasAsked, true);
    return await ask(deps, questions, turn, { cloud, model, choices });
  } catch (error) {
    if (signal.aborted) return stopped(); // VS Code has closed the stream, and writing into it throws.
    return failed(error, stream, deps);
  }
}

async function ask(
  deps: ParticipantDeps,
  questions: AskedQuestions,
  { request, context, stream, signal }: ChatTurn,
  { cloud, model, choices }: Pick<Conversation, 'cloud' | 'model' | 'choices'>,
): Promise<vscode.ChatResult> {
  const account = accountSignal(deps.clouds, signal);
  const session = sessionHash(cloud);
  const writer = new AnswerWriter(stream);
  const stats = new AnswerStats();
  try {
    const { briefAccess } = deps;
    const answered = new Set<string>();
    const access = accessToolsFor(request);
    const toolRegistry = await deps.openTools({
      token: request.toolInvocationToken,
      access,
      answered,
      whileAsking: stats.whileAsking,
    });
    const input = { request, context, cloud, model, questions, briefAccess, problems: toolRegistry.problems ?? [] };
    const { messages, question, references, remarks, earlierTools } = await composeRequest(input, account.signal);
    for (const name of earlierTools) answered.add(name);
    for (const reference of references) stream.reference(reference);
    const parameters = parametersFor(model, deps.settings, choices);
    deps.lastExchange.current = { owner: ownerOf(deps.clouds), model: model.id, parameters, messages, toolRegistry };
    const answering = runConversation({ ...deps, cloud, model, choices, messages, toolRegistry }, account.signal);
    const end = await write(answering, { writer, stats, signal });
    const metadata: ResultMetadata = {
      session,
      history: end.history,
      ...(end.reason === 'cancelled' && { isStopped: true }),
      ...(answered.size > 0 && { answered: [...answered] }),
      ...((request.command !== undefined || attachedReferences(request.references).length > 0) && { question }),
      ...followUp(followUpOf(request, end)),
    };
    if (signal.aborted) questions.keep(request.prompt, metadata);
    return { ...finish(end, { stream, writer, stats, model, remarks, signal, deps }), metadata };
  } finally {
    account.dispose();
  }
}

function followUp(kind: string | undefined): Pick<ResultMetadata, 'followUp'> {
  return kind === undefined ? {} : { followUp: kind };
}

/** Also reads the end of an answer that was stopped: the calls that were made, with their results, belong to the history. */
async function write(
  events: ReturnType<typeof runConversation>,
  { writer, stats, signal }: Pick<Finishing, 'writer' | 'stats' | 'signal'>,
): Promise<AgentLoopResult> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      stats.accept(next.value);
      const part = answerPart(next.value);
      try {
        if (part) writer.write(part);
      } catch (error) {
        if (!signal.aborted) throw error; // VS Code closes the stream of an answer that was stopped.
      }
    }
  } finally {
    await events.return(undefined as never); // Writing into a stream that VS Code has closed throws.
  }
}

interface Finishing {
  readonly stream: vscode.ChatResponseStream;
  readonly writer: AnswerWriter;
  readonly stats: AnswerStats;
  readonly model: Model;
  /** The remarks on how this was answered. */
  readonly remarks: readonly string[];
  /** Aborted when the user chooses Stop. */
  readonly signal: AbortSignal;
  readonly deps: Pick<ParticipantDeps, 'clouds' | 'log'>;
}

function finish(
  end: AgentLoopResult,
  { stream, writer, stats, model, remarks, signal, deps }: Finishing,
): vscode.ChatResult {
  if (end.reason === 'cancelled') {
    if (signal.aborted) return stopped();
    writer.write({ kind: 'line', text: vscode.l10n.t('Stopped because the account was signed out.') });
    return {};
  }
  const line = closingLine(end);
  if (line !== undefined) writer.write({ kind: 'footer', text: line });
  for (const [at, text] of stats.others.entries()) {
    writer.write({ kind: 'footer', text: vscode.l10n.t('Answer {0}:', at + 2) });
    writer.write({ kind: 'text', text });
  }
  // After the answer: before it they would be collapsed with its steps.
  for (const text of remarks) writer.write({ kind: 'footer', text });
  const doubts = lowConfidenceLine(stats.logprobs);
  if (doubts !== undefined) writer.write({ kind: 'footer', text: doubts });
  // Before the button, which separates the text from what follows.
  if (end.reason !== 'failed') writer.write({ kind: 'footer', text: stats.summary(model.label) });
  if (stats.reasoning !== '') {
    stream.button({
      title: vscode.l10n.t('Show Reasoning'),
      command: commands.showReasoning,
      arguments: [stats.reasoning],
    });
  }
  return end.reason === 'failed' ? failed(end.error, stream, deps) : {};
}

/**
 * VS Code shows nothing more that is written, nor `errorDetails`, of an answer that was stopped in its chat. It shows `details`
 * below the answer while the mouse or the focus is on it; the stable API does not declare them, and elsewhere they are ignored.
 */
function stopped(): vscode.ChatResult & { readonly details: string } {
  return { details: vscode.l10n.t('Stopped.') };
}

function failed(
  error: unknown,
  stream: vscode.ChatResponseStream,
  { clouds, log }: Pick<ParticipantDeps, 'clouds' | 'log'>,
): vscode.ChatResult {
  const rolecallError = asRolecallError(clouds.active?.explain(error) ?? error);
  if (rolecallError.kind === 'cancelled') return {};
  log.error(describeError(rolecallError));
  const step = nextStep(rolecallError);
  if (step) stream.button({ title: step.title, command: step.command, arguments: [...(step.arguments ?? [])] });
  // VS Code renders it as Markdown, and it may contain text from the service.
  return { errorDetails: { message: escapeMarkdown(rolecallError.message) } };
}

/** For an answer of Rolecall itself, which is not sent to the model. */
function local(): vscode.ChatResult {
  const metadata: ResultMetadata = { session: '', history: [], isLocal: true };
  return { metadata };
}

/** Answers the message of a signed-out user with the ways to sign in. */
function offerSignIn(clouds: Clouds, cloud: Cloud | undefined, stream: vscode.ChatResponseStream): vscode.ChatResult {
  const state = cloud?.tokenManager.state;
  if (clouds.problem) stream.markdown(escapeMarkdown(clouds.problem.message));
  else if (state?.kind === 'ended' || state?.kind === 'storeUnavailable')
    stream.markdown(escapeMarkdown(state.error.message));
  else if (cloud)
    stream.markdown(vscode.l10n.t('Sign in to {0}, then ask again.', escapeMarkdown(cloud.connection.label)));
  else {
    stream.markdown(
      vscode.l10n.t('No cloud configured yet. Try the sandbox, a demo cloud on this machine, or configure your own.'),
    );
  }
  if (cloud) stream.button({ title: vscode.l10n.t('Sign In'), command: commands.signIn });
  if (cloud?.connection.id !== 'sandbox') {
    stream.button({ title: vscode.l10n.t('Try the Sandbox'), command: commands.trySandbox });
  }
  if (!cloud) {
    stream.button({
      title: vscode.l10n.t('Configure Your Cloud'),
      command: 'workbench.action.openSettings',
      arguments: [`@ext:${extensionId}`],
    });
  }
  return {};
}

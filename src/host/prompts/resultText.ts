import * as vscode from 'vscode';
import { isJsonObject } from '../../core/base/json.ts';
import { oneLine } from '../../core/base/text.ts';
import type { Usage } from '../../core/completions/completion.ts';
import { fenceFor } from '../../core/completions/request.ts';
import type { Timings } from '../../core/prompts/runResults.ts';
import { evaluationText } from '../../core/prompts/runText.ts';
import { numberText } from '../formats.ts';
import { tokensText } from '../tokenUsage.ts';
import type { AnswerChoice, ModelAnswer } from './modelAnswer.ts';

/** A result as a document: its text, and the places in it. */
export interface ResultText {
  readonly text: string;
  readonly answers: readonly AnswerPlace[];
  readonly links: readonly LinkPlace[];
}

/** The place of an answer. Lines count from 0. */
export interface AnswerPlace {
  readonly model: ModelAnswer;
  readonly choice: AnswerChoice;
  readonly line: number;
  /** The length of the answer in the text. More of it may have arrived since. */
  readonly length: number;
}

/** A line with an action. */
export interface LinkPlace {
  readonly line: number;
  readonly model: ModelAnswer;
  readonly choice?: AnswerChoice;
  readonly action: /** Something that is folded: shown or hidden. */
    | { readonly kind: 'fold'; readonly what: string; readonly isShown: boolean; readonly title: string }
    | { readonly kind: 'callTool'; readonly call: number }
    | { readonly kind: 'answer' };
}

export interface ResultHead {
  readonly title: string;
  readonly about: string;
}

/** The result as Markdown. The model's text in it is unchanged. */
export function resultText(head: ResultHead, models: readonly ModelAnswer[]): ResultText {
  const writer = new Writer();
  writer.paragraph(`# ${oneLine(head.title)}`);
  writer.paragraph(oneLine(head.about));
  for (const model of models) writeModel(writer, model);
  return writer.done;
}

function writeModel(writer: Writer, model: ModelAnswer): void {
  const { choices, result, notices, isOver } = model;
  writer.paragraph(`## ${oneLine(model.label)}`);
  for (const notice of notices) writer.paragraph(oneLine(notice));
  for (const choice of choices) {
    if (choices.length > 1) {
      writer.paragraph(`### ${vscode.l10n.t('Answer {0} of {1}', choice.index + 1, choices.length)}`);
    }
    writeChoice(writer, model, choice);
  }
  if (result?.error) writer.paragraph(vscode.l10n.t('Error: {0}', oneLine(result.error.message)));
  else if (isOver && !result) writer.paragraph(vscode.l10n.t('Stopped.'));
  else if (!isOver) {
    // At the end, so that whoever reads it sees the answer grow above.
    if (choices.length === 0) writer.paragraph(vscode.l10n.t('Waiting for the answer…'));
    return;
  }
  // Where whoever has read the answer is. The title of the editor has the same for everywhere else.
  if (result && !result.error) writer.link({ model, action: { kind: 'answer' } });
  writer.lines(factsOf(model));
  if (model.body !== undefined) {
    const body = model.body;
    const summary = vscode.l10n.t('Request: {0} bytes', numberText(Buffer.byteLength(body)));
    writer.folded({ model, what: 'request', title: vscode.l10n.t('Request'), summary }, () =>
      writer.fenced(JSON.stringify(JSON.parse(body), undefined, 2), 'json'),
    );
  }
}

function writeChoice(writer: Writer, model: ModelAnswer, choice: AnswerChoice): void {
  const { reasoning, calls, text } = choice;
  if (reasoning !== '') {
    const words = reasoning.split(/\s+/).filter(Boolean).length;
    const summary =
      words === 1 ? vscode.l10n.t('Reasoning: 1 word') : vscode.l10n.t('Reasoning: {0} words', numberText(words));
    const what = `reasoning ${choice.index}`;
    writer.folded({ model, choice, what, title: vscode.l10n.t('Reasoning'), summary }, () =>
      writer.quoted(reasoning.trim()),
    );
  }
  if (text !== '') writer.answer(model, choice);
  for (const [index, call] of calls.entries()) {
    if (model.isOver) writer.link({ model, choice, action: { kind: 'callTool', call: index } });
    writer.paragraph(vscode.l10n.t('Calls the tool {0} with:', oneLine(call.name)));
    writer.fenced(indented(call.arguments), 'json');
    const returned = choice.toolResults.get(index);
    if (returned !== undefined) {
      writer.paragraph(vscode.l10n.t('Result of {0}:', oneLine(call.name)));
      writer.fenced(returned, '');
    }
  }
  if (!model.isOver) return;
  writer.lines(endOf(choice, model.result === undefined));
  if (choice.evaluations.length > 0) {
    writer.lines(choice.evaluations.map((each) => oneLine(evaluationText(each))));
  }
}

/** How an answer ended, and how sure the model was. */
function endOf(
  { finishReason, stopReason, logprobs, places, perplexity, text }: AnswerChoice,
  wasStopped: boolean,
): string[] {
  const stopped = stopReason === undefined ? '' : vscode.l10n.t(' · stop reason: {0}', JSON.stringify(stopReason));
  const finished =
    finishReason === undefined
      ? vscode.l10n.t('No finish reason')
      : vscode.l10n.t('Finish reason: {0}', oneLine(finishReason));
  const lines = wasStopped && finishReason === undefined ? [] : [`${finished}${stopped}`];
  if (logprobs.length > 0 && perplexity !== undefined) {
    const sure = vscode.l10n.t('Perplexity {0} over {1} tokens', perplexity.toFixed(2), logprobs.length);
    const unplaced = text !== '' && places.length === 0;
    const why = vscode.l10n.t('The tokens do not match this answer, so they are not colored.');
    lines.push(`${sure}${unplaced ? `. ${why}` : ''}`);
  }
  return lines;
}

/** The result of the request. */
function factsOf({ usage, result, choices, body }: ModelAnswer): string[] {
  const { timings, completion, seed } = result ?? {};
  const origin = [
    ...(seed === undefined ? [] : [vscode.l10n.t('seed {0}', seed)]),
    ...(completion?.fingerprint === undefined
      ? []
      : [vscode.l10n.t('fingerprint {0}', oneLine(completion.fingerprint))]),
  ];
  const facts = [usage ? usageFacts(usage) : [], timings ? timeFacts(timings) : [], origin];
  const lines = facts.filter((line) => line.length > 0).map((line) => line.join(' · '));
  const wanted = body !== undefined && /"logprobs":true/.test(body);
  if (wanted && completion && choices.every(({ logprobs }) => logprobs.length === 0)) {
    lines.push(vscode.l10n.t('The service returned no log probabilities, although they were requested.'));
  }
  return lines;
}

function usageFacts({ promptTokens = 0, completionTokens = 0, ...details }: Usage): string[] {
  const detailObjects = [details.promptTokensDetails, details.completionTokensDetails].filter(
    (each) => each !== undefined && each !== null,
  );
  return [tokensText(promptTokens, completionTokens), ...detailObjects.map(detailText)];
}

/** `{"cached_tokens": 7}` as `cached_tokens 7`. */
function detailText(details: unknown): string {
  if (!isJsonObject(details)) return oneLine(JSON.stringify(details));
  return Object.entries(details)
    .map(([name, value]) => oneLine(`${name} ${JSON.stringify(value)}`))
    .join(', ');
}

function timeFacts({ totalMs, firstTokenMs, tokensPerSecond }: Timings): string[] {
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return [
    vscode.l10n.t('{0} s', seconds(totalMs)),
    ...(firstTokenMs === undefined ? [] : [vscode.l10n.t('first token after {0} s', seconds(firstTokenMs))]),
    ...(tokensPerSecond === undefined ? [] : [vscode.l10n.t('{0} tokens/s', tokensPerSecond.toFixed(1))]),
  ];
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}

interface Folded {
  readonly model: ModelAnswer;
  readonly choice?: AnswerChoice;
  readonly what: string;
  /** For the link. */
  readonly title: string;
  /** The line that is always there. */
  readonly summary: string;
}

class Writer {
  readonly #parts: string[] = [];
  #line = 0;
  readonly #answers: AnswerPlace[] = [];
  readonly #links: LinkPlace[] = [];

  get done(): ResultText {
    return { text: this.#parts.join(''), answers: this.#answers, links: this.#links };
  }

  paragraph(text: string): void {
    this.#write(`${text}\n\n`);
  }

  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.paragraph(lines.join('\n'));
  }

  quoted(text: string): void {
    this.paragraph(text.replace(/^/gm, '> '));
  }

  fenced(text: string, language: string): void {
    const fence = fenceFor(text);
    this.paragraph(`${fence}${language}\n${text}\n${fence}`);
  }

  answer(model: ModelAnswer, choice: AnswerChoice): void {
    this.#answers.push({ model, choice, line: this.#line, length: choice.text.length });
    this.paragraph(choice.text);
  }

  /** A link above the next line. */
  link(link: Omit<LinkPlace, 'line'>): void {
    this.#links.push({ ...link, line: this.#line });
  }

  folded({ what, title, summary, ...of }: Folded, write: () => void): void {
    const isShown = of.model.unfolded.has(what);
    this.link({ ...of, action: { kind: 'fold', what, isShown, title } });
    this.paragraph(summary);
    if (isShown) write();
  }

  #write(text: string): void {
    this.#parts.push(text);
    this.#line += text.match(/\r\n|\r|\n/g)?.length ?? 0;
  }
}

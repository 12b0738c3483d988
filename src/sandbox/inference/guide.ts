import { codeAnswer, longestRun, plural } from './code.ts';
import { describeImages } from './images.ts';
import type { ServedModel } from './models.ts';
import { asksOnlyToThink, phraseAnswer } from './phrases.ts';
import type { Plan } from './plan.ts';
import { reasoningSegments, sentencesOfEffort } from './reasoning.ts';
import type { ChatMessage, ChatRequest } from './request.ts';
import type { Segment } from './script.ts';
import { planCalls } from './tools.ts';
import { generalAnswer, topicAnswer } from './topics.ts';

const longestQuote = 200;
const quotedLines = 8;
const namedTools = 5;

/**
 * What the guide answers. Tool calls come first (tools.ts decides); then, in this order: results of tools are quoted,
 * a phrase is obeyed (phrases.ts), images are described, a code block is changed or described (code.ts), and
 * otherwise the message is quoted and answered by its topic (topics.ts).
 */
export function planGuide(request: ChatRequest, model: ServedModel): Plan {
  const calls = planCalls(request);
  const text = lastOf(request, 'user')?.text ?? '';
  const effort = sentencesOfEffort[request.reasoningEffort];
  const sentences = model.reasoning && asksOnlyToThink(text) ? Math.max(effort, sentencesOfEffort.low) : effort;
  return {
    reasoning: reasoningSegments(request, calls, sentences),
    content: calls.length > 0 ? undefined : answer(request, model, text),
    calls,
    history: [],
  };
}

function lastOf(request: ChatRequest, role: ChatMessage['role']): ChatMessage | undefined {
  return request.messages.findLast((message) => message.role === role);
}

function answer(request: ChatRequest, model: ServedModel, text: string): readonly Segment[] {
  const results = lastResults(request.messages);
  if (results.length > 0)
    return results.flatMap((result, index) => [index === 0 ? '' : '\n\n', ...quoteResult(result)]);
  const phrase = phraseAnswer(text);
  if (phrase) return phrase;
  const images = lastOf(request, 'user')?.images ?? [];
  if (images.length > 0) return [describeImages(images)];
  const code = codeAnswer(text);
  if (code) return [code];
  return [...introduce(model, text), ...(topicAnswer(text) ?? generalAnswer), offer(request)];
}

/** The tool results at the end of the history: those of the round that was just called. */
function lastResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(start + 1);
}

function quoteResult({ answers, text }: ChatMessage): readonly Segment[] {
  const name = `\`${answers?.name}\``;
  if (text.trim() === '') return [`The tool ${name} gave an empty result.`];
  const lines = text.replace(/\s+$/, '').split('\n');
  const more = lines.length - quotedLines;
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return [
    [`The tool ${name} answered:`, `Here is what the tool ${name} gave:`, `From the tool ${name}:`],
    `\n\n${marks}text\n${lines.slice(0, quotedLines).join('\n')}\n${marks}`,
    more > 0 ? `\n\nThe result has ${plural(more, 'more line')}.` : '',
  ];
}

function introduce(model: ServedModel, text: string): readonly Segment[] {
  const who = `the sandbox model \`${model.id}\``;
  const line = text.trim().split('\n')[0] ?? '';
  if (line === '') return [`This is ${who}. `];
  const characters = [...line];
  const quote = characters.length > longestQuote ? `${characters.slice(0, longestQuote).join('')}…` : line;
  return [[`You asked ${who}:`, `Your question to ${who}:`, `To ${who} you wrote:`], `\n\n> ${quote}\n\n`];
}

/** Names the tools on offer, so that a reader sees that they arrived and how to have one called. */
function offer({ tools, toolChoice }: ChatRequest): string {
  if (tools.length === 0 || toolChoice === 'none') return '';
  const names = tools.slice(0, namedTools).map(({ name }) => `\`${name}\``);
  const more = tools.length - names.length;
  return `\n\nYou offer me ${names.join(', ')}${more > 0 ? ` and ${plural(more, 'more tool')}` : ''}: name one and I call it.`;
}

import { accessCalls, accessQuestion, isBriefed, linesAbout, membersAnswer, offersAccess } from './access.ts';
import { codeAnswer, longestRun, plural } from './code.ts';
import type { ServedModel } from './models.ts';
import { reasoningSegments, sentencesOfEffort } from './reasoning.ts';
import type { ChatMessage, ChatRequest, ImagePart } from './request.ts';
import type { Plan, Segment } from './script.ts';
import { planCalls } from './tools.ts';
import { promptsAnswer, topicAnswer } from './topics.ts';

const quotedLines = 8;
const namedTools = 5;

/** Prompt tokens one image counts for. */
export const tokensPerImage = 85;

/**
 * What the guide answers. Tool calls come first (tools.ts decides); then, in this order: results of tools are quoted,
 * a phrase is obeyed, images are described, questions about access are answered or sent to `/access`, code is changed or
 * described (code.ts), and otherwise the message is answered by its topic (topics.ts).
 */
export function planGuide(request: ChatRequest, model: ServedModel): Plan {
  const calls = planCalls(request);
  const text = lastOf(request, 'user')?.text ?? '';
  const effort = sentencesOfEffort[request.reasoningEffort];
  const sentences = model.reasoning && asksOnlyToThink(text) ? Math.max(effort, sentencesOfEffort.low) : effort;
  return {
    reasoning: reasoningSegments(request, calls, sentences),
    content: calls.length > 0 ? undefined : answer(request, text),
    calls,
    history: [],
  };
}

function lastOf(request: ChatRequest, role: ChatMessage['role']): ChatMessage | undefined {
  return request.messages.findLast((message) => message.role === role);
}

function answer(request: ChatRequest, text: string): readonly Segment[] {
  const results = lastResults(request.messages);
  if (results.length > 0) return resultsAnswer(request, results, text);
  const phrase = phraseAnswer(text);
  if (phrase) return phrase;
  const images = lastOf(request, 'user')?.images ?? [];
  if (images.length > 0) return [describeImages(images)];
  const access = accessAnswer(request, text);
  if (access !== undefined) return [access];
  const code = codeAnswer(request.messages);
  if (code !== undefined) return [code];
  return [...(topicAnswer(text) ?? promptsAnswer), offer(request)];
}

/** The tool results at the end of the history: those of the round that was just called. */
function lastResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(start + 1);
}

function resultsAnswer(request: ChatRequest, results: readonly ChatMessage[], text: string): readonly Segment[] {
  const question = accessQuestion(text);
  const members = question && membersAnswer(request.messages, question);
  if (question && members !== undefined) return [`Members of \`${question.group}\`:\n\n${quote(members)}`];
  return results.flatMap((result, index) => [index === 0 ? '' : '\n\n', ...quoteResult(result)]);
}

function quoteResult({ answers, text }: ChatMessage): readonly Segment[] {
  const name = `\`${answers?.name}\``;
  if (text.trim() === '') return [`${name} returned nothing.`];
  return [`Result of ${name}:\n\n${quote(text)}`];
}

function quote(text: string): string {
  const lines = text.replace(/\s+$/, '').split('\n');
  const more = lines.length - quotedLines;
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  const block = `${marks}text\n${lines.slice(0, quotedLines).join('\n')}\n${marks}`;
  return more > 0 ? `${block}\n\n${plural(more, 'more line')} not shown.` : block;
}

/** A question about access that no tool was called for: from the lists that were given, or where to ask it. */
function accessAnswer(request: ChatRequest, text: string): string | undefined {
  const question = accessQuestion(text);
  if (!question || (offersAccess(request) && accessCalls(request, question).length > 0)) return undefined;
  const lines = linesAbout(request, question);
  if (lines) return lines.length > 0 ? quote(lines.join('\n')) : 'The lists I was given don’t say that.';
  if (isBriefed(request)) return 'I can’t read groups and roles right now, so I can’t answer that.';
  const asked = text.trim().split('\n')[0]?.replaceAll('`', '') ?? '';
  return `Questions about access need the access tools, which come with \`/access\`. Ask:\n\n- \`/access ${asked}\``;
}

/** Names the tools on offer, so that a reader sees that they arrived and how to have one called. */
function offer({ tools, toolChoice }: ChatRequest): string {
  if (tools.length === 0 || toolChoice === 'none') return '';
  const names = tools.slice(0, namedTools).map(({ name }) => `\`${name}\``);
  const more = tools.length - names.length;
  return `\n\nAvailable tools: ${names.join(', ')}${more > 0 ? ` and ${plural(more, 'more tool')}` : ''}. Name one to run it.`;
}

/**
 * Phrases in the last user message that make the guide do one exact thing, for demonstrations and tests:
 *
 * | phrase (any case)          | what the guide does                                                              |
 * |----------------------------|----------------------------------------------------------------------------------|
 * | `say: …` at a line's start | answers exactly what follows, to the end of the message (`repeat: …` is the same) |
 * | `count to 200`             | counts from 1 to the number (at most 5000): a long, slow, predictable answer      |
 * | `say nothing`              | answers with an empty content                                                    |
 * | `only think`               | reasons (at any effort, on models that reason) and then says nothing             |
 * | `keep calling`             | calls the same tools again after every result, without end (see tools.ts)        |
 */
function phraseAnswer(text: string): readonly Segment[] | undefined {
  const said = /^(?:say|repeat):[ \t]?([\s\S]+)/im.exec(text)?.[1];
  if (said) return [said];
  const limit = /\bcount to (\d{1,9})\b/i.exec(text)?.[1];
  if (limit) {
    const numbers = Array.from({ length: Math.min(Number(limit), 5000) }, (_, index) => String(index + 1));
    return [numbers.join(', ')];
  }
  return /\bsay nothing\b/i.test(text) || asksOnlyToThink(text) ? [] : undefined;
}

const asksOnlyToThink = (text: string): boolean => /\bonly think\b/i.test(text);

/** What can honestly be said of the images: their number, media types and sizes. Nothing is fetched. */
function describeImages(images: readonly ImagePart[]): string {
  const list = images.map((image, index) => `${index + 1}. ${describeImage(image)}\n`).join('');
  return `I received ${plural(images.length, 'image')}:\n\n${list}\nThe demo model reads the type and size of an image, not what it shows.`;
}

function describeImage({ url, mediaType, bytes }: ImagePart): string {
  if (!bytes) return `an image at \`${new URL(url).host}\`, which the sandbox does not fetch`;
  const size = dimensions(bytes);
  return `\`${mediaType}\`, ${plural(bytes.length, 'byte')}${size ? `, ${size.width} × ${size.height} pixels` : ''}`;
}

/** Width and height as the header of a PNG or GIF states them. */
function dimensions(bytes: Uint8Array): { width: number; height: number } | undefined {
  const data = Buffer.from(bytes);
  if (data.length >= 24 && data.toString('latin1', 1, 4) === 'PNG')
    return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  if (data.length >= 10 && data.toString('latin1', 0, 3) === 'GIF')
    return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  return undefined;
}

import { accessCalls, accessQuestion, isBriefed, linesAbout, membersAnswer, offersAccess } from './access.ts';
import { codeAnswer, longestRun, plural } from './code.ts';
import type { ServedModel } from './models.ts';
import { capitalAnswer, gradeAnswer } from './promptTests.ts';
import { type Question, questionsOf, readQuestion } from './question.ts';
import type { ChatMessage, ChatRequest, FunctionTool, ImagePart, ReasoningEffort } from './request.ts';
import type { Plan, PlannedCall, Segment } from './script.ts';
import { callableTools, planCalls } from './tools.ts';
import { topicAnswer } from './topics.ts';

const maxQuotedLines = 8;
const maxNamedTools = 5;

/** How many prompt tokens an image counts as. */
export const tokensPerImage = 85;

/**
 * Plans the answer of the guide. If there are tools to call (tools.ts), it only calls them. Otherwise, it does the
 * first of the following that applies: it quotes tool results, grades an answer (promptTests.ts), writes the title of a
 * conversation, follows one of the phrases below, describes images, names a capital (promptTests.ts), answers a
 * question about access or refers the user to `/access` (access.ts), changes or describes code (code.ts), or gives an
 * answer on the topic of the message (topics.ts).
 */
export function planAnswer(request: ChatRequest, model: ServedModel): Plan {
  const calls = planCalls(request);
  const question = readQuestion(lastOf(request, 'user')?.text);
  const effort = sentencesOfEffort[request.reasoningEffort];
  const sentences =
    model.reasoning && asksOnlyToThink(question.words) ? Math.max(effort, sentencesOfEffort.low) : effort;
  return {
    reasoning: reasoningSegments(request, calls, sentences),
    content: calls.length > 0 ? undefined : answer(request, question),
    calls,
    history: [],
  };
}

function lastOf(request: ChatRequest, role: ChatMessage['role']): ChatMessage | undefined {
  return request.messages.findLast((message) => message.role === role);
}

function answer(request: ChatRequest, question: Question): readonly Segment[] {
  const results = lastResults(request.messages);
  if (results.length > 0) return resultsAnswer(request, results, question.words);
  const instructions = lastOf(request, 'system')?.text ?? '';
  const grade = gradeAnswer(question.typed, instructions);
  if (grade !== undefined) return [grade];
  const title = titleAnswer(question.typed);
  if (title !== undefined) return [title];
  const phrase = phraseAnswer(question);
  if (phrase) return phrase;
  const images = lastOf(request, 'user')?.images ?? [];
  if (images.length > 0) return [describeImages(images)];
  const capital = capitalAnswer(question.words, instructions);
  if (capital !== undefined) return [capital];
  const access = accessAnswer(request, question.words);
  if (access !== undefined) return [access];
  const code = codeAnswer(questionsOf(request.messages));
  if (code !== undefined) return [code];
  const tools = callableTools(request, question);
  return [...topicAnswer(question.words, tools.length > 0), toolsHint(tools)];
}

const maxTitleLength = 40;

/** Answers an editor that asks for the title of a conversation with the beginning of the first message. */
function titleAnswer(text: string): string | undefined {
  const first = /\bwrite an? [^\n]*\btitle\b[^\n]*:\s*\n\s*(?:@rolecall )?(?:\/\w+ )?([^\n]+)/i.exec(text)?.[1];
  if (first === undefined) return undefined;
  const words = first
    .slice(0, maxTitleLength + 1)
    .replace(first.length > maxTitleLength ? /\s+\S*$/ : /[\s?.!:]+$/, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The tool results at the end of the history, which answer the last round of calls. */
function lastResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const start = messages.findLastIndex(({ role }) => role !== 'tool');
  return messages.slice(start + 1);
}

function resultsAnswer(request: ChatRequest, results: readonly ChatMessage[], text: string): readonly Segment[] {
  const question = accessQuestion(text);
  const members = question && membersAnswer(request.messages, question);
  if (question && members) return [list([`Members of ${question.group}:`, ...members], members.length)];
  const format = question && offersAccess(request) ? listResult : quoteResult;
  return results.flatMap((result, index) => [index === 0 ? '' : '\n\n', ...format(result)]);
}

function listResult({ answers, text }: ChatMessage): readonly Segment[] {
  // Text before an empty line applies to all items.
  const heading = /^[\s\S]*?\S(?=\s*\n\s*\n)/.exec(text)?.[0] ?? text.split('\n')[0] ?? '';
  const items = text.slice(heading.length).split('\n');
  const lines = [heading.split(/\s*\n\s*/).join(' '), ...items].filter((line) => line.trim() !== '');
  return [`Result of \`${answers?.name}\`: ${list(lines)}`];
}

/** Formats a heading and items as Markdown. Their text is escaped, and ids in parentheses are left out. */
function list([heading = '', ...items]: readonly string[], most = maxQuotedLines): string {
  const plain = (line: string): string =>
    line
      .replace(/ \([^()]*\bid [^()]*\)/g, '')
      .trim()
      .replace(/[\\`*_[\]<>&#|~!]/g, '\\$&');
  const more = items.length - most;
  const lines = items.slice(0, most).map((item) => `\n- ${plain(item)}`);
  return [plain(heading), '\n', ...lines, more > 0 ? `\n\n${plural(more, 'more line')} not shown.` : '']
    .join('')
    .trimEnd();
}

function quoteResult({ answers, text }: ChatMessage): readonly Segment[] {
  const name = `\`${answers?.name}\``;
  if (text.trim() === '') return [`${name} returned nothing.`];
  if (/^The user did not allow this call\b/.test(text)) return [`You did not allow ${name} to run.`];
  return [`Result of ${name}:\n\n${quote(text)}`];
}

/**
 * Quotes the output of a program. Standard error comes first and is not cut off, because it says why a program failed.
 */
function quote(text: string): string {
  const [, ending = '', output = '', errors = ''] =
    /^([\s\S]*?\n)(Standard output:\n[\s\S]*?)\n(Standard error:\n[\s\S]*)$/.exec(text.trimEnd()) ?? [];
  const beginning = `${ending}${errors}`;
  const lines = errors === '' ? text.trimEnd().split('\n') : `${beginning}\n${output.trimEnd()}`.split('\n');
  const shownCount = Math.max(maxQuotedLines, errors === '' ? 0 : beginning.split('\n').length);
  const more = lines.length - shownCount;
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  const block = `${fence}text\n${lines.slice(0, shownCount).join('\n')}\n${fence}`;
  return more > 0 ? `${block}\n\n${plural(more, 'more line')} not shown.` : block;
}

/** Answers a question about access without tools: from the lists in the request, or by telling where to ask it. */
function accessAnswer(request: ChatRequest, text: string): string | undefined {
  const question = accessQuestion(text);
  if (!question || (offersAccess(request) && accessCalls(request, question).length > 0)) return undefined;
  const lines = linesAbout(request, question);
  if (lines)
    return lines.length > 0 ? list(['From the lists I was given:', ...lines]) : 'The lists I was given don’t say that.';
  if (isBriefed(request)) return 'I can’t read groups and roles right now, so I can’t answer that.';
  // A command that does not exist, such as a misspelled one, is part of the question that the model receives.
  const prompt =
    text
      .trim()
      .replace(/^\/\w*\s+/, '')
      .split('\n')[0]
      ?.replaceAll('`', '') ?? '';
  return `Questions about access need the access tools, which are not offered here. In VS Code’s chat, ask:\n\n- \`@rolecall /access ${prompt}\`\n\nOn the command line, \`rolecall who-has\` and \`rolecall access\` answer them.`;
}

/** Names the available tools, so that users see that the model received them and how to have one called. */
function toolsHint(tools: readonly FunctionTool[]): string {
  if (tools.length === 0) return '';
  const names = tools.slice(0, maxNamedTools).map(({ name }) => `\`${name}\``);
  const more = tools.length - names.length;
  return `\n\nAvailable tools: ${names.join(', ')}${more > 0 ? ` and ${plural(more, 'more tool')}` : ''}. Name one to run it.`;
}

/**
 * Follows phrases in the last user message that have an exact effect, for demonstrations and tests:
 *
 * | phrase (in any case)            | effect                                                                    |
 * |---------------------------------|---------------------------------------------------------------------------|
 * | `say: …` at the start of a line | the answer is exactly the rest of the message (`repeat: …` does the same) |
 * | `repeat what is attached`       | the answer is exactly the text of the last attachment                     |
 * | `count to 200`                  | counts from 1 to the number (at most 5000): a long but predictable answer |
 * | `say nothing`                   | the content of the answer is empty                                        |
 * | `only think`                    | the answer has reasoning (on models that support it) and empty content    |
 * | `keep calling`                  | repeats the tool calls endlessly after each result (see tools.ts)         |
 */
function phraseAnswer({ typed, words: text, block }: Question): readonly Segment[] | undefined {
  const verbatim =
    /^(?:say|repeat):[ \t]?([\s\S]+)/im.exec(typed)?.[1] ??
    (/\brepeat what is attached\b/i.test(text) ? block?.code : '');
  if (verbatim) return [verbatim];
  const limit = /\bcount to (\d{1,9})\b/i.exec(text)?.[1];
  if (limit) {
    const numbers = Array.from({ length: Math.min(Number(limit), 5000) }, (_, index) => String(index + 1));
    return [numbers.join(', ')];
  }
  return /\bsay nothing\b/i.test(text) || asksOnlyToThink(text) ? [] : undefined;
}

const asksOnlyToThink = (text: string): boolean => /\bonly think\b/i.test(text);

/** Describes the number, media types and sizes of images. Images at other addresses are not fetched. */
function describeImages(images: readonly ImagePart[]): string {
  const list = images.map((image, index) => `${index + 1}. ${describeImage(image)}\n`).join('');
  return `I received ${plural(images.length, 'image')}:\n\n${list}\nThe demo model reads the type and size of an image, not what it shows.`;
}

function describeImage({ url, mediaType, bytes }: ImagePart): string {
  if (!bytes) return `an image at \`${new URL(url).host}\`, which the sandbox does not fetch`;
  const size = dimensions(bytes);
  return `\`${mediaType}\`, ${plural(bytes.length, 'byte')}${size ? `, ${size.width} × ${size.height} pixels` : ''}`;
}

/** Width and height from the header of a PNG or GIF. */
function dimensions(bytes: Uint8Array): { width: number; height: number } | undefined {
  const data = Buffer.from(bytes);
  if (data.length >= 24 && data.toString('latin1', 1, 4) === 'PNG')
    return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  if (data.length >= 10 && data.toString('latin1', 0, 3) === 'GIF')
    return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  return undefined;
}

/** How many sentences of reasoning each effort results in. The default effort is `none`. */
const sentencesOfEffort: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 4,
  high: 7,
  xhigh: 10,
  max: 13,
};

/**
 * The reasoning of the guide: true statements about the request, the most important first.
 *
 * @param calls the planned tool calls.
 */
function reasoningSegments(
  request: ChatRequest,
  calls: readonly PlannedCall[],
  sentences: number,
): readonly Segment[] | undefined {
  if (sentences === 0) return undefined;
  return statements(request, calls)
    .slice(0, sentences)
    .flatMap((statement, index) => (index === 0 ? statement : [' ', ...statement]));
}

function statements(request: ChatRequest, calls: readonly PlannedCall[]): readonly (readonly Segment[])[] {
  const { messages, tools, stops } = request;
  const last = messages.at(-1);
  const user = readQuestion(lastOf(request, 'user')?.text).typed;
  const words = user.split(/\s+/).filter(Boolean).length;
  const results = messages.filter(({ role }) => role === 'tool').length;
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer').length;
  const limit =
    request.maxTokens === undefined ? 'no limit of its own' : `a limit of ${plural(request.maxTokens, 'token')}`;
  return [
    [
      ['The last message', 'The newest message'],
      ` is from the role ${last?.role} and the user wrote ${plural(words, 'word')}.`,
    ],
    [decision(calls, tools.length)],
    [`The history has ${plural(messages.length, 'message')}, ${instructions} of them instructions.`],
    [
      results > 0
        ? `It contains ${plural(results, 'tool result')}, which I should quote.`
        : 'It contains no tool results yet.',
    ],
    [user.includes('?') ? 'The message asks a question.' : 'The message asks no explicit question.'],
    [user.includes('```') ? 'It has a code block, which I can describe or edit.' : 'It has no code block.'],
    [`The request sets ${limit} and names ${plural(stops.length, 'stop string')}.`],
    [
      `It asks for ${plural(request.n, 'choice')}${request.seed === undefined ? ' and sets no seed' : ` from the seed ${request.seed}`}.`,
    ],
    [
      request.temperature === undefined
        ? 'The request sets no temperature.'
        : `The temperature is ${request.temperature}.`,
    ],
    [
      request.logprobs
        ? 'The request asks for the probability of each token.'
        : 'The request does not ask for token probabilities.',
    ],
    [request.stream ? 'The answer is streamed, one token at a time.' : 'The answer is sent all at once.'],
    [/[^\p{ASCII}]/u.test(user) ? 'The message contains characters beyond ASCII.' : 'The message is plain ASCII.'],
    [['That is enough', 'That will do'], ', so now I write the answer.'],
  ];
}

function decision(calls: readonly PlannedCall[], offered: number): string {
  if (calls.length > 0) {
    const names = calls.map(({ name }) => `\`${name}\``).join(', ');
    return `The user asks for ${names}, so I call ${calls.length === 1 ? 'it' : 'them'}.`;
  }
  if (offered === 0) return 'No tool is offered, so I answer in words.';
  return `None of the ${plural(offered, 'tool')} offered is needed now, so I answer in words.`;
}

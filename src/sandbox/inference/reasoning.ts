import { plural } from './code.ts';
import type { ChatRequest, ReasoningEffort } from './request.ts';
import type { PlannedCall, Segment } from './script.ts';

/** How many sentences each effort is worth. A request without an effort gets no reasoning. */
export const sentencesOfEffort: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1,
  low: 2,
  medium: 4,
  high: 7,
  xhigh: 10,
  max: 13,
};

/**
 * The guide's reasoning: true statements about the request, the weightiest first, as many as the effort is worth.
 * `calls` is what the guide decided to call.
 */
export function reasoningSegments(
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
  const user = messages.findLast(({ role }) => role === 'user')?.text ?? '';
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
        ? `It holds ${plural(results, 'tool result')}, which I should quote.`
        : 'It holds no tool result yet.',
    ],
    [user.includes('?') ? 'The message asks a question.' : 'The message asks no question in so many words.'],
    [user.includes('```') ? 'It has a code block, which I can describe or edit a little.' : 'It has no code block.'],
    [`The request sets ${limit} and names ${plural(stops.length, 'stop string')}.`],
    [
      `It wants ${plural(request.n, 'choice')}${request.seed === undefined ? ' and sets no seed' : ` from the seed ${request.seed}`}.`,
    ],
    [
      request.temperature === undefined
        ? 'The temperature is left to me.'
        : `The temperature is ${request.temperature}.`,
    ],
    [
      request.logprobs
        ? 'Each token has to be reported with its probability.'
        : 'Nobody asks for the probabilities of the tokens.',
    ],
    [request.stream ? 'The answer goes out as a stream, a token at a time.' : 'The answer goes out in one piece.'],
    [/[^\p{ASCII}]/u.test(user) ? 'The message holds characters beyond ASCII.' : 'The message is plain ASCII.'],
    [['That is enough', 'That will do'], ', and now I write the answer.'],
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

import { accessCalls, accessQuestion, offersAccess } from './access.ts';
import { fillArguments } from './arguments.ts';
import { type Question, readQuestion } from './question.ts';
import type { ChatRequest, FunctionTool } from './request.ts';
import type { PlannedCall } from './script.ts';

/**
 * When the guide calls tools. It looks only at what the user typed last (question.ts) and at what was called since, never
 * at chance:
 *
 * 1. No tools, `tool_choice: none`, or a message that says "without tools", "no tools", "don't use …": no call.
 * 2. A question about access that names no tool calls the access tools (access.ts).
 * 3. The message is cut into steps at the word "then". The first round takes the first step, the round after its
 *    results the second, and so on; when the steps are used up the guide answers in words.
 * 4. A step calls every tool it names, at once: by the name itself, by the name's words in a row ("word count"), or by
 *    all words of a name of several words in any order ("count the words" for `word_count`), singular or plural.
 * 5. A first step that names none calls the one tool whose description fits best: at least two words of the step, and
 *    half of its words that carry meaning, must occur there.
 * 6. A call that was already made since the last user message, with equal arguments, is not made again.
 * 7. The phrase "keep calling" replaces 3 and 6: each round repeats the calls of the round before, without end.
 * 8. Of the tools of an editor's agent, some of which write and run, only Rolecall's are called, and never by 5.
 *
 * How arguments are found: see arguments.ts.
 */
export function planCalls(request: ChatRequest): readonly PlannedCall[] {
  const start = request.messages.findLastIndex(({ role }) => role === 'user');
  const asked = readQuestion(request.messages[start]?.text);
  const tools = callableTools(request, asked);
  if (tools.length === 0) return [];
  const text = asked.words;
  if (/\b(?:without|no)\s+(?:any\s+|using\s+)?tools?\b|\b(?:do not|don't|never)\s+(?:use|call|run)\b/i.test(text))
    return [];
  const rounds = request.messages.slice(start + 1).filter(({ toolCalls }) => toolCalls.length > 0);
  const lastRound = rounds.at(-1);
  if (lastRound && asksToKeepCalling(text))
    return lastRound.toolCalls
      .filter(({ name }) => tools.some((tool) => tool.name === name))
      .map(({ name, arguments: values }) => ({ name, arguments: values }));

  const made = new Set(rounds.flatMap(({ toolCalls }) => toolCalls.map(callKey)));
  const isNew = (call: PlannedCall): boolean => !made.has(callKey(call));
  const words = text.split(/[^\w-]+/);
  const question = tools.some(({ name }) => words.includes(name)) ? undefined : accessQuestion(text);
  if (question && offersAccess(request)) return accessCalls(request, question).filter(isNew);

  const step = text.split(/\bthen\b/i)[rounds.length];
  if (step === undefined) return [];
  return chooseTools(step, tools, rounds.length === 0 && tools.length === request.tools.length)
    .map((tool) => ({ name: tool.name, arguments: fillArguments(tool, step) }))
    .filter(isNew);
}

/** The tools that the guide may call. */
export function callableTools({ tools, toolChoice }: ChatRequest, { isOfAgent }: Question): readonly FunctionTool[] {
  if (toolChoice === 'none') return [];
  const ours = tools.filter(({ name }) => /(?:^|_)rolecall_/.test(name));
  return isOfAgent || ours.length > 0 ? ours : tools;
}

const callKey = (call: PlannedCall): string => `${call.name} ${JSON.stringify(call.arguments)}`;

function chooseTools(step: string, tools: readonly FunctionTool[], mayGuess: boolean): readonly FunctionTool[] {
  const named = tools.filter((tool) => names(step, tool.name));
  if (named.length > 0 || !mayGuess) return named;
  const guess = bestDescribed(step, tools);
  if (guess) return [guess];
  const [first] = tools;
  return first && asksToKeepCalling(step) ? [first] : [];
}

/** The words of a tool's name: cut at `_`, `-` and where a capital follows a small letter. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

function names(step: string, name: string): boolean {
  const words = wordsOfName(name).map((word) => `${singular(word)}(?:e?s)?`);
  const whole = (pattern: string): boolean =>
    new RegExp(`(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`, 'iu').test(step);
  if (words.length === 0) return step.includes(name);
  return whole(words.join('[\\s_-]*')) || (words.length > 1 && words.every(whole));
}

function bestDescribed(step: string, tools: readonly FunctionTool[]): FunctionTool | undefined {
  const meaning = meaningfulWords(step);
  let best: { tool: FunctionTool; score: number } | undefined;
  for (const tool of tools) {
    const known = meaningfulWords(`${wordsOfName(tool.name).join(' ')} ${tool.description}`);
    const score = [...meaning].filter((word) => known.has(word)).length;
    if (score >= 2 && score * 2 >= meaning.size && score > (best?.score ?? 0)) best = { tool, score };
  }
  return best?.tool;
}

const emptyWords = new Set(
  'about also and are can could does for from give have here how into just like make many me much need please show some tell that the their them there these this those use want was were what when where which who why will with would you your'.split(
    ' ',
  ),
);

function meaningfulWords(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(words.filter((word) => !emptyWords.has(word)).map(singular));
}

const singular = (word: string): string => (word.length > 3 ? word.replace(/(?<![su])s$/, '') : word);

const asksToKeepCalling = (text: string): boolean => /\bkeep calling\b/i.test(text);

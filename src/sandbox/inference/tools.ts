import { accessCalls, accessQuestion, offersAccess } from './access.ts';
import { fillArguments } from './arguments.ts';
import { type Question, readQuestion } from './question.ts';
import type { ChatRequest, FunctionTool } from './request.ts';
import type { PlannedCall } from './script.ts';

/**
 * Decides which tools the guide calls. This only depends on the last message that the user typed (question.ts) and on
 * the calls made since, never on chance:
 *
 * 1. If there are no tools, `tool_choice` is `none` or the message says "without tools", "no tools", "don't use …" or
 *    the like, no tool is called.
 * 2. A question about access that names no tool calls the access tools (access.ts).
 * 3. The word "then" separates the message into steps. The first round of calls is for the first step, the round after
 *    its results for the second step, and so on. After the last step, the guide answers in words.
 * 4. A step calls all tools that it names, at once. It can name a tool by the exact name, by the words of the name in a
 *    row ("word count") or, if there are several, in any order ("count the words" for `word_count`), singular or
 *    plural.
 * 5. If the first step names no tool, it calls the tool whose name and description have the most words in common with
 *    it: at least two, and at least half of the meaningful words of the step.
 * 6. A call is not repeated with the same arguments for the same user message.
 * 7. The phrase "keep calling" replaces rules 3 and 6: each round endlessly repeats the calls of the previous round.
 * 8. An editor's agent offers tools that write files and run programs. Of its tools, only Rolecall's are called, and
 *    rule 5 does not apply.
 *
 * See arguments.ts for how arguments are found.
 */
export function planCalls(request: ChatRequest): readonly PlannedCall[] {
  const start = request.messages.findLastIndex(({ role }) => role === 'user');
  const userQuestion = readQuestion(request.messages[start]?.text);
  const tools = callableTools(request, userQuestion);
  if (tools.length === 0) return [];
  const text = userQuestion.words;
  if (/\b(?:without|no)\s+(?:any\s+|using\s+)?tools?\b|\b(?:do not|don't|never)\s+(?:use|call|run)\b/i.test(text))
    return [];
  const rounds = request.messages.slice(start + 1).filter(({ toolCalls }) => toolCalls.length > 0);
  const lastRound = rounds.at(-1);
  if (lastRound && asksToKeepCalling(text))
    return lastRound.toolCalls
      .filter(({ name }) => tools.some((tool) => tool.name === name))
      .map(({ name, arguments: values }) => ({ name, arguments: values }));

  const previousCalls = new Set(rounds.flatMap(({ toolCalls }) => toolCalls.map(callKey)));
  const isNew = (call: PlannedCall): boolean => !previousCalls.has(callKey(call));
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
  const rolecallTools = tools.filter(({ name }) => /(?:^|_)rolecall_/.test(name));
  return isOfAgent || rolecallTools.length > 0 ? rolecallTools : tools;
}

const callKey = (call: PlannedCall): string => `${call.name} ${JSON.stringify(call.arguments)}`;

function chooseTools(step: string, tools: readonly FunctionTool[], mayGuess: boolean): readonly FunctionTool[] {
  const namedTools = tools.filter((tool) => names(step, tool.name));
  if (namedTools.length > 0 || !mayGuess) return namedTools;
  const guess = bestDescribed(step, tools);
  if (guess) return [guess];
  const [first] = tools;
  return first && asksToKeepCalling(step) ? [first] : [];
}

/** The words of a tool name, separated by `_`, `-` or a change from lower to upper case. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

function names(step: string, name: string): boolean {
  const words = wordsOfName(name).map((word) => `${singular(word)}(?:e?s)?`);
  const hasWhole = (pattern: string): boolean =>
    new RegExp(`(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`, 'iu').test(step);
  if (words.length === 0) return step.includes(name);
  return hasWhole(words.join('[\\s_-]*')) || (words.length > 1 && words.every(hasWhole));
}

function bestDescribed(step: string, tools: readonly FunctionTool[]): FunctionTool | undefined {
  const stepWords = meaningfulWords(step);
  let best: { tool: FunctionTool; score: number } | undefined;
  for (const tool of tools) {
    const toolWords = meaningfulWords(`${wordsOfName(tool.name).join(' ')} ${tool.description}`);
    const score = [...stepWords].filter((word) => toolWords.has(word)).length;
    if (score >= 2 && score * 2 >= stepWords.size && score > (best?.score ?? 0)) best = { tool, score };
  }
  return best?.tool;
}

const stopWords = new Set(
  'about also and are can could does for from give have here how into just like make many me much need please show some tell that the their them there these this those use want was were what when where which who why will with would you your'.split(
    ' ',
  ),
);

function meaningfulWords(text: string): Set<string> {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(words.filter((word) => !stopWords.has(word)).map(singular));
}

const singular = (word: string): string => (word.length > 3 ? word.replace(/(?<![su])s$/, '') : word);

const asksToKeepCalling = (text: string): boolean => /\bkeep calling\b/i.test(text);

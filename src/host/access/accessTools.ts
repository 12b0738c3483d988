import * as vscode from 'vscode';
import {
  type AccessToolCall,
  type AccessToolName,
  answerQuestion,
  readAccessTools,
  readQuestion,
} from '../../core/access/accessTools.ts';
import type { MeasureText } from '../../core/access/answers.ts';
import { raceWithSignal } from '../../core/base/abort.ts';
import { cancelled } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { AccessData } from '../accessData.ts';
import type { ToolRegistry, ToolRegistryOptions } from '../conversation.ts';

/**
 * See `readQuestion` of core; the organizations are those of the tree.
 *
 * @throws RolecallError `signedOut`, `invalidRequest` with a sentence that the model can act on.
 */
export async function readToolQuestion(
  data: AccessData,
  tool: AccessToolName,
  raw: unknown,
  asker: 'ourselves' | 'others',
): Promise<AccessToolCall> {
  const organizations = await data.organizations(data.requireSession());
  const candidates = organizations.map(({ id, name }) => ({ id, names: [name, data.labelOf(id)] }));
  return readQuestion(tool, raw, candidates, asker);
}

/**
 * Answers from the lists of the organization, reading them first where needed.
 *
 * @returns text within `budget` in the unit of `measure`.
 * @throws RolecallError of any kind; `cancelled` also when the account changed meanwhile.
 */
export async function answerToolQuestion(
  data: AccessData,
  question: AccessToolCall,
  budget: number,
  measure: MeasureText,
  signal: AbortSignal,
): Promise<string> {
  const session = data.requireSession();
  const { model, access } = await raceWithSignal(data.read(session, question.organization), signal);
  if (data.session !== session) throw cancelled();
  const { groups, roles } = access;
  if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
  return answerQuestion(model, question, budget, measure);
}

/** The most characters of one answer: a few thousand tokens, so that several fit beside a conversation. */
const MAX_CHARACTERS = 12_000;

/**
 * The access tools for `@rolecall` and the editor commands, under their names without the prefix. The cloud's own models
 * call them with the sign-in that can read the answers, so no consent is needed; other models use
 * {@link registerLanguageModelTools}. None while signed out.
 *
 * @param wanted their names; the others are not offered.
 */
export async function accessToolRegistry(
  data: AccessData,
  contributed: unknown,
  log: Log,
  wanted: ReadonlySet<string>,
): Promise<ToolRegistry> {
  if (!data.session)
    return { tools: [], invoke: async () => ({ content: 'The user is not signed in.', isError: true }) };
  const { compileParameters } = await import('../../core/tools/validate.ts');
  const offered = readAccessTools(contributed).filter(({ name }) => wanted.has(name));
  const tools = offered.flatMap(({ name, ...tool }) => {
    const parameters = { ...tool.inputSchema, required: tool.inputSchema.required ?? [] };
    const compiled = compileParameters(parameters);
    if (compiled.kind === 'invalid') return []; // A test holds the manifest to this.
    const definition = {
      type: 'function' as const,
      function: { name, description: tool.modelDescription, parameters },
    };
    return [{ name, definition, userDescription: tool.userDescription, check: compiled.check }];
  });
  return {
    tools,
    reach: async () => vscode.l10n.t('Reads who has access to what in your organizations.'),
    invoke: async (call, signal) => {
      const tool = offered.find(({ name }) => name === call.name)?.name;
      if (!tool) return { content: `There is no tool named ${call.name}.`, isError: true };
      const question = await readToolQuestion(data, tool, call.arguments, 'ourselves');
      log.info(`@rolecall asks ${tool} of ${question.organization}.`);
      const measure = (text: string) => text.length;
      return { content: await answerToolQuestion(data, question, MAX_CHARACTERS, measure, signal), isError: false };
    },
  };
}

/**
 * Both registries as one, which records the tools of the first that have answered; of two tools with one name the first
 * is used.
 */
export function mergeToolRegistries(
  first: ToolRegistry,
  second: ToolRegistry,
  { answered }: ToolRegistryOptions = {},
): ToolRegistry {
  const names = new Set(first.tools.map(({ name }) => name));
  return {
    tools: [...first.tools, ...second.tools.filter(({ name }) => !names.has(name))],
    problems: [...(first.problems ?? []), ...(second.problems ?? [])],
    remarks: [...(first.remarks ?? []), ...(second.remarks ?? [])],
    reach: async (name) => (names.has(name) ? first : second).reach?.(name),
    invoke: async (call, signal) => {
      if (!names.has(call.name)) return second.invoke(call, signal);
      const result = await first.invoke(call, signal);
      answered?.add(call.name);
      return result;
    },
  };
}

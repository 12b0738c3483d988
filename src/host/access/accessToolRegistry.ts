import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { Log } from '../../core/base/log.ts';
import { languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { nameForOurselves } from '../accessToolNames.ts';
import type { ToolRegistry, ToolRegistryOptions } from '../conversation.ts';
import { type AccessToolName, answerQuestion, readQuestion } from './accessTools.ts';

/** Characters of one answer: a few thousand tokens, so that several fit beside a conversation. */
const MAX_CHARACTERS = 12_000;
/** A tool as the manifest describes it (`contributes.languageModelTools`), the only place that does. */
const contributedSchema = z.object({
  name: z.enum(Object.values(languageModelTools)),
  userDescription: z.string(),
  modelDescription: z.string(),
  inputSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.looseObject({})),
    required: z.optional(z.array(z.string())),
  }),
});

/** The manifest's access tools; the tool that runs tools of the workspace belongs to `host/tools`. */
function ownTools(contributed: unknown) {
  const own = z.array(z.looseObject({ name: z.string() }));
  const names: readonly string[] = Object.values(languageModelTools);
  return z
    .parse(own, contributed)
    .filter(({ name }) => names.includes(name))
    .map((tool) => z.parse(contributedSchema, tool));
}

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
  if (!data.session) return { tools: [], invoke: async () => ({ content: 'Nobody is signed in.', isError: true }) };
  const { compileParameters } = await import('../../core/tools/validate.ts');
  const names = new Map<string, AccessToolName>();
  const tools = ownTools(contributed).flatMap((tool) => {
    const name = nameForOurselves(tool.name);
    if (!wanted.has(name)) return [];
    names.set(name, tool.name);
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
      const tool = names.get(call.name);
      if (!tool) return { content: `There is no tool named ${call.name}.`, isError: true };
      const question = await readQuestion(data, tool, call.arguments, 'ourselves');
      log.info(`@rolecall asks ${tool} of ${question.organization}.`);
      const measure = (text: string) => text.length;
      return { content: await answerQuestion(data, question, MAX_CHARACTERS, measure, signal), isError: false };
    },
  };
}

/** Both registries as one, which notes the tools of the first that have answered; of two tools with one name the first wins. */
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

import * as z from 'zod/mini';
import { RolecallError } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import {
  type AccessAnswer,
  effectiveAccessAnswer,
  gapLines,
  groupsAnswer,
  holdersAnswer,
  type MeasureText,
  rolesAnswer,
  truncateAnswer,
} from './answers.ts';
import { englishPrincipalText, englishRoleText } from './english.ts';
import { applyFilter, parseFilter } from './filter.ts';
import type { AccessModel } from './model.ts';
import { findPrincipals, findRoles } from './queries.ts';

/* The questions that models ask about access, in the editor's chat, through MCP or in a terminal. */

export const accessToolNames = ['list_groups', 'list_roles', 'who_has_role', 'effective_access'] as const;
export type AccessToolName = (typeof accessToolNames)[number];

/** The beginning of a tool's name, where it is offered beside the tools of others. */
const PREFIX = 'rolecall_';

const text = z.string();
const optional = z.optional(text);
const inputSchema = z.object({ organization: optional, filter: optional, role: optional, who: optional });
/** A model's arguments; the manifest's schemas say which are required. */
export type AccessToolInput = z.output<typeof inputSchema>;

/** The most matches that are answered at once: a name that matches half the organization answers nothing. */
const MAX_MATCHES = 5;

/** The answer to a model when the user does not allow the question. */
export const REFUSAL = 'The user did not allow this. Nothing was read. Do not ask again.';

/** A tool as the manifest describes it (`contributes.languageModelTools`), the only place that does. */
const describedSchema = z.object({
  name: z.string(),
  displayName: text,
  userDescription: text,
  modelDescription: text,
  inputSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.looseObject({})),
    required: z.optional(z.array(z.string())),
  }),
});

export interface DescribedAccessTool extends Omit<z.output<typeof describedSchema>, 'name'> {
  readonly name: AccessToolName;
}

/** The access tools among those of the manifest, by their names without the prefix. */
export function readAccessTools(contributed: unknown): readonly DescribedAccessTool[] {
  const named = z.parse(z.array(z.looseObject({ name: z.string() })), contributed);
  return accessToolNames.flatMap((name) => {
    const found = named.find((tool) => tool.name === PREFIX + name);
    return found ? [{ ...z.parse(describedSchema, found), name }] : [];
  });
}

/** An organization that a model may ask about, by its ID and what the user calls it. */
export interface KnownOrganization {
  readonly id: string;
  readonly names: readonly string[];
}

export interface AccessToolCall {
  readonly tool: AccessToolName;
  readonly organization: string;
  readonly input: AccessToolInput;
}

/**
 * Reads a model's question, before anything of the organization is read.
 *
 * @param asker decides what error messages can reveal: to another agent not even which organizations exist.
 * @throws RolecallError `invalidRequest` with a sentence that the model can act on.
 */
export function readQuestion(
  tool: AccessToolName,
  raw: unknown,
  organizations: readonly KnownOrganization[],
  asker: 'ourselves' | 'others',
): AccessToolCall {
  const parsed = z.safeParse(inputSchema, raw ?? {});
  if (!parsed.success) throw new RolecallError('invalidRequest', 'The arguments must be strings.');
  const organization = chooseOrganization(organizations, parsed.data.organization?.trim(), asker);
  return { tool, organization, input: parsed.data };
}

/** The size of an answer, in tokens, for another agent that sets no budget. */
export const DEFAULT_TOKEN_BUDGET = 4000;

/** A rough number of tokens, where the real one is not known. */
export function estimateTokens(text: string): number {
  return text.length / 3;
}

/** @returns text within `budget` in the unit of `measure`. */
export async function answerQuestion(
  model: AccessModel,
  { tool, input }: Pick<AccessToolCall, 'tool' | 'input'>,
  budget: number,
  measure: MeasureText,
): Promise<string> {
  return truncateAnswer(fullAnswer(model, tool, input), budget, measure);
}

/** The whole answer, however long; if there are more matches than `maxMatches`, only their names. */
export function fullAnswer(
  model: AccessModel,
  tool: AccessToolName,
  input: AccessToolInput,
  maxMatches = MAX_MATCHES,
): AccessAnswer {
  switch (tool) {
    case 'list_groups':
      return groupsAnswer(model, applyFilter(model, parseFilter(input.filter ?? '')).groups);
    case 'list_roles':
      return rolesAnswer(model, applyFilter(model, parseFilter(input.filter ?? '')).roles);
    case 'who_has_role': {
      const roles = findRoles(model, input.role ?? '');
      return oneOrSeveral(
        model,
        maxMatches,
        roles.map((role) => holdersAnswer(model, role)),
        roles.map((role) => englishRoleText(role, model.rolesKnown)),
        `No role of ${oneLine(model.organization)} matches "${oneLine(input.role ?? '')}".`,
      );
    }
    case 'effective_access': {
      const principals = findPrincipals(model, input.who ?? '');
      return oneOrSeveral(
        model,
        maxMatches,
        principals.map((principal) => effectiveAccessAnswer(model, principal)),
        principals.map(englishPrincipalText),
        `Nobody in the groups of ${oneLine(model.organization)} matches "${oneLine(input.who ?? '')}".`,
      );
    }
  }
}

/** An organization that the user has chosen to show, and no other: a model cannot make Rolecall read anything else. */
function chooseOrganization(
  organizations: readonly KnownOrganization[],
  wanted: string | undefined,
  asker: 'ourselves' | 'others',
): string {
  const [only] = organizations;
  if (!only) throw new RolecallError('invalidRequest', 'The user has added no organization to Rolecall yet.');
  if (!wanted && organizations.length === 1) return only.id;
  const isMeant = (name: string) => name.toLowerCase() === wanted?.toLowerCase();
  const organization =
    organizations.find(({ id }) => id === wanted) ??
    organizations.find(({ id, names }) => isMeant(id) || names.some(isMeant));
  if (organization) return organization.id;
  if (asker === 'others') {
    throw new RolecallError('invalidRequest', 'Ask the user which organization is meant, and call again with its id.');
  }
  const ids = organizations.map(({ id }) => oneLine(id)).join(', ');
  throw new RolecallError('invalidRequest', `Which organization? The organizations are: ${ids}.`);
}

function oneOrSeveral(
  model: AccessModel,
  maxMatches: number,
  answers: readonly AccessAnswer[],
  names: readonly string[],
  none: string,
): AccessAnswer {
  const [only, ...others] = answers;
  // Someone who is missing in this part of the lists may be in the rest.
  if (!only) return { heading: [none, ...gapLines(model)], lines: [] };
  if (others.length === 0) return only;
  if (answers.length > maxMatches) {
    return { heading: [`${answers.length} match. Ask for one of them by its ID:`, ...gapLines(model)], lines: names };
  }
  return {
    heading: [`${answers.length} match.`],
    lines: answers.flatMap(({ heading, lines }) => [...heading, ...lines, '']),
  };
}

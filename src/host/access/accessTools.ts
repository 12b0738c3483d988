import * as z from 'zod/mini';
import {
  type AccessAnswer,
  effectiveAccessAnswer,
  groupsAnswer,
  holdersAnswer,
  rolesAnswer,
} from '../../core/access/answers.ts';
import { principalText, roleText } from '../../core/access/english.ts';
import { applyFilter } from '../../core/access/filter.ts';
import { parseFilter } from '../../core/access/filterSyntax.ts';
import type { AccessModel } from '../../core/access/model.ts';
import { oneLine } from '../../core/access/plain.ts';
import { findPrincipals, findRoles } from '../../core/access/queries.ts';
import { type MeasureText, truncateAnswer } from '../../core/access/truncateAnswer.ts';
import { raceWithSignal } from '../../core/base/abort.ts';
import { cancelled, RolecallError } from '../../core/base/errors.ts';
import { languageModelTools } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';

const text = z.string();
const optional = z.optional(text);
const inputSchema = z.object({ organization: optional, filter: optional, role: optional, who: optional });
/** A model's arguments; the manifest's schemas say which are required. */
export type AccessToolInput = z.output<typeof inputSchema>;
export type AccessToolName = (typeof languageModelTools)[keyof typeof languageModelTools];

/** Matches that are answered at once: a name that fits half the organization answers nothing. */
const MAX_MATCHES = 5;

export interface Question {
  readonly tool: AccessToolName;
  readonly organization: string;
  readonly input: AccessToolInput;
}

/**
 * Reads a model's question, before anything of the organization is read.
 *
 * @param asker decides what error messages can reveal: to another agent not even which organizations exist.
 * @throws RolecallError `signedOut`, `invalidRequest` with a sentence that the model can act on.
 */
export async function readQuestion(
  data: AccessData,
  tool: AccessToolName,
  raw: unknown,
  asker: 'ourselves' | 'others',
): Promise<Question> {
  const parsed = z.safeParse(inputSchema, raw ?? {});
  if (!parsed.success) throw new RolecallError('invalidRequest', 'The arguments must be strings.');
  const organization = await chooseOrganization(data, parsed.data.organization?.trim(), asker);
  return { tool, organization, input: parsed.data };
}

/**
 * Answers from the lists of the organization, reading them first where needed.
 *
 * @returns text within `budget` in the unit of `measure`.
 * @throws RolecallError of any kind; `cancelled` also when the account changed meanwhile.
 */
export async function answerQuestion(
  data: AccessData,
  { tool, organization, input }: Question,
  budget: number,
  measure: MeasureText,
  signal: AbortSignal,
): Promise<string> {
  const session = data.requireSession();
  const { model, access } = await raceWithSignal(data.read(session, organization), signal);
  if (data.session !== session) throw cancelled();
  const { groups, roles } = access;
  if (groups.kind === 'failed' && roles.kind === 'failed') throw groups.error;
  return truncateAnswer(answerOf(tool, model, input), budget, measure);
}

/** An organization that is shown in the tree, and no other: a model cannot make Rolecall read anything else. */
async function chooseOrganization(
  data: AccessData,
  wanted: string | undefined,
  asker: 'ourselves' | 'others',
): Promise<string> {
  const organizations = await data.organizations(data.requireSession());
  const [only] = organizations;
  if (!only) throw new RolecallError('invalidRequest', 'The user has added no organization to Rolecall yet.');
  if (!wanted && organizations.length === 1) return only.id;
  const isMeant = (name: string) => name.toLowerCase() === wanted?.toLowerCase();
  const found =
    organizations.find(({ id }) => id === wanted) ??
    organizations.find(({ id, name }) => isMeant(id) || isMeant(name) || isMeant(data.labelOf(id)));
  if (found) return found.id;
  if (asker === 'others') {
    throw new RolecallError('invalidRequest', 'Ask the user which organization is meant, and call again with its id.');
  }
  const known = organizations.map(({ id }) => oneLine(id)).join(', ');
  throw new RolecallError('invalidRequest', `Which organization? The organizations are: ${known}.`);
}

function answerOf(tool: AccessToolName, model: AccessModel, input: AccessToolInput): AccessAnswer {
  switch (tool) {
    case languageModelTools.listGroups:
      return groupsAnswer(model, applyFilter(model, parseFilter(input.filter ?? '')).groups);
    case languageModelTools.listRoles:
      return rolesAnswer(model, applyFilter(model, parseFilter(input.filter ?? '')).roles);
    case languageModelTools.whoHasRole: {
      const found = findRoles(model, input.role ?? '');
      return oneOrSeveral(
        found.map((role) => holdersAnswer(model, role)),
        found.map((role) => roleText(role, model.rolesKnown)),
        `No role of ${oneLine(model.organization)} is named “${oneLine(input.role ?? '')}”.`,
      );
    }
    case languageModelTools.effectiveAccess: {
      const found = findPrincipals(model, input.who ?? '');
      return oneOrSeveral(
        found.map((principal) => effectiveAccessAnswer(model, principal)),
        found.map(principalText),
        `Nobody in the groups of ${oneLine(model.organization)} is named “${oneLine(input.who ?? '')}”.`,
      );
    }
  }
}

function oneOrSeveral(answers: readonly AccessAnswer[], names: readonly string[], none: string): AccessAnswer {
  const [only, ...others] = answers;
  if (!only) return { heading: [none], lines: [] };
  if (others.length === 0) return only;
  if (answers.length > MAX_MATCHES) {
    return { heading: [`${answers.length} match. Ask for one of them by its ID:`], lines: names };
  }
  return {
    heading: [`${answers.length} match.`],
    lines: answers.flatMap(({ heading, lines }) => [...heading, ...lines, '']),
  };
}

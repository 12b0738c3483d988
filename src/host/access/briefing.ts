import * as vscode from 'vscode';
import { groupsAnswer, rolesAnswer, truncateAnswer } from '../../core/access/answers.ts';
import { raceWithSignal } from '../../core/base/abort.ts';
import { asRolecallError } from '../../core/base/errors.ts';
import { oneLine } from '../../core/base/text.ts';
import { languageModelTools } from '../../ids.ts';
import type { AccessData, ActiveSession } from '../accessData.ts';
import type { Briefing } from '../conversation.ts';
import { ownToolName } from '../ownAccessTools.ts';

/** The most organizations whose lists are sent to a model that calls no tools; more would fill any context. */
const MAX_ORGANIZATIONS = 5;
/** The most characters of one list. */
const MAX_CHARACTERS = 6_000;

/**
 * `/access`: names the organizations and the access tools that answer the rest; for a model that calls no tools, the
 * lists themselves. What could not be read is named, so that it does not look empty.
 *
 * @throws RolecallError `cancelled` at an abort; nothing else.
 */
export async function accessBriefing(data: AccessData, callsTools: boolean, signal: AbortSignal): Promise<Briefing> {
  const { session } = data;
  if (!session) {
    return {
      instructions: `${INTRODUCTION} The user is not signed in to the identity service, so nothing can be read from it: say so.`,
      notice: vscode.l10n.t('You are not signed in to the identity service, so its groups and roles cannot be read.'),
    };
  }
  try {
    const organizations = await raceWithSignal(data.organizations(session), signal);
    if (organizations.length === 0) {
      return {
        instructions: `${INTRODUCTION} The user has added no organization to Rolecall yet: say so.`,
        notice: vscode.l10n.t('Add an organization first (Rolecall: Add Organization…).'),
      };
    }
    const names = organizations.map(({ id, name }) => oneLine(name === id ? id : `${id} (${name})`)).join(', ');
    const introduction = `${INTRODUCTION} The user’s organizations: ${names}.`;
    if (callsTools) return { instructions: `${introduction} ${HOW}` };
    const shown = organizations.slice(0, MAX_ORGANIZATIONS).map(({ id }) => id);
    const lists = await Promise.all(shown.map((id) => listsOf(data, session, id, signal)));
    const omitted = organizations.slice(MAX_ORGANIZATIONS).map(({ id }) => oneLine(id));
    return {
      instructions: [
        introduction,
        ...lists.flat(),
        ...(omitted.length > 0 ? [`Not read: ${omitted.join(', ')}.`] : []),
      ].join('\n\n'),
    };
  } catch (error) {
    signal.throwIfAborted();
    const { message } = asRolecallError(error);
    return { instructions: `${INTRODUCTION} It could not be asked: ${message} Say so.`, notice: message };
  }
}

const INTRODUCTION =
  'The user asks who can do what in a multi-tenant cloud. Groups bind people and service accounts to roles. Answer only from what the identity service says, and say what could not be read.';
const HOW = `Find it out with the tools ${Object.values(languageModelTools).map(ownToolName).join(', ')}; do not guess.`;

async function listsOf(data: AccessData, session: ActiveSession, id: string, signal: AbortSignal): Promise<string[]> {
  const { model, access } = await raceWithSignal(data.read(session, id), signal);
  const measure = (text: string) => text.length;
  const { groups, roles } = access;
  return Promise.all([
    groups.kind === 'failed'
      ? notRead('groups', id, groups.error)
      : truncateAnswer(groupsAnswer(model), MAX_CHARACTERS, measure),
    roles.kind === 'failed'
      ? notRead('roles', id, roles.error)
      : truncateAnswer(rolesAnswer(model), MAX_CHARACTERS, measure),
  ]);
}

function notRead(what: string, id: string, error: { readonly message: string }): string {
  return `The ${what} of ${oneLine(id)} could not be read: ${oneLine(error.message)}`;
}

import * as vscode from 'vscode';
import { type Answer, answerText, effectiveAccessAnswer, holdersAnswer } from '../../core/access/answers.ts';
import { principalName, roleName } from '../../core/access/queries.ts';
import { RolecallError } from '../../core/base/errors.ts';
import { commands } from '../../ids.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { moment } from '../moments.ts';
import { pickPrincipal, pickRole, readPicked } from '../pickTarget.ts';
import type { VirtualDocuments } from '../virtualDocuments.ts';

/** "Who Has This Role?" and "Show Effective Access": documents with a line for each thing and its path. */
export function answerCommands(data: AccessData, documents: VirtualDocuments) {
  const show = (read: ReadOrganization, title: string, answer: Answer) =>
    documents.show(read, `${title}.txt`, answerText(withOrigin(read, answer)));
  return {
    [commands.whoHasRole]: async (node) => {
      const read = await readPicked(data, node);
      const target = targetOf(node);
      const role = target?.kind === 'role' ? read.model.role(target.key) : await pickRole(read.model);
      if (!role) throw gone();
      await show(read, vscode.l10n.t('Who has {0}', roleName(role)), holdersAnswer(read.model, role));
    },
    [commands.showEffectiveAccess]: async (node) => {
      const read = await readPicked(data, node);
      const target = targetOf(node);
      const principal =
        target?.kind === 'principal' ? read.model.principal(target.key) : await pickPrincipal(read.model);
      if (!principal) throw gone();
      const title = vscode.l10n.t('Effective access of {0}', principalName(principal));
      await show(read, title, effectiveAccessAnswer(read.model, principal));
    },
  } satisfies Partial<Handlers>;
}

/** When and by whom it was read: a copy of the document outlives the session. */
function withOrigin({ stage, model }: ReadOrganization, { heading, lines }: Answer): Answer {
  const { label } = stage.cloud.connection;
  const when = model.at === undefined ? '' : moment(new Date(model.at).toISOString(), Date.now());
  const origin = vscode.l10n.t('Read from {0} by {1}, {2}', label, stage.account.label, when);
  return { heading: [...heading, origin], lines };
}

function gone(): RolecallError {
  return new RolecallError('notFound', vscode.l10n.t('It is not among what was read. Refresh and try again.'));
}

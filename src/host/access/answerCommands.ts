import * as vscode from 'vscode';
import { effectiveAccessDocument, holdersDocument } from '../../core/access/documents.ts';
import { idLabel, principalName, roleName } from '../../core/access/queries.ts';
import { reviewDocument } from '../../core/access/reviewText.ts';
import { commands } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { noLongerLoaded, targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { pickPrincipal, pickRole, readPicked } from '../pickTarget.ts';
import { type AccessPages, sourceText } from './accessPages.ts';
import { readerOf } from './exportReview.ts';

/** "Who Has This Role?", "Show Effective Access" and "Show Access Review". */
export function answerCommands(data: AccessData, pages: AccessPages) {
  return {
    [commands.whoHasRole]: async (node) => {
      const read = await readPicked(data, node);
      const target = targetOf(node);
      const role = target?.kind === 'role' ? read.model.role(target.key) : await pickRole(read.model);
      if (!role) throw noLongerLoaded();
      await pages.show(read, {
        identity: ['holders', role.key],
        title: vscode.l10n.t('Who has {0}', nameAmong(read.model.roles, role, roleName)),
        icon: 'person',
        document: (now) => {
          const entry = now.model.role(role.key);
          return entry && holdersDocument(now.model, entry, sourceText(now));
        },
      });
    },
    [commands.showEffectiveAccess]: async (node) => {
      const read = await readPicked(data, node);
      const target = targetOf(node);
      const principal =
        target?.kind === 'principal' ? read.model.principal(target.key) : await pickPrincipal(read.model);
      if (!principal) throw noLongerLoaded();
      await pages.show(read, {
        identity: ['effectiveAccess', principal.key],
        title: vscode.l10n.t('Effective access of {0}', nameAmong(read.model.principals, principal, principalName)),
        icon: 'key',
        document: (now) => {
          const entry = now.model.principal(principal.key);
          return entry && effectiveAccessDocument(now.model, entry, sourceText(now));
        },
      });
    },
    [commands.showReview]: async (node) => {
      const read = await readPicked(data, node);
      const { organization } = read.model;
      await pages.show(read, {
        identity: ['review'],
        title: vscode.l10n.t('Access review of {0}', data.nameOf(organization)),
        icon: 'checklist',
        document: (now) => reviewDocument(now.model, readerOf(now)),
        save: async () => {
          const target = { kind: 'organization', organization, connection: read.session.cloud.key };
          await vscode.commands.executeCommand(commands.exportReview, { target });
        },
      });
    },
  } satisfies Partial<Handlers>;
}

/** Its name, with its ID where others have the same name: their tabs are told apart. */
function nameAmong<T extends { readonly id: string }>(all: readonly T[], one: T, nameOf: (one: T) => string): string {
  const name = nameOf(one);
  return all.some((other) => other !== one && nameOf(other) === name) ? `${name} (${idLabel(one.id)})` : name;
}

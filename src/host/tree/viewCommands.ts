import * as vscode from 'vscode';
import { applyFilter } from '../../core/access/filter.ts';
import { parseFilter } from '../../core/access/filterSyntax.ts';
import { SORT_ORDERS, type SortOrder } from '../../core/access/sortOrder.ts';
import { cancelled } from '../../core/base/errors.ts';
import { commands } from '../../ids.ts';
import type { AccessData, ReadOrganization } from '../accessData.ts';
import { targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { createInputBox, showQuickPick } from '../dialogs.ts';
import { pickGroupOrRole, readPicked, targetOfEntry } from '../pickTarget.ts';
import type { ViewState } from './viewState.ts';

/** While somebody types, the tree follows at this distance. */
const TYPING_MS = 120;

/** Filter, Clear Filter, Sort and the favourites. */
export function viewCommands(data: AccessData, state: ViewState) {
  return {
    [commands.filter]: async (node) => {
      const read = await readPicked(data, node);
      const { key } = read.stage.cloud;
      const { organization } = read.model;
      const before = state.filterOf(key, organization);
      const set = (text: string) => {
        // Another account may have come meanwhile; the filter is of this connection in any case.
        void state.setFilter(key, organization, text);
      };
      const typed = await askFilter(data.labelOf(organization), read, before, set);
      await state.setFilter(key, organization, typed ?? before);
    },
    [commands.clearFilter]: async (node) => {
      const stage = data.requireStage();
      const target = targetOf(node);
      const ids = target ? [target.organization] : (await data.organizations(stage)).map(({ id }) => id);
      for (const id of ids) {
        if (state.filterOf(stage.cloud.key, id) !== '') await state.setFilter(stage.cloud.key, id, '');
      }
    },
    [commands.sort]: async () => state.setOrder(await askOrder(state.order)),
    [commands.addFavorite]: async (node) => setFavorite(data, state, node, true),
    [commands.removeFavorite]: async (node) => setFavorite(data, state, node, false),
  } satisfies Partial<Handlers>;
}

async function setFavorite(data: AccessData, state: ViewState, node: unknown, isFavorite: boolean): Promise<void> {
  const target = targetOf(node);
  if (target) return state.setFavorite(target, isFavorite);
  const read = await readPicked(data, node);
  await state.setFavorite(targetOfEntry(read, await pickGroupOrRole(read.model)), isFavorite);
}

/** Shows what is typed in the tree at once. @returns `undefined` when the user leaves. */
function askFilter(
  label: string,
  { model }: ReadOrganization,
  before: string,
  preview: (text: string) => void,
): Promise<string | undefined> {
  const input = createInputBox();
  let timer: NodeJS.Timeout | undefined;
  const tell = (text: string) => {
    const { groups, roles } = applyFilter(model, parseFilter(text));
    input.prompt = vscode.l10n.t(
      '{0} groups, {1} roles. Words, or name: id: tag:name=value role: group: member: health: status: by: is:empty is:deleting is:unlisted; a - before a term turns it around.',
      groups.length,
      roles.length,
    );
  };
  input.title = vscode.l10n.t('Filter {0}', label);
  input.placeholder = vscode.l10n.t('prod role:administrator -health:healthy');
  input.value = before;
  tell(before);
  input.onDidChangeValue((text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      tell(text);
      preview(text);
    }, TYPING_MS);
  });
  return new Promise((resolve) => {
    input.onDidAccept(() => {
      resolve(input.value);
      input.hide();
    });
    input.onDidHide(() => {
      clearTimeout(timer);
      resolve(undefined); // After Enter this changes nothing.
      input.dispose();
    });
    input.show();
  });
}

async function askOrder(current: SortOrder): Promise<SortOrder> {
  const labels: Readonly<Record<SortOrder, string>> = {
    service: vscode.l10n.t('As the service sends them'),
    name: vscode.l10n.t('By name'),
    creation: vscode.l10n.t('By creation, newest first'),
    health: vscode.l10n.t('By health, what needs attention first'),
  };
  const items = SORT_ORDERS.map((order) => ({
    label: labels[order],
    description: order === current ? vscode.l10n.t('now') : '',
    order,
  }));
  const picked = await showQuickPick(items, { placeHolder: vscode.l10n.t('Order of groups and roles') });
  if (!picked) throw cancelled();
  return picked.order;
}

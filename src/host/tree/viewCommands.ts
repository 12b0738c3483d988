import * as vscode from 'vscode';
import { groupCountText, roleCountText } from '../../core/access/descriptions.ts';
import { applyFilter, FILTER_KEYS, parseFilter, SORT_ORDERS, type SortOrder } from '../../core/access/filter.ts';
import type { AccessModel } from '../../core/access/model.ts';
import { createSerialQueue } from '../../core/base/abort.ts';
import { cancelled } from '../../core/base/errors.ts';
import { commands } from '../../ids.ts';
import type { AccessData, ActiveSession } from '../accessData.ts';
import { filterProblem, targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { createInputBox, showQuickPick } from '../dialogs.ts';
import { pickGroupOrRole, pickOrganization, readPicked, targetOfEntry } from '../pickTarget.ts';
import type { ViewState } from './viewState.ts';

/** While the user types, the tree is updated after this delay. */
const TYPING_MS = 120;

/** Filter, Clear Filter, Sort and the favourites. */
export function viewCommands(data: AccessData, state: ViewState) {
  /** @param label of the one organization that is filtered; empty for all. */
  const filterBy = async (
    { cloud: { key } }: ActiveSession,
    label: string,
    organizations: readonly string[] | Promise<readonly string[]>,
  ): Promise<void> => {
    const before = new Map<string, string>();
    // The account may change meanwhile; the filter belongs to this connection in any case.
    const inTurn = createSerialQueue();
    const set = (textOf: (id: string) => string): Promise<void> =>
      inTurn(async () => {
        for (const id of await organizations) {
          if (!before.has(id)) before.set(id, state.filterOf(key, id));
          await state.setFilter(key, id, textOf(id));
        }
      });
    const ids = Array.isArray(organizations) ? organizations : data.all.map(({ model }) => model.organization);
    const filters = new Set(ids.map((id) => state.filterOf(key, id)));
    const value = filters.size === 1 ? ([...filters][0] ?? '') : '';
    const typed = await askFilter({
      label,
      value,
      models: () => data.all.map(({ model }) => model).filter(({ organization }) => ids.includes(organization)),
      preview: (text) => void set(() => text).catch(() => {}), // The tree shows that there is no list.
      onRead: (tell) =>
        data.onDidChange(({ kind }) => {
          if (kind === 'read') tell();
        }),
    });
    await set((id) => typed ?? before.get(id) ?? state.filterOf(key, id));
  };
  return {
    [commands.filter]: async (node) => {
      const session = data.requireSession();
      const organization = await pickOrganization(data, node);
      void data.read(session, organization); // For the number of matches. Never rejects; the tree shows failures.
      await filterBy(session, data.labelOf(organization), [organization]);
    },
    [commands.filterAll]: async () => {
      const session = data.requireSession();
      // The box is shown at once, so that nothing typed meanwhile is lost.
      const ids = data.organizations(session).then((organizations) => organizations.map(({ id }) => id));
      await filterBy(session, '', ids);
    },
    [commands.clearFilter]: async (node) => {
      const session = data.requireSession();
      const target = targetOf(node);
      const ids = target ? [target.organization] : (await data.organizations(session)).map(({ id }) => id);
      for (const id of ids) {
        if (state.filterOf(session.cloud.key, id) !== '') await state.setFilter(session.cloud.key, id, '');
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

interface FilterQuestion {
  readonly label: string;
  readonly value: string;
  /** The data that has been read, of the organizations that are filtered. */
  readonly models: () => readonly AccessModel[];
  readonly preview: (text: string) => void;
  readonly onRead: (tell: () => void) => vscode.Disposable;
}

/** Applies the typed text to the tree at once. @returns `undefined` when the user cancels. */
function askFilter({ label, value, models, preview, onRead }: FilterQuestion): Promise<string | undefined> {
  const input = createInputBox();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    input.prompt = [countsText(models(), input.value), syntaxText()].filter(Boolean).join(' ');
    const problem = filterProblem(input.value);
    const severity = vscode.InputBoxValidationSeverity.Info;
    input.validationMessage = problem === '' ? undefined : { message: problem, severity };
  };
  input.title = label === '' ? vscode.l10n.t('Filter') : vscode.l10n.t('Filter {0}', label);
  input.placeholder = vscode.l10n.t('prod role:administrator -health:healthy');
  input.value = value;
  tell();
  const reading = onRead(tell);
  input.onDidChangeValue((text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      tell();
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
      reading.dispose();
      input.dispose();
    });
    input.show();
  });
}

function countsText(models: readonly AccessModel[], filter: string): string {
  if (models.length === 0) return '';
  const filtered = models.map((model) => applyFilter(model, parseFilter(filter)));
  const groups = filtered.reduce((sum, each) => sum + each.groups.length, 0);
  const roles = filtered.reduce((sum, each) => sum + each.roles.length, 0);
  return vscode.l10n.t('{0}, {1}.', groupCountText(groups), roleCountText(roles));
}

function syntaxText(): string {
  return vscode.l10n.t('Type words or key:value ({0}); prefix with - to exclude.', FILTER_KEYS.join(', '));
}

async function askOrder(current: SortOrder): Promise<SortOrder> {
  const labels: Readonly<Record<SortOrder, string>> = {
    service: vscode.l10n.t('Service order'),
    name: vscode.l10n.t('By name'),
    creation: vscode.l10n.t('By creation date, newest first'),
    health: vscode.l10n.t('By health, worst first'),
  };
  const items = SORT_ORDERS.map((order) => ({
    label: labels[order],
    description: order === current ? vscode.l10n.t('current') : '',
    order,
  }));
  const picked = await showQuickPick(items, { placeHolder: vscode.l10n.t('Sort groups and roles') });
  if (!picked) throw cancelled();
  return picked.order;
}

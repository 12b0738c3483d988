import * as vscode from 'vscode';
import { SORT_ORDERS, type SortOrder } from '../../core/access/filter.ts';
import { attentionOf } from '../../core/access/model.ts';
import { arrayOf, isString } from '../../core/base/shape.ts';
import { contextKeys } from '../../ids.ts';
import type { AccessData } from '../accessData.ts';
import { type AccessTarget, filterProblem, targetUri } from '../accessTarget.ts';
import { setContextKey } from '../contextKeys.ts';
import { restrictedLine } from '../restrictedMode.ts';

const FILTERS = 'rolecall.filters';
const SORT = 'rolecall.sort';
const FAVORITES = 'rolecall.favorites';
/** The most values of each kind; the oldest are removed first. */
const MAX_KEPT = 500;

type Filter = readonly [key: string, text: string];

const isTexts = arrayOf(isString);
const isFilters = arrayOf((kept): kept is Filter => isTexts(kept) && kept.length === 2);

/** The user's view options: filters and order for this workspace, favorites everywhere. */
export class ViewState implements vscode.Disposable {
  readonly #workspace: vscode.Memento;
  readonly #global: vscode.Memento;
  readonly #changed = new vscode.EventEmitter<string | undefined>();
  /** With the affected organization; `undefined` for all. */
  readonly onDidChange = this.#changed.event;

  constructor(workspace: vscode.Memento, global: vscode.Memento) {
    this.#workspace = workspace;
    this.#global = global;
  }

  filterOf(connection: string, organization: string): string {
    return this.#filters().find(([key]) => key === keyOf(connection, organization))?.[1] ?? '';
  }

  /** An empty filter removes it. */
  async setFilter(connection: string, organization: string, text: string): Promise<void> {
    if (text.trim() === this.filterOf(connection, organization)) return;
    const key = keyOf(connection, organization);
    const others = this.#filters().filter(([other]) => other !== key);
    const filters = text.trim() === '' ? others : [...others, [key, text.trim()] as const];
    const update = this.#workspace.update(FILTERS, filters.slice(-MAX_KEPT));
    this.#changed.fire(organization);
    await update;
  }

  get order(): SortOrder {
    const stored = this.#workspace.get<unknown>(SORT);
    return SORT_ORDERS.find((order) => order === stored) ?? 'service';
  }

  async setOrder(order: SortOrder): Promise<void> {
    if (order === this.order) return;
    const update = this.#workspace.update(SORT, order);
    this.#changed.fire(undefined);
    await update;
  }

  isFavorite(target: AccessTarget): boolean {
    return this.#favorites().has(targetUri(target).toString());
  }

  async setFavorite(target: AccessTarget, isFavorite: boolean): Promise<void> {
    const favorites = this.#favorites();
    const key = targetUri(target).toString();
    favorites.delete(key);
    if (isFavorite) favorites.add(key);
    const update = this.#global.update(FAVORITES, [...favorites].slice(-MAX_KEPT));
    this.#cache = undefined;
    this.#changed.fire(target.organization);
    await update;
  }

  #cache: { readonly stored: unknown; readonly set: Set<string> } | undefined;

  /** Read once for each value of the memento: the tree asks for every node. */
  #favorites(): Set<string> {
    const stored = this.#global.get<unknown>(FAVORITES);
    if (this.#cache?.stored !== stored || this.#cache === undefined) {
      this.#cache = { stored, set: new Set(isTexts(stored) ? stored : []) };
    }
    return this.#cache.set;
  }

  #filters(): readonly Filter[] {
    const stored = this.#workspace.get<unknown>(FILTERS);
    return isFilters(stored) ? stored : [];
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

function keyOf(connection: string, organization: string): string {
  return JSON.stringify([connection, organization]);
}

/** The view's badge and the line above the tree. */
export interface Summary {
  readonly message: string;
  readonly badge: vscode.ViewBadge | undefined;
}

/** Sums up the organizations of the tree and sets the context key that menus use. */
export function summarize(data: AccessData, state: ViewState, organizations: readonly string[]): Summary {
  const attention = data.all.reduce((sum, { model }) => {
    const groups = model.groups.filter(({ group }) => attentionOf(group.metadata) !== undefined);
    const roles = model.roles.filter(({ role }) => role && attentionOf(role.metadata) !== undefined);
    return sum + groups.length + roles.length;
  }, 0);
  const connection = data.session?.cloud.key ?? '';
  const filters = organizations.flatMap((id) => {
    const filter = state.filterOf(connection, id);
    return filter === '' ? [] : [{ id, filter }];
  });
  const [first] = filters;
  const isOne = filters.length === organizations.length && filters.every(({ filter }) => filter === first?.filter);
  const sentences =
    first && isOne && filters.length > 1
      ? [vscode.l10n.t('Filtered by "{0}"', first.filter)]
      : filters.map(({ id, filter }) => vscode.l10n.t('{0} filtered by "{1}"', data.labelOf(id), filter));
  const problems = new Set(filters.map(({ filter }) => filterProblem(filter)).filter((problem) => problem !== ''));
  setContextKey(contextKeys.isFiltered, filters.length > 0);
  return {
    message: [...sentences, ...problems, restrictedLine() ?? []].flat().join(' · '),
    badge:
      attention === 0
        ? undefined
        : { value: attention, tooltip: vscode.l10n.t('Groups and roles that need attention: {0}', attention) },
  };
}

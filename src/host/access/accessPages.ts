import * as vscode from 'vscode';
import {
  type AccessDocument,
  type EntryLink,
  effectiveAccessDocument,
  holdersDocument,
} from '../../core/access/accessDocuments.ts';
import { notice } from '../../core/access/pageDocument.ts';
import { principalName, roleName, shortId } from '../../core/access/queries.ts';
import { reviewDocument } from '../../core/access/reviewText.ts';
import { cancelled } from '../../core/base/errors.ts';
import { commands, documentPanel } from '../../ids.ts';
import type { AccessChange, AccessData, ReadOrganization } from '../accessData.ts';
import { type AccessTarget, followLink, linkTitleOf, noLongerLoaded, targetOf } from '../accessTarget.ts';
import type { Handlers } from '../commands.ts';
import { clockTime } from '../formats.ts';
import type { OpenPage, OpenPages } from '../pages.ts';
import { pickPrincipal, pickRole, readPicked } from '../pickTarget.ts';
import { readerOf } from './exportReview.ts';

export interface AccessPagesDeps {
  readonly data: AccessData;
  readonly pages: OpenPages;
  /** Shows it in the tree; the focus stays in the page. */
  readonly reveal: (target: AccessTarget) => Promise<void>;
}

/** A document about an organization, created again whenever that is read. */
export interface AccessPage {
  /** The kind of document and the key of its subject: an organization has one tab for each. */
  readonly identity: readonly [kind: string, key?: string];
  readonly title: string;
  readonly icon: string;
  /** `undefined` where its subject no longer exists. */
  document(read: ReadOrganization): AccessDocument | undefined;
  /** Without it, Save writes the document as Markdown. */
  save?(): Promise<void>;
}

interface Open {
  readonly page: OpenPage<EntryLink>;
  readonly shown: AccessPage;
  read: ReadOrganization;
  /** Whether to read again when the page is next visible. */
  isDue: boolean;
}

/**
 * Documents about access in tabs: they are updated with each reading, and close with their organization and session.
 */
export class AccessPages implements vscode.Disposable {
  readonly #deps: AccessPagesDeps;
  /** By session, organization and identity. */
  readonly #open = new Map<string, Open>();
  readonly #subscription: vscode.Disposable;

  constructor(deps: AccessPagesDeps) {
    this.#deps = deps;
    this.#subscription = deps.data.onDidChange((change) => this.#follow(change));
  }

  /** @throws RolecallError `cancelled` when `read` belongs to a session that is over. */
  async show(read: ReadOrganization, shown: AccessPage): Promise<void> {
    const { data, pages } = this.#deps;
    const all = await pages();
    if (data.session !== read.session) throw cancelled();
    const key = JSON.stringify([read.session.cloud.key, read.model.organization, ...shown.identity]);
    const current = () => this.#open.get(key);
    const page = all.open<EntryLink>({
      key,
      kind: documentPanel,
      title: shown.title,
      icon: shown.icon,
      column: 'active',
      linkTitle: (link) => (link.kind === 'graph' ? vscode.l10n.t('Show the access graph') : linkTitleOf(link)),
      follow: async (link) => {
        const open = current();
        if (!open) return;
        if (link.kind !== 'graph') return followLink(targetOfLink(open.read, link), this.#deps.reveal);
        const target = targetOfLink(open.read, { kind: link.of, key: link.key });
        await vscode.commands.executeCommand(commands.showAccessGraph, { target });
      },
      refresh: async () => data.refresh(read.model.organization),
      seen: () => {
        const open = current();
        if (open?.isDue) this.#readAgain(open);
      },
      ...(shown.save && { save: shown.save }),
    });
    if (!this.#open.has(key)) page.closed.addEventListener('abort', () => this.#open.delete(key), { once: true });
    const open: Open = { page, shown, read, isDue: false };
    this.#open.set(key, open);
    this.#draw(open);
  }

  #follow(change: AccessChange): void {
    if (change.kind === 'session') this.#closeAll();
    if (change.kind === 'session') return;
    if (change.kind === 'organizations') {
      for (const open of this.#open.values()) this.#draw(open); // One may have another label.
      return;
    }
    for (const open of [...this.#open.values()]) {
      const { organization } = open.read.model;
      if (change.organization !== undefined && change.organization !== organization) continue;
      if (change.kind === 'removed') open.page.close();
      else if (change.kind === 'due') this.#readAgain(open);
      else {
        open.read = this.#deps.data.last(organization) ?? open.read;
        open.isDue = false;
        this.#draw(open);
      }
    }
  }

  /** At once if the page is visible, else when it next is. */
  #readAgain(open: Open): void {
    const { session, model } = open.read;
    open.isDue = !open.page.isVisible;
    // The result arrives as a change. Never rejects.
    if (!open.isDue && this.#deps.data.session === session) void this.#deps.data.read(session, model.organization);
  }

  #draw({ page, shown, read }: Open): void {
    const message = vscode.l10n.t('This is no longer in the loaded data.');
    // Named as the user calls it: documents take an organization's name from the model.
    const named = { ...read, model: { ...read.model, organization: this.#deps.data.nameOf(read.model.organization) } };
    const document = shown.document(named) ?? {
      title: shown.title,
      about: [sourceText(read)],
      blocks: [notice(message)],
    };
    page.show({ document });
  }

  #closeAll(): void {
    for (const { page } of [...this.#open.values()]) page.close();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#closeAll();
  }
}

/** When and by whom it was read: a copy of a document outlives the session. */
function sourceText({ session, model }: ReadOrganization): string {
  const { label } = session.cloud.connection;
  const when = model.at === undefined ? '' : clockTime(model.at, Date.now());
  return vscode.l10n.t('Read from {0} by {1}, {2}', label, session.account.label, when);
}

function targetOfLink({ session, model }: ReadOrganization, link: Exclude<EntryLink, { kind: 'graph' }>): AccessTarget {
  return { ...link, organization: model.organization, connection: session.cloud.key };
}

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

/** Its name, with its ID if others have the same name, so that their tabs differ. */
function nameAmong<T extends { readonly id: string }>(all: readonly T[], one: T, nameOf: (one: T) => string): string {
  const name = nameOf(one);
  return all.some((other) => other !== one && nameOf(other) === name) ? `${name} (${shortId(one.id)})` : name;
}

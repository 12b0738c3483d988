import * as vscode from 'vscode';
import { type AccessModel, buildModel } from '../core/access/model.ts';
import { asRolecallError, RolecallError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { arrayOf, isString, matchesShape } from '../core/base/shape.ts';
import { accessListOf, Directory, type OrganizationAccess, wasCancelled } from '../core/identity/directory.ts';
import type { OrganizationName } from '../core/identity/identityClient.ts';
import type { Cloud } from './cloud.ts';
import type { Clouds } from './clouds.ts';
import { withProgress } from './dialogs.ts';
import type { Settings } from './settings.ts';

/** A reading that takes no longer needs no notification; the view's own bar shows progress. */
const PATIENCE_MS = 1500;

/** Shows that an organization is being read, once that takes long or has to be tried again, with a way to stop it. */
function progressOfReading(label: string) {
  let lastRetry: string | undefined;
  let report: ((message: string) => void) | undefined;
  let open: (() => void) | undefined;
  return {
    /** A retry is shown at once. */
    retry(error: RolecallError): void {
      lastRetry = vscode.l10n.t('{0} Trying again…', error.message);
      report?.(lastRetry);
      open?.();
    },
    show(reading: Promise<unknown>, stop: () => void): void {
      let isShown = false;
      open = () => {
        if (isShown) return;
        isShown = true;
        void withProgress(
          {
            location: vscode.ProgressLocation.Notification,
            title: vscode.l10n.t('Reading {0}', label),
            cancellable: true,
          },
          async (tell, token) => {
            report = tell;
            if (lastRetry !== undefined) report(lastRetry);
            token.onCancellationRequested(stop);
            await reading.catch(() => {}); // Whoever requested it handles its failure.
          },
        );
      };
      const timer = setTimeout(open, PATIENCE_MS);
      const done = () => {
        clearTimeout(timer);
        open = undefined;
      };
      void reading.then(done, done);
    },
  };
}

/** The session that all data belongs to: another account or another cloud is another session. Compared by identity. */
export interface ActiveSession {
  readonly cloud: Cloud;
  readonly account: { readonly id: string; readonly label: string };
  readonly directory: Directory;
  /** The service's list, requested once until it is refreshed. */
  listed: Promise<readonly OrganizationName[]> | undefined;
  /** Labels set in the sandbox, by organization: they stay in it. */
  readonly labels: Map<string, string>;
}

/** The data of an organization, with its two lists joined. */
export interface ReadOrganization {
  readonly session: ActiveSession;
  readonly access: OrganizationAccess;
  readonly model: AccessModel;
}

/**
 * What has changed: everything (another session); the list of organizations, or their labels; one that the user removed from
 * the list, which nothing shows any more; what has just been read of one; what access rules find in it. One that is `due`, or all of them, is to be read again by the views that show it; until then they show the old data.
 */
export type AccessChange =
  | { readonly kind: 'session' }
  | { readonly kind: 'organizations' }
  | { readonly kind: 'due'; readonly organization: string | undefined }
  | { readonly kind: 'read' | 'checked' | 'removed'; readonly organization: string };

const SANDBOX_LABELS = 'rolecall.sandboxLabels';

/** Labels of the last sandbox in this window. */
interface SandboxLabels {
  readonly connection: string;
  /** Each an organization and its label. */
  readonly labels: readonly (readonly string[])[];
}

/** A second refresh within this time, while the first is still reading, counts as the same. */
const SAME_REFRESH_MS = 1000;

/** The data of the active session, for every view, document and tool. Dropped with the session. */
export class AccessData implements vscode.Disposable {
  readonly #clouds: Clouds;
  readonly #settings: Settings;
  readonly #state: vscode.Memento;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #changed = new vscode.EventEmitter<AccessChange>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  readonly #models = new WeakMap<OrganizationAccess, AccessModel>();
  /** When each organization was last asked to be read again, while it is being read. */
  readonly #refreshing = new Map<string, number>();
  /** Readings that the user stopped. */
  readonly #stopped = new WeakSet<Promise<unknown>>();
  #session: ActiveSession | undefined;
  /** The organizations and labels of the settings, to notice changes. */
  #named = '';

  /** @param state of this window, kept when it is reloaded. */
  constructor(clouds: Clouds, settings: Settings, state: vscode.Memento, log: Log, now: () => number = Date.now) {
    this.#clouds = clouds;
    this.#settings = settings;
    this.#state = state;
    this.#log = log;
    this.#now = now;
    this.#subscription = clouds.onDidChange(() => this.#setSession());
  }

  get session(): ActiveSession | undefined {
    return this.#session;
  }

  /** @throws RolecallError `signedOut` or `configuration`. */
  requireSession(): ActiveSession {
    if (this.#session) return this.#session;
    const { label } = this.#clouds.require().connection;
    throw new RolecallError('signedOut', vscode.l10n.t('Sign in to {0} first.', label));
  }

  /**
   * The IDs that the user entered; the sandbox lists its own.
   *
   * @throws RolecallError of any kind if there is no list: an error never looks like an empty list.
   */
  async organizations(session: ActiveSession): Promise<readonly OrganizationName[]> {
    if (session.cloud.connection.id === 'sandbox') {
      session.listed ??= listOrganizations(session.cloud);
      return session.listed;
    }
    const labels = this.#settings.organizationLabels();
    return this.#settings.organizations().map((id) => ({ id, name: labels.get(id) ?? id }));
  }

  /** The user's label for an organization, else its ID. */
  labelOf(organization: string): string {
    const ofSandbox = this.#session?.labels.get(organization);
    return ofSandbox ?? this.#settings.organizationLabels().get(organization) ?? organization;
  }

  /** `Label (ID)`, or the ID alone where there is no label: for titles and headings. */
  nameOf(organization: string): string {
    const label = this.labelOf(organization);
    return label === organization ? organization : `${label} (${organization})`;
  }

  /** An empty label removes it. */
  async setLabel(organization: string, label: string): Promise<void> {
    const session = this.#session;
    if (session?.cloud.connection.id !== 'sandbox') return this.#settings.labelOrganization(organization, label);
    if (label.trim() === '') session.labels.delete(organization);
    else session.labels.set(organization, label.trim());
    const stored: SandboxLabels = { connection: session.cloud.key, labels: [...session.labels] };
    void this.#state.update(SANDBOX_LABELS, stored); // Matters after a reload.
    this.#changed.fire({ kind: 'organizations' });
  }

  /**
   * Both lists of an organization, read unless they have been. Never rejects: failures are part of the result. A reading
   * that takes long shows its progress and can be stopped.
   */
  async read(session: ActiveSession, organization: string): Promise<ReadOrganization> {
    for (;;) {
      const isNew = session.directory.current(organization) === undefined;
      const progress = isNew ? progressOfReading(this.labelOf(organization)) : undefined;
      const reading = session.directory.organization(organization, (error) => progress?.retry(error));
      progress?.show(reading, () => {
        this.#stopped.add(reading);
        session.directory.stop(organization);
      });
      const access = await reading;
      if (isNew) {
        this.#refreshing.delete(organization);
        // Announced once, by the caller that began the reading, unless it was stopped or the session has changed.
        if (session === this.#session && session.directory.last(organization) === access) {
          this.#changed.fire({ kind: 'read', organization });
        }
      }
      // A refresh was requested during the reading: only the newer one counts.
      const again = wasCancelled(access) && session === this.#session && !this.#stopped.has(reading);
      if (!again) return { session, access, model: this.#modelOf(access) };
    }
  }

  /** The data of an organization, without reading. */
  last(organization: string): ReadOrganization | undefined {
    const session = this.#session;
    const access = session?.directory.last(organization);
    return session && access && { session, access, model: this.#modelOf(access) };
  }

  /** The data of all organizations. */
  get all(): readonly ReadOrganization[] {
    const session = this.#session;
    return session ? session.directory.all.map((access) => ({ session, access, model: this.#modelOf(access) })) : [];
  }

  /** Makes the next request read again: one organization, or all and their list. The old data stays meanwhile. */
  refresh(organization?: string): void {
    const session = this.#session;
    if (!session) return;
    const { directory } = session;
    const targets = organization === undefined ? directory.known : [organization];
    if (organization === undefined) {
      session.listed = undefined;
      this.#changed.fire({ kind: 'organizations' });
    }
    for (const id of targets) {
      const startedAt = this.#refreshing.get(id);
      if (directory.isReading(id) && startedAt !== undefined && this.#now() - startedAt < SAME_REFRESH_MS) continue;
      this.#refreshing.set(id, this.#now());
      directory.refresh(id);
    }
    this.#changed.fire({ kind: 'due', organization });
  }

  /** Tells the views that the findings of a model, or the progress of its review, have changed. */
  announceFindings(organization: string): void {
    this.#changed.fire({ kind: 'checked', organization });
  }

  #modelOf(access: OrganizationAccess): AccessModel {
    let model = this.#models.get(access);
    if (model === undefined) {
      const began = performance.now();
      model = buildModel({
        organization: access.id,
        groups: accessListOf(access.groups),
        roles: accessListOf(access.roles),
      });
      this.#models.set(access, model);
      this.#log.debug(`Joined ${access.id} in ${Math.round(performance.now() - began)} ms.`);
    }
    return model;
  }

  #setSession(): void {
    const cloud = this.#clouds.active;
    const session = cloud?.tokenManager.session;
    const before = this.#session;
    const named = JSON.stringify([this.#settings.organizations(), [...this.#settings.organizationLabels()]]);
    const isNamedAnew = named !== this.#named;
    this.#named = named;
    if (!before && !session) return;
    if (before && before.cloud === cloud && before.account.id === session?.account.id) {
      // Usually a refreshed token, or a setting that is not shown here.
      if (isNamedAnew) this.#followSettings(before);
      return;
    }
    before?.directory.clear();
    this.#refreshing.clear();
    this.#session =
      cloud && session
        ? {
            cloud,
            account: session.account,
            directory: new Directory(cloud.identity, this.#now),
            listed: undefined,
            labels: this.#keptLabels(cloud),
          }
        : undefined;
    this.#changed.fire({ kind: 'session' });
  }

  #keptLabels({ key }: Cloud): Map<string, string> {
    const stored = this.#state.get<unknown>(SANDBOX_LABELS);
    const shape = { connection: isString, labels: arrayOf(arrayOf(isString)) };
    if (!matchesShape<SandboxLabels>(stored, shape) || stored.connection !== key) return new Map();
    return new Map(stored.labels.map(([organization = '', label = '']) => [organization, label]));
  }

  #followSettings({ cloud, directory }: ActiveSession): void {
    if (cloud.connection.id !== 'sandbox') {
      const listed = this.#settings.organizations();
      for (const organization of directory.known.filter((id) => !listed.includes(id))) {
        directory.forget(organization);
        this.#changed.fire({ kind: 'removed', organization });
      }
    }
    this.#changed.fire({ kind: 'organizations' });
  }

  dispose(): void {
    this.#session?.directory.clear();
    this.#session = undefined;
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}

async function listOrganizations({ identity }: Cloud): Promise<readonly OrganizationName[]> {
  const unlisted = vscode.l10n.t('The sandbox did not list its organizations. Refresh to try again.');
  let listed: readonly OrganizationName[] | undefined;
  try {
    listed = await identity.organizations(AbortSignal.timeout(30_000));
  } catch (error) {
    const rolecallError = asRolecallError(error);
    if (rolecallError.remedy) throw rolecallError;
    throw new RolecallError(
      rolecallError.kind === 'cancelled' ? 'timeout' : rolecallError.kind,
      `${unlisted} ${rolecallError.message}`,
      {
        cause: error,
      },
    );
  }
  if (listed) return listed;
  throw new RolecallError('server', unlisted);
}

import * as vscode from 'vscode';
import type { AccessChange, AccessData, ReadOrganization } from '../../../src/host/accessData.ts';
import { metadataOf, readOf } from '../support/access.ts';
import type { Patches } from '../support/patches.ts';

const groupOf = (id: string, name: string, people: readonly string[], roleIDs: readonly string[]) => ({
  metadata: metadataOf(id, { name, organizationId: 'm' }),
  spec: {
    subjects: people.map((one) => ({ id: `sub-${one}`, email: `${one}@m.example`, issuer: 'https://id' })),
    userIDs: [],
    serviceAccountIDs: [],
    roleIDs,
  },
});

/** The organization `m`: ada is both administrator and auditor. */
export const MERIDIAN = [
  groupOf('g-1', 'ops', ['ada', 'ben'], ['r-1']),
  groupOf('g-2', 'audit', ['ada'], ['r-2']),
] as const;
export const ROLES = [metadataOf('r-1', { name: 'admin' }), metadataOf('r-2', { name: 'auditor' })].map((metadata) => ({
  metadata,
}));

/** What Problems shows, by file. */
export function shownProblems(patches: Patches): Map<string, readonly vscode.Diagnostic[]> {
  const shown = new Map<string, readonly vscode.Diagnostic[]>();
  const collection = {
    clear: () => shown.clear(),
    set: (uri: vscode.Uri, problems: vscode.Diagnostic[]) => void shown.set(uri.toString(), problems),
    dispose: () => {},
  };
  patches.set(vscode.languages, 'createDiagnosticCollection', () => collection);
  return shown;
}

/** What has been read, without a service. */
export class FakeAccess {
  readonly #changed = new vscode.EventEmitter<AccessChange>();
  readonly onDidChange = this.#changed.event;
  readonly #session = {
    cloud: { key: 'c', connection: { label: 'cloud' } },
    account: { id: 'ines', label: 'ines@m.example' },
  } as unknown as ReadOrganization['session'];
  /** Organizations that were asked to be read. */
  readonly asked: string[] = [];
  current: ReadOrganization | undefined;
  isSignedIn = true;
  /** Those that the user shows. */
  organizations = ['m'];

  /** As a reading arrives. */
  arrive(groups: unknown = MERIDIAN, roles: unknown = ROLES): void {
    this.current = { ...readOf(groups, roles), session: this.#session };
    this.#changed.fire({ kind: 'read', organization: 'm' });
  }

  /** Another account. */
  leave(): void {
    this.current = undefined;
    this.#changed.fire({ kind: 'session' });
  }

  /** As the extension's objects take it. */
  get data(): AccessData {
    const shown = () => this.current;
    const session = () => (this.isSignedIn ? this.#session : undefined);
    const fake = {
      onDidChange: this.onDidChange,
      last: (organization: string) => (organization === 'm' ? this.current : undefined),
      organizations: async () => this.organizations.map((id) => ({ id, name: id })),
      requireSession: session,
      refresh: () => {},
      announceFindings: (organization: string) => this.#changed.fire({ kind: 'checked', organization }),
      nameOf: (organization: string) => organization,
      labelOf: (organization: string) => organization,
      read: async (_session: unknown, organization: string) => {
        this.asked.push(organization);
        return this.current;
      },
      get session() {
        return session();
      },
      get all() {
        const read = shown();
        return read ? [read] : [];
      },
    };
    return fake as unknown as AccessData;
  }
}

export const file = (body: string, organization = 'm') =>
  `format: rolecall.access-rules\nversion: 1\norganization: ${organization}\n${body}`;

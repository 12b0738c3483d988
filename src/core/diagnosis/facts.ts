// The facts of a sign-in diagnosis. No member is meant to contain a token, a code or a secret; the report hides them
// anyway, because error messages and settings are written by others.
import type { Connection } from '../base/connection.ts';

/** The answer to one question. `skipped`: there was nothing to ask about. */
export type CheckOutcome<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'skipped'; readonly why: string };

export interface Versions {
  readonly extension: string;
  /** Name and version. */
  readonly editor: string;
  /** Where the editor's window is. */
  readonly shownIn: 'desktop' | 'browser';
  /** `ssh-remote`, `dev-container`, `wsl`, …; absent without a remote. */
  readonly remote?: string;
  /** Whether Rolecall runs on the user's own machine or beside the remote workspace. */
  readonly runsOn: 'this machine' | 'the remote machine';
  readonly node: string;
  readonly system: string;
}

export type ConnectionFact =
  | {
      readonly kind: 'connection';
      readonly connection: Connection;
      /**
       * The names of the headers that the user adds to requests to the inference service; empty where they don't apply.
       */
      readonly headers: readonly string[];
      /** One sentence for each setting that is not used. */
      readonly problems: readonly string[];
    }
  | { readonly kind: 'unconfigured' }
  | { readonly kind: 'misconfigured'; readonly problem: string };

export type ClientSecretFact = 'stored' | 'missing' | 'not needed';

/** One request without a token, through the very `fetch` that signs in. */
export type Probe = { readonly url: string; readonly ms: number } & (
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** How far the server's clock is ahead of this machine's, in milliseconds. */
      readonly skewMs?: number;
    }
  | { readonly kind: 'unreachable'; readonly message: string; readonly codes: readonly string[] }
);

export type Discovery =
  | { readonly kind: 'found' }
  /** The endpoints of the specification are used. */
  | { readonly kind: 'absent'; readonly status: number }
  | { readonly kind: 'unusable'; readonly problem: string };

export interface IdentityFact {
  readonly probe: Probe;
  /** Absent when the service did not answer. */
  readonly discovery?: Discovery;
}

export type RedirectFact = { readonly uri: string } & (
  | { readonly kind: 'free' }
  /** A window of Rolecall waits there for the answer to a sign-in. */
  | { readonly kind: 'ours' }
  /** Another program listens; `program` is its name over HTTP. */
  | { readonly kind: 'taken'; readonly program?: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'editorLink'; readonly scheme: string; readonly isThisEditor: boolean }
  | { readonly kind: 'elsewhere' }
);

export interface NetworkFact {
  /** By the names of the editor's settings. */
  readonly settings: {
    readonly proxy?: string;
    readonly proxySupport?: string;
    readonly proxyStrictSSL?: boolean;
    readonly systemCertificates?: boolean;
    readonly noProxy?: readonly string[];
    /** Only whether there is one. */
    readonly proxyAuthorization: boolean;
  };
  /** The environment variables about proxies, unchanged. */
  readonly variables: Readonly<Record<string, string>>;
  /** `NODE_EXTRA_CA_CERTS`. */
  readonly extraCertificates?: { readonly path: string; readonly state: 'read' | 'unreadable' | 'no certificate' };
  /** `NODE_TLS_REJECT_UNAUTHORIZED=0`: certificates are not verified. */
  readonly isUnchecked: boolean;
}

export type StoreFact =
  | { readonly kind: 'writable' }
  /** It can be read but not written, for a reason. */
  | { readonly kind: 'readable'; readonly why: string };

export interface SessionFact {
  /** `kind` of the session's state. */
  readonly state: string;
  /** Why it ended or cannot be used. */
  readonly reason?: string;
  readonly generation?: number;
  /** When the access token stops being used, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** False for a token without a successor; absent when there is no session. */
  readonly isRefreshable?: boolean;
}

export interface SharedFact {
  readonly path: string;
  /** Absent when the folder does not exist. */
  readonly folder?: {
    /** Octal, such as `700`; absent on Windows. */
    readonly mode?: string;
    readonly isOurs: boolean;
  };
  /** The generation of the sealed session. */
  readonly generation?: number;
  readonly isSignedOut?: boolean;
  /** The number of registered windows, including those that were killed. */
  readonly windows: number;
  readonly holder:
    | { readonly kind: 'nobody' }
    | { readonly kind: 'unreadable' }
    | { readonly kind: 'held'; readonly pid: number; readonly isThisWindow: boolean; readonly answers: boolean };
}

/** The editor's chat. */
export interface ChatFact {
  /** Why `@rolecall` cannot be asked here. */
  readonly missing?: string;
  /** Whether the user has let VS Code's own chat use the cloud's models. */
  readonly isUsedWithoutParticipant: boolean;
  /** Whose models write titles and summaries there, by the editor's setting. */
  readonly utilityModels?: string;
}

/** How the programs of workspace tools are contained on this machine, or why not and what fixes it. */
export type ContainmentFact =
  | { readonly kind: 'bubblewrap' | 'seatbelt' }
  | { readonly kind: 'none'; readonly reason: string; readonly remedy: string | undefined };

/** Whether programs outside of the editor can use this window's sign-in. */
export interface CommandLineFact {
  /** The number of programs that the user has allowed, each for one connection. */
  readonly allowed: number;
  /** Whether this window answers them. */
  readonly isOpen: boolean;
}

/** A recent warning or error of the log. */
export interface LoggedProblem {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: 'warning' | 'error';
  readonly message: string;
}

export interface Diagnosis {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly versions: CheckOutcome<Versions>;
  readonly connection: CheckOutcome<ConnectionFact>;
  readonly clientSecret: CheckOutcome<ClientSecretFact>;
  readonly identity: CheckOutcome<IdentityFact>;
  readonly inference: CheckOutcome<Probe>;
  readonly redirect: CheckOutcome<RedirectFact>;
  readonly network: CheckOutcome<NetworkFact>;
  readonly store: CheckOutcome<StoreFact>;
  readonly session: CheckOutcome<SessionFact>;
  readonly shared: CheckOutcome<SharedFact>;
  readonly chat: CheckOutcome<ChatFact>;
  readonly containment: CheckOutcome<ContainmentFact>;
  readonly commandLine: CheckOutcome<CommandLineFact>;
  /** The newest last. */
  readonly problems: CheckOutcome<readonly LoggedProblem[]>;
}

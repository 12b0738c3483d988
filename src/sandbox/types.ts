/**
 * What the two halves of the sandbox (identity and inference) share with the frame that runs them.
 * Types only: the frame is `sandbox.ts`, the halves are `identity/server.ts` and `inference/server.ts`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Service = 'identity' | 'inference';

export type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Who sends this request: the person whose live access token (or service token) stands in the `Authorization` header.
 * `undefined` when the header is absent or malformed, or the token is unknown, expired or superseded. Never throws.
 */
export type Authenticate = (authorizationHeader: string | undefined) => { person: string } | undefined;

/**
 * Named numbers for the tests to read (`GET {control}/counters`, one flat JSON object).
 *
 * The frame counts, for both services: `requests.<service>`, `<service> <METHOD> <path>`, `host <Host header>`,
 * `faults.<kind>`, `unauthorized.<service>` (answers with 401), `streams.<service>.opened`, `.ended`, `.aborted` (the
 * client closed before the end), `.cut` (a fault did) and the gauge `.open`. A half counts only what is its own matter.
 */
export interface Counters {
  /** Adds one. */
  count(name: string): void;
  /** Adds `by`, which may be negative (a gauge). */
  add(name: string, by: number): void;
  get(name: string): number;
}

export type FaultKind =
  | 'latency'
  | 'resetBefore'
  | 'resetAfter'
  | 'cut'
  | 'status'
  | 'html'
  | 'malformedItem'
  | 'midStreamError'
  | 'silence'
  | 'garbage';

/** A disturbance the frame applies around a half's handler; see `faults.ts` for what each kind does. */
export interface Fault {
  kind: FaultKind;
  /** `latency`: how long the request waits, in milliseconds. */
  ms?: number | undefined;
  /** `status`, `html`: the HTTP status of the answer. */
  status?: number | undefined;
  /** The body of the answer: a string as it stands, anything else as JSON. */
  body?: unknown;
  /** `status`, `html`: headers of the answer. */
  headers?: Record<string, string> | undefined;
  /** `cut`, `midStreamError`, `silence`, `garbage`: bytes of the body that pass before. */
  afterBytes?: number | undefined;
}

/**
 * The faults in force. The frame takes and applies them around both handlers: a half need not look at this, and must
 * not apply a fault again.
 */
export interface Faults {
  /** The faults for this request, each counted against its `times`. */
  take(service: Service, req: IncomingMessage): Fault[];
}

/** A model of the inference half, as told in the descriptor and in `GET /v1/models`. */
export interface SandboxModel {
  id: string;
  label: string;
  /** Tokens. */
  contextLength: number;
  /** Tokens. */
  maxOutput: number;
  vision: boolean;
  reasoning: boolean;
  tools: boolean;
}

/** What the inference half's `createInferenceHandler(options): RequestHandler` receives. */
export interface InferenceOptions {
  authenticate: Authenticate;
  counters: Counters;
  /** The models on offer when fewer than all (`--models a,b`); all of them when absent. */
  models?: readonly SandboxModel[] | undefined;
  /** Milliseconds between two tokens of a streamed choice (`--pace-ms`). */
  paceMs?: number | undefined;
  log?: ((line: string) => void) | undefined;
}

export interface SandboxClient {
  id: string;
  secret: string;
  redirectUri: string;
}

export interface SandboxPerson {
  id: string;
  name: string;
  email: string;
  /** One sentence: what this person may do. */
  about: string;
}

/** The one line the program prints when it is ready. */
export interface SandboxDescriptor {
  rolecallSandbox: 1;
  /** Origin of the identity service, no trailing slash. */
  identity: string;
  /** Origin of the inference service, no trailing slash; the paths start with `/v1`. */
  inference: string;
  /** Base address of the control server, with its random key, no trailing slash. */
  control: string;
  clients: { loopback: SandboxClient; link: SandboxClient };
  organizations: string[];
  models: SandboxModel[];
  people: SandboxPerson[];
}

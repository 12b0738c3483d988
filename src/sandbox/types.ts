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

/** Where the test build (`testing/`) listens in. The demo that ships has none of it. */
export interface Hooks {
  /** Stands around a half's handler. */
  around?: (service: Service, handler: RequestHandler) => RequestHandler;
  /** Something happened: adds `by` (one unless given) to what is counted under this name. */
  count?: (name: string, by?: number) => void;
  /** A token, code, verifier, state, nonce or secret went over the wire. */
  onSecret?: (value: string) => void;
  /** The body of a request for a completion that could be read as JSON, before it is judged. */
  onCompletion?: (body: unknown) => void;
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

export interface SandboxClient {
  id: string;
  secret: string;
  redirectUri: string;
}

export interface SandboxPerson {
  id: string;
  name: string;
  email: string;
  /** One sentence: what this person can do. */
  about: string;
}

/** The one line the program prints when it is ready. */
export interface SandboxDescriptor {
  rolecallSandbox: 1;
  /** Origin of the identity service, no trailing slash. */
  identity: string;
  /** Origin of the inference service, no trailing slash; the paths start with `/v1`. */
  inference: string;
  clients: { loopback: SandboxClient; link: SandboxClient };
  organizations: string[];
  models: SandboxModel[];
  people: SandboxPerson[];
  /** What to ask its models first. */
  prompts: readonly string[];
  /** The port of 127.0.0.1 on which each window keeps a connection to a shared sandbox (`shared.ts`). */
  lifeline?: number;
}

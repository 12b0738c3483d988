/**
 * Types that the two services of the sandbox (`identity/server.ts` and `inference/server.ts`) share with `sandbox.ts`,
 * which runs them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type Service = 'identity' | 'inference';

export type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Returns the person who sends a request, by the access token or service token in its `Authorization` header. Returns
 * `undefined` if the header is missing or malformed, or if the token is unknown, expired or superseded. Never throws.
 */
export type Authenticate = (authorizationHeader: string | undefined) => { person: string } | undefined;

/** Lets the test build (`testing/`) observe the services. The demo that ships sets no hooks. */
export interface Hooks {
  /** Wraps the handler of a service. */
  around?: (service: Service, handler: RequestHandler) => RequestHandler;
  /** Adds `by` (1 by default) to the counter with this name. */
  count?: (name: string, by?: number) => void;
  /** Called with each token, code, verifier, state, nonce or secret that is sent or received. */
  onSecret?: (value: string) => void;
  /** Called with the JSON body of each completion request, before it is validated. */
  onCompletion?: (body: unknown) => void;
}

/** A model of the inference service. */
export interface SandboxModel {
  id: string;
  label: string;
  /** In tokens. */
  contextLength: number;
  /** In tokens. */
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
  /** One sentence that says what this person can do. */
  about: string;
}

/** What the program prints, as one line of JSON, when it is ready. */
export interface SandboxDescriptor {
  rolecallSandbox: 1;
  /** Origin of the identity service, without a trailing slash. */
  identity: string;
  /** Origin of the inference service, without a trailing slash. The paths start with `/v1`. */
  inference: string;
  clients: { loopback: SandboxClient; link: SandboxClient };
  organizations: string[];
  models: SandboxModel[];
  people: SandboxPerson[];
  /** Prompts to try first. */
  prompts: readonly string[];
  /** The port of 127.0.0.1 on which a shared sandbox accepts a connection from each window (`shared.ts`). */
  lifeline?: number;
}

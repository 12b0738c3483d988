import type { IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import type { Service } from '../types.ts';

/**
 * | kind             | what happens                                                                                  |
 * |------------------|-----------------------------------------------------------------------------------------------|
 * | `latency`        | the request waits `ms` (1000) before it is processed                                          |
 * | `resetBefore`    | the connection is reset, the request is not processed                                         |
 * | `late`           | the request is processed, and its answer waits `ms` (1000)                                    |
 * | `resetAfter`     | the request is processed, then the connection is reset without an answer                      |
 * | `cut`            | the connection is closed after `afterBytes` of the body (half of its first piece)             |
 * | `status`         | answered with `status` (500), `headers` and `body` (the service's error object); not processed |
 * | `html`           | answered with an HTML page, `status` (502); not processed                                     |
 * | `malformedItem`  | `body` (a number) stands among the items of a JSON array, or of the array in its `data`       |
 * | `midStreamError` | after `afterBytes` (the first piece) one event with `body` (an error object), then the end    |
 * | `silence`        | after `afterBytes` (the first piece) nothing more is sent until the faults are removed        |
 * | `garbage`        | an event that is no JSON after the first; without a stream, a body that is no JSON            |
 */
const FAULT_KINDS = [
  'latency',
  'resetBefore',
  'late',
  'resetAfter',
  'cut',
  'status',
  'html',
  'malformedItem',
  'midStreamError',
  'silence',
  'garbage',
] as const;

const count = z.int().check(z.minimum(0));

const FaultSchema = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  ms: z.optional(count),
  status: z.optional(z.int().check(z.minimum(200), z.maximum(599))),
  body: z.optional(z.unknown()),
  headers: z.optional(z.record(z.string(), z.string())),
  afterBytes: z.optional(count),
});

const RuleSchema = z.extend(FaultSchema, {
  service: z.enum(['identity', 'inference']),
  /** A regular expression searched in path and query. */
  path: z.optional(z.string()),
  method: z.optional(z.string()),
  /** How many requests it meets; null for every one. */
  times: z.optional(z.nullable(z.int().check(z.minimum(1)))),
});

/** A disturbance that stands between a handler and the wire. */
export type Fault = z.infer<typeof FaultSchema>;

/** One entry of the control server's list of faults. */
export type FaultRule = z.infer<typeof RuleSchema>;

/** A fault that was asked for cannot be understood; the message says why. */
export class FaultSyntaxError extends Error {
  override readonly name = 'FaultSyntaxError';
}

/** A single request asks for a fault of its own: a kind, or the fault as JSON. */
const FAULT_HEADER = 'x-rolecall-sandbox-fault';

interface ActiveRule {
  rule: FaultRule;
  path: RegExp | undefined;
  left: number;
}

/** The faults in force. */
export class FaultTable {
  #rules: ActiveRule[] = [];
  #removal = Promise.withResolvers<void>();

  /** Settles when the faults that are in force now are removed. */
  get removed(): Promise<void> {
    return this.#removal.promise;
  }

  /** Adds a rule from outside (`times` is 1 by default). Throws a `FaultSyntaxError`. */
  add(input: unknown): void {
    const rule = understand(RuleSchema, input);
    let path: RegExp | undefined;
    try {
      path = rule.path === undefined ? undefined : new RegExp(rule.path);
    } catch (error) {
      throw new FaultSyntaxError(`path: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#rules.push({ rule, path, left: rule.times === null ? Number.POSITIVE_INFINITY : (rule.times ?? 1) });
  }

  clear(): void {
    this.#rules = [];
    this.#removal.resolve();
    this.#removal = Promise.withResolvers();
  }

  /** The rules in force, `times` being what is left of them. */
  list(): FaultRule[] {
    return this.#rules.map(({ rule, left }) => ({ ...rule, times: Number.isFinite(left) ? left : null }));
  }

  /**
   * Every latency that matches and the first other fault that does. Throws a `FaultSyntaxError` when the request's own
   * fault header cannot be understood.
   */
  take(service: Service, req: IncomingMessage): Fault[] {
    const taken: Fault[] = [];
    let found = false;
    const own = req.headers[FAULT_HEADER];
    if (typeof own === 'string') {
      const fault = fromHeader(own);
      taken.push(fault);
      found = fault.kind !== 'latency';
    }
    for (const active of this.#rules) {
      if (!matches(active, service, req) || (found && active.rule.kind !== 'latency')) continue;
      found ||= active.rule.kind !== 'latency';
      active.left -= 1;
      taken.push(active.rule);
    }
    this.#rules = this.#rules.filter(({ left }) => left > 0);
    return taken;
  }
}

function matches({ rule, path }: ActiveRule, service: Service, req: IncomingMessage): boolean {
  if (rule.service !== service) return false;
  if (rule.method !== undefined && rule.method.toUpperCase() !== req.method) return false;
  return path === undefined || path.test(req.url ?? '/');
}

function fromHeader(value: string): Fault {
  if (!value.trimStart().startsWith('{')) return understand(FaultSchema, { kind: value.trim() });
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new FaultSyntaxError(`The header ${FAULT_HEADER} is not JSON.`);
  }
  return understand(FaultSchema, parsed);
}

function understand<T>(schema: z.ZodMiniType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const told = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown: ${issue.keys.join(', ')}`
      : `${issue.path.join('.') || 'fault'}: ${issue.message}`,
  );
  throw new FaultSyntaxError(told.join('; '));
}

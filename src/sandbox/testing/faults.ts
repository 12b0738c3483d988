import type { IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import type { Service } from '../types.ts';

/**
 * The kinds of faults. Defaults are in parentheses; "default length" is the first chunk of a stream, or half of the
 * first chunk of any other body.
 *
 * | kind             | effect                                                                                        |
 * |------------------|-----------------------------------------------------------------------------------------------|
 * | `latency`        | the request waits for `ms` (1000) before it is processed                                      |
 * | `resetBefore`    | the connection is reset; the request is not processed                                         |
 * | `late`           | the request is processed; its answer waits for `ms` (1000)                                    |
 * | `resetAfter`     | the request is processed; then the connection is reset without an answer                      |
 * | `cut`            | the connection is closed after `afterBytes` (default length) of the body                      |
 * | `status`         | the answer is `status` (500) with `headers` and `body` (an error object); not processed       |
 * | `html`           | the answer is an HTML page with `status` (502); not processed                                 |
 * | `malformedItem`  | `body` (a number) is inserted into a JSON array, or into the array in its `data`              |
 * | `midStreamError` | after `afterBytes` (first chunk), the stream ends with `body` (an error object) as last event |
 * | `silence`        | nothing is sent after `afterBytes` (default length) until the faults are removed              |
 * | `garbage`        | a stream has an event that is not JSON after the first event; any other body is not JSON      |
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
  /** A regular expression that is matched against path and query. */
  path: z.optional(z.string()),
  method: z.optional(z.string()),
  /** How many requests the fault applies to; null for all. */
  times: z.optional(z.nullable(z.int().check(z.minimum(1)))),
});

/** A failure that is injected between a handler and the network. */
export type Fault = z.infer<typeof FaultSchema>;

/** A fault in the list of the control server, with the requests that it applies to. */
export type FaultRule = z.infer<typeof RuleSchema>;

/** A requested fault is invalid. The message says why. */
export class FaultSyntaxError extends Error {
  override readonly name = 'FaultSyntaxError';
}

/** Requests a fault for a single request: a kind, or the fault as JSON. */
const FAULT_HEADER = 'x-rolecall-sandbox-fault';

interface ActiveRule {
  rule: FaultRule;
  path: RegExp | undefined;
  left: number;
}

/** The active faults. */
export class FaultTable {
  #rules: ActiveRule[] = [];
  #removal = Promise.withResolvers<void>();

  /** Resolves when the faults that are active now are removed. */
  get removed(): Promise<void> {
    return this.#removal.promise;
  }

  /** Validates and adds a rule; `times` is 1 by default. @throws FaultSyntaxError when it is invalid. */
  add(input: unknown): void {
    const rule = parse(RuleSchema, input);
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

  /** The active rules. `times` is the number of requests that are left. */
  list(): FaultRule[] {
    return this.#rules.map(({ rule, left }) => ({ ...rule, times: Number.isFinite(left) ? left : null }));
  }

  /**
   * Takes the faults for a request: every matching latency and the first matching fault of any other kind.
   *
   * @throws FaultSyntaxError when the fault header of the request is invalid.
   */
  take(service: Service, req: IncomingMessage): Fault[] {
    const faults: Fault[] = [];
    let hasOtherFault = false;
    const header = req.headers[FAULT_HEADER];
    if (typeof header === 'string') {
      const fault = fromHeader(header);
      faults.push(fault);
      hasOtherFault = fault.kind !== 'latency';
    }
    for (const active of this.#rules) {
      if (!matches(active, service, req) || (hasOtherFault && active.rule.kind !== 'latency')) continue;
      hasOtherFault ||= active.rule.kind !== 'latency';
      active.left -= 1;
      faults.push(active.rule);
    }
    this.#rules = this.#rules.filter(({ left }) => left > 0);
    return faults;
  }
}

function matches({ rule, path }: ActiveRule, service: Service, req: IncomingMessage): boolean {
  if (rule.service !== service) return false;
  if (rule.method !== undefined && rule.method.toUpperCase() !== req.method) return false;
  return path === undefined || path.test(req.url ?? '/');
}

function fromHeader(value: string): Fault {
  if (!value.trimStart().startsWith('{')) return parse(FaultSchema, { kind: value.trim() });
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new FaultSyntaxError(`The header ${FAULT_HEADER} is not JSON.`);
  }
  return parse(FaultSchema, parsed);
}

function parse<T>(schema: z.ZodMiniType<T>, input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? `unknown: ${issue.keys.join(', ')}`
      : `${issue.path.join('.') || 'fault'}: ${issue.message}`,
  );
  throw new FaultSyntaxError(problems.join('; '));
}

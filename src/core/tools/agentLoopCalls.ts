import { isCancelled } from '../base/errors.ts';
import type { ToolCall } from '../base/json.ts';
import type {
  AgentLoopEvent,
  AgentLoopOptions,
  AgentTool,
  CheckedCall,
  RefusalReason,
  ToolResult,
} from './agentLoopTypes.ts';

/** A call, what the history repeats of its arguments, and what is to be done. */
export interface PlannedCall {
  readonly call: ToolCall;
  readonly replay: string;
  readonly plan:
    | { readonly kind: 'run'; readonly call: CheckedCall }
    | { readonly kind: 'refuse'; readonly reason: RefusalReason; readonly content: string };
}

/** Decides about a call; what is wrong with it becomes a result for the model. */
export function planCall<D>(call: ToolCall, tools: readonly AgentTool<D>[]): PlannedCall {
  const args = call.parsed;
  const replay = args === undefined ? '{}' : call.arguments;
  const refuse = (reason: RefusalReason, content: string): PlannedCall => {
    return { call, replay, plan: { kind: 'refuse', reason, content } };
  };
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    const known = tools.map(({ name }) => name).join(', ');
    return refuse('unknownTool', `There is no tool "${call.name}". The tools are: ${known === '' ? 'none' : known}.`);
  }
  if (args === undefined) {
    return refuse(
      'invalidJson',
      `The arguments are not a JSON object, so nothing was run. They were: ${call.arguments}`,
    );
  }
  const errors = tool.check(args);
  if (errors.length > 0) {
    return refuse('invalidArguments', `The arguments do not fit the tool, so nothing was run. ${errors.join(' ')}`);
  }
  return { call, replay, plan: { kind: 'run', call: { id: call.id, name: call.name, arguments: args } } };
}

interface Ended {
  readonly index: number;
  readonly call: CheckedCall;
  readonly result: ToolResult;
  readonly cancelled: boolean;
}

const cancelledResult: ToolResult = { content: 'Cancelled by the user before it was done.', isError: true };

/** Runs the calls, at most `maxParallel` at one time, and returns a result for each, also after an abort. */
export async function* runCalls<E, M, D>(
  planned: readonly PlannedCall[],
  { invoke, signal, maxParallel = 4 }: Pick<AgentLoopOptions<E, M, D>, 'invoke' | 'signal' | 'maxParallel'>,
): AsyncGenerator<AgentLoopEvent<E>, readonly string[], void> {
  const results = planned.map(() => 'Not run: cancelled by the user.');
  const running = new Map<number, Promise<Ended>>();
  let begun = 0;
  while (running.size > 0 || (begun < planned.length && !signal.aborted)) {
    const next = running.size < maxParallel && !signal.aborted ? planned[begun] : undefined;
    if (next !== undefined) {
      const index = begun++;
      const { call, plan } = next;
      if (plan.kind === 'refuse') {
        results[index] = plan.content;
        yield { type: 'toolRefused', call, reason: plan.reason, content: plan.content };
      } else {
        yield { type: 'toolStarted', call: plan.call };
        running.set(index, settle(index, plan.call, invoke, signal));
      }
      continue;
    }
    const { index, call, result, cancelled } = await Promise.race(running.values());
    running.delete(index);
    results[index] = result.content;
    if (result.refused === true) {
      const raw = planned[index]?.call ?? { ...call, arguments: '{}' };
      yield { type: 'toolRefused', call: raw, reason: 'user', content: result.content };
    } else yield { type: 'toolFinished', call, result, cancelled };
  }
  return results;
}

/** Never rejects, and does not wait for a call that does not heed the signal. */
function settle(
  index: number,
  call: CheckedCall,
  invoke: (call: CheckedCall, signal: AbortSignal) => Promise<ToolResult>,
  signal: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve) => {
    const done = (result: ToolResult, cancelled: boolean): void => {
      signal.removeEventListener('abort', abort);
      resolve({ index, call, result, cancelled });
    };
    const abort = (): void => done(cancelledResult, true);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    // The wrapper turns a synchronous throw into a rejection.
    (async () => invoke(call, signal))().then(
      (result) => done(result, false),
      (error: unknown) => done(...failure(error, signal)),
    );
  });
}

function failure(error: unknown, signal: AbortSignal): [ToolResult, boolean] {
  if (signal.aborted) return [cancelledResult, true];
  if (isCancelled(error))
    return [{ content: 'The user did not let this call run.', isError: true, refused: true }, false];
  return [
    { content: `The tool failed: ${error instanceof Error ? error.message : String(error)}`, isError: true },
    false,
  ];
}

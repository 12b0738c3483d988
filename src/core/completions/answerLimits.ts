import { originOf } from '../base/http.ts';
import type { CompletionAssembler } from './assemble.ts';
import { enough } from './body.ts';
import { type Deadlines, type Limit, timedOut, type Watch } from './watch.ts';
import { seconds } from './words.ts';

/** What is waited for, and for how long. */
export interface Waiting {
  readonly watch: Watch;
  readonly url: string;
  readonly deadlines: Deadlines;
}

/**
 * How long to wait for usage and `[DONE]` once every choice has finished, in milliseconds, whatever keep-alives come. A
 * late piece of the answer begins it anew.
 */
const AFTER_FINISH_MS = 5_000;
/** How long to wait for the end of the body after `[DONE]`, in milliseconds. */
const AFTER_DONE_MS = 100;

/** Which deadlines run, by how far the answer has come; each step is taken once. */
export function deadlineSteps(assembler: CompletionAssembler, waiting: Waiting) {
  const { watch, deadlines } = waiting;
  let state: 'waiting' | 'begun' | 'finished' = 'waiting';
  let pieces = 0;
  return (done: boolean) => {
    if (done) {
      watch.arm({ ms: AFTER_DONE_MS, reason: enough });
    } else if (assembler.finished && state !== 'finished') {
      state = 'finished';
      watch.arm({ ms: Math.min(AFTER_FINISH_MS, deadlines.idleMs), reason: enough, renewedBy: 'piece' });
    } else if (assembler.begun && state === 'waiting') {
      state = 'begun';
      watch.arm(silence(waiting), keepAlivesOnly(waiting));
    } else if (assembler.pieces > pieces) {
      watch.renew('piece');
    }
    pieces = assembler.pieces;
  };
}

export function noFirstEvent({ url, deadlines: { firstEventMs: ms } }: Waiting): Limit {
  const message = `${originOf(url)} took the request, but no answer began within ${seconds(ms)}. Try again, or allow more time for models that think long.`;
  return { ms, reason: timedOut(message, 'firstEvent') };
}

export function silence({ url, deadlines: { idleMs: ms } }: Waiting): Limit {
  const message = `The answer stopped: ${originOf(url)} sent nothing for ${seconds(ms)}, so the connection was closed. What had come stays.`;
  return { ms, reason: timedOut(message, 'idle'), renewedBy: 'byte' };
}

function keepAlivesOnly({ url, deadlines }: Waiting): Limit {
  const ms = Math.max(deadlines.firstEventMs, deadlines.idleMs);
  const message = `The answer stopped: ${originOf(url)} kept the connection open but sent no more of it for ${seconds(ms)}, so it was closed. What had come stays. Try again, or allow more time for models that think long.`;
  return { ms, reason: timedOut(message, 'firstEvent'), renewedBy: 'piece' };
}

import { errorBody } from './faultAnswers.ts';
import type { Output } from './output.ts';
import type { Fault, Service } from './types.ts';

/** What a fault does with the bytes of an answer. */
export interface Disturbance {
  onChunk(chunk: Buffer): void;
  onEnd(): void;
}

/** The kinds of `faults.ts` that let the request be processed. */
export function disturbanceOf(fault: Fault, service: Service, output: Output): Disturbance {
  switch (fault.kind) {
    case 'resetAfter':
      return { onChunk: () => undefined, onEnd: () => output.reset() };
    case 'cut':
      return upTo(fault, output, () => output.cut());
    case 'silence':
      return upTo(fault, output, () => undefined);
    case 'midStreamError':
      return midStreamError(fault, service, output);
    case 'garbage':
      return garbage(fault, output);
    default:
      return malformedItem(fault, output);
  }
}

/** Lets `afterBytes` pass (without it: the first piece of a stream, half of any other body) and then stops. */
function upTo(fault: Fault, output: Output, stop: () => void): Disturbance {
  let left = fault.afterBytes;
  let stopped = false;
  const stopOnce = (): void => {
    if (!stopped) stop();
    stopped = true;
  };
  return {
    onChunk: (chunk) => {
      if (stopped) return;
      left ??= output.streams ? chunk.length : Math.ceil(chunk.length / 2);
      if (left > 0) output.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) stopOnce();
    },
    onEnd: stopOnce,
  };
}

/** The pieces of a stream are whole events: the error comes after the piece in which `afterBytes` end. */
function midStreamError(fault: Fault, service: Service, output: Output): Disturbance {
  let left = fault.afterBytes ?? 1;
  let over = false;
  const finish = (): void => {
    if (over) return;
    over = true;
    output.write(Buffer.from(`data: ${JSON.stringify(fault.body ?? errorBody(service, 500))}\n\n`));
    output.end();
  };
  return {
    onChunk: (chunk) => {
      if (over) return;
      output.write(chunk);
      left -= chunk.length;
      if (left <= 0) finish();
    },
    onEnd: finish,
  };
}

function garbage(fault: Fault, output: Output): Disturbance {
  const rubbish = typeof fault.body === 'string' ? fault.body : '{"choices":[{"delta":\u0000';
  let left = fault.afterBytes ?? 1;
  let done = false;
  return {
    onChunk: (chunk) => {
      if (output.streams) output.write(chunk);
      left -= chunk.length;
      if (done || left > 0) return;
      done = true;
      output.write(Buffer.from(output.streams ? `data: ${rubbish}\n\n` : rubbish));
    },
    onEnd: () => {
      if (!done) output.write(Buffer.from(rubbish));
      output.end();
    },
  };
}

/** Waits for the whole body and puts one item that is none in the middle of its array. */
function malformedItem(fault: Fault, output: Output): Disturbance {
  const chunks: Buffer[] = [];
  return {
    onChunk: (chunk) => {
      chunks.push(chunk);
    },
    onEnd: () => {
      output.write(withMalformedItem(Buffer.concat(chunks), fault.body ?? 42));
      output.end();
    },
  };
}

function withMalformedItem(body: Buffer, item: unknown): Buffer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return body;
  }
  const list = Array.isArray(parsed) ? parsed : (parsed as { data?: unknown } | null)?.data;
  if (!Array.isArray(list)) return body;
  list.splice(Math.floor(list.length / 2), 0, item);
  return Buffer.from(JSON.stringify(parsed));
}

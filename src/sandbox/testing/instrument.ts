import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { sendJson, target } from '../http.ts';
import type { RequestHandler, Service } from '../types.ts';
import type { CounterTable } from './control.ts';
import { cutByFault, errorBody, injectFault, respondWithFault } from './faultEffects.ts';
import { type Fault, FaultSyntaxError, type FaultTable } from './faults.ts';

/** What is added to the handler of a service: counters and faults. */
export interface Instruments {
  counters: CounterTable;
  faults: FaultTable;
  log?: ((line: string) => void) | undefined;
}

export function instrument(service: Service, handler: RequestHandler, instruments: Instruments): RequestHandler {
  return (req, res) => {
    observe(service, req, res, instruments);
    let faults: Fault[];
    try {
      faults = instruments.faults.take(service, req);
    } catch (error) {
      if (!(error instanceof FaultSyntaxError)) throw error;
      sendJson(res, 400, { error: 'invalid_request', error_description: error.message });
      return;
    }
    for (const fault of faults) instruments.counters.count(`faults.${fault.kind}`);
    handleWithFaults(service, handler, faults, instruments.faults.removed, req, res).catch((error: unknown) => {
      instruments.log?.(`${service}: ${error instanceof Error ? error.stack : String(error)}`);
      if (res.headersSent) res.destroy();
      else sendJson(res, 500, errorBody(service, 500, 'A defect of the sandbox; see its log.'));
    });
  };
}

async function handleWithFaults(
  service: Service,
  handler: RequestHandler,
  faults: readonly Fault[],
  removed: Promise<void>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  for (const fault of faults) if (fault.kind === 'latency') await wait(fault.ms ?? 1000);
  if (res.destroyed) return;
  const fault = faults.find(({ kind }) => kind !== 'latency');
  if (fault?.kind === 'resetBefore') {
    req.socket.resetAndDestroy();
  } else if (fault?.kind === 'status' || fault?.kind === 'html') {
    respondWithFault(fault, service, req, res);
  } else {
    if (fault !== undefined) injectFault(fault, service, res, removed);
    handler(req, res);
  }
}

/** Counts the request, the status of its answer and, if the answer is an event stream, how the stream ended. */
function observe(service: Service, req: IncomingMessage, res: ServerResponse, { counters }: Instruments): void {
  counters.count(`requests.${service}`);
  counters.count(`${service} ${req.method} ${routeName(target(req).path)}`);
  counters.count(`host ${req.headers.host ?? ''}`);
  const original = res.writeHead;
  res.writeHead = ((status: number, ...rest: []) => {
    res.writeHead = original;
    const result = original.call(res, status, ...rest);
    counters.count(`status.${service}.${status}`);
    if (status === 401) counters.count(`unauthorized.${service}`);
    if (isEventStream(res, rest)) observeStream(service, res, counters);
    return result;
  }) as typeof res.writeHead;
}

function isEventStream(res: ServerResponse, writeHeadArguments: readonly unknown[]): boolean {
  const headers = writeHeadArguments.find((argument) => typeof argument === 'object' && argument !== null);
  const contentType = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return String(contentType ?? res.getHeader('content-type') ?? '').startsWith('text/event-stream');
}

function observeStream(service: Service, res: ServerResponse, counters: CounterTable): void {
  counters.count(`streams.${service}.opened`);
  counters.count(`streams.${service}.open`, 1);
  res.once('close', () => {
    counters.count(`streams.${service}.open`, -1);
    if (res.writableFinished) counters.count(`streams.${service}.ended`);
    else counters.count(`streams.${service}.${cutByFault.has(res) ? 'cut' : 'aborted'}`);
  });
}

/** The path without the ids of individual sign-ins. */
function routeName(path: string): string {
  return path.replace(/^\/sign-in\/[^/]+$/, '/sign-in/:uid');
}

import type { Fetch } from '../base/http.ts';
import { withoutValues } from '../base/redact.ts';
import { ServerSentEventReader } from '../completions/serverSentEvents.ts';
import type { RawEvent } from './runResults.ts';

/** What was recorded of one request; of several attempts, the last. Headers are not kept: one is the token. */
export interface Recording {
  /** The bytes that were sent, as text. */
  body?: string;
  /** By the clock that was given. */
  sentAt?: number;
  readonly events: RawEvent[];
  /** Resolves when all events of the answer are noted. */
  whole: Promise<void>;
}

export interface RecordingOptions {
  readonly now: () => number;
  readonly withEvents: boolean;
  /** Told of the body of each request as it is sent. */
  readonly onSend?: ((body: string) => void) | undefined;
}

/** The most that is kept of an answer, in UTF-16 units. */
const MAX_RAW = 8 * 1024 * 1024;

/** A `fetch` that notes what it sends and, where asked to, the events that come back with their times. */
export function recordingFetch(
  fetch: Fetch,
  { now, withEvents, onSend }: RecordingOptions,
): { readonly fetch: Fetch; readonly recording: Recording } {
  const recording: Recording = { events: [], whole: Promise.resolve() };
  const recorded: Fetch = async (url, init) => {
    const sentAt = now();
    if (typeof init?.body === 'string') {
      recording.body = init.body;
      onSend?.(init.body);
    }
    recording.sentAt = sentAt;
    recording.events.length = 0;
    const response = await fetch(url, init);
    if (withEvents && response.ok) {
      const token = new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '');
      const add = (data: string) => {
        recording.events.push({ atMs: Math.round(now() - sentAt), data: withoutValues(data, [token]) });
      };
      // The reader of the answer reports what goes wrong with it.
      recording.whole = readEvents(response.clone(), add).catch(() => {});
    }
    return response;
  };
  return { fetch: recorded, recording };
}

async function readEvents(response: Response, add: (data: string) => void): Promise<void> {
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
  const reader = new ServerSentEventReader();
  const decoder = new TextDecoder();
  let whole = '';
  let length = 0;
  for await (const bytes of response.body ?? []) {
    const text = decoder.decode(bytes as Uint8Array, { stream: true });
    length += text.length;
    if (length > MAX_RAW) return;
    if (!isStream) whole += text;
    else for (const { data } of reader.read(text)) add(data);
  }
  if (!isStream) add(whole);
  else for (const { data } of reader.end()) add(data);
}

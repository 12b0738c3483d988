import * as l10n from '@vscode/l10n';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { RolecallError } from '../base/errors.ts';

/** One event of a `text/event-stream` body. */
export interface ServerSentEvent {
  /** The `event:` field; absent when the stream did not name one. */
  readonly type?: string;
  readonly data: string;
  /** The body ended before the blank line that ends an event: `data` may have been cut. */
  readonly atEnd: boolean;
}

/** The longest event that is read, in UTF-16 units: far above what a service sends, far below what would hurt. */
export const MAX_EVENT_LENGTH = 16 * 1024 * 1024;

/**
 * Pieces of text -> the events in them, per the server-sent-events standard: lines end at CR, LF or CRLF only, comments
 * and empty blocks are skipped. Two departures: bare JSON and markup are events, and a last event whose blank line never came is still given, marked `atEnd`,
 * because servers end the body right after `data: [DONE]`.
 *
 * Not a generator like its neighbours: a stream may bring each token in a packet of its own, and every asynchronous stage
 * costs about a quarter of what parsing the token's JSON costs.
 */
export class ServerSentEventReader {
  readonly #parser: EventSourceParser;
  #events: ServerSentEvent[] = [];
  #atEnd = false;
  #overflow = false;
  #isAtLineStart = true;
  /** Within a line that is no field, see {@link asEvents}. */
  #isStray = false;

  constructor(maxLength = MAX_EVENT_LENGTH) {
    this.#parser = createParser({
      maxBufferSize: maxLength,
      onEvent: ({ event, data }) => {
        this.#events.push(
          event === undefined ? { data, atEnd: this.#atEnd } : { type: event, data, atEnd: this.#atEnd },
        );
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded') this.#overflow = true;
      },
    });
  }

  /** @throws RolecallError `protocol` when one event is too long. */
  read(text: string): readonly ServerSentEvent[] {
    this.#events = [];
    this.#parser.feed(this.#asEvents(text));
    if (this.#overflow) throw new RolecallError('protocol', l10n.t('The service sent an event that is too large.'));
    return this.#events;
  }

  /**
   * `text` with lines that are not part of the format as events of their own: bare JSON and markup, by which a service
   * or a proxy reports an error, and which the standard skips as unknown fields.
   */
  #asEvents(text: string): string {
    const isAtLineStart = this.#isAtLineStart;
    if (text !== '') this.#isAtLineStart = endsLine(text);
    const mayBegin = (isAtLineStart && /^[{<]/.test(text)) || holdsStrayLine(text);
    if (!this.#isStray && !mayBegin) return text;
    let events = '';
    let begins = isAtLineStart;
    for (const line of text.split(/(?<=[\r\n])/)) {
      if (begins && /^[{<]/.test(line)) {
        this.#isStray = true;
        events += '\n\ndata: ';
      }
      events += line;
      begins = endsLine(line);
      if (begins && this.#isStray) {
        this.#isStray = false;
        events += '\n\n';
      }
    }
    return events;
  }

  /** What was still open when the body ended: one event or none. */
  end(): readonly ServerSentEvent[] {
    this.#atEnd = true;
    return this.read('\n\n');
  }
}

/** Whether a line in the text begins as no field does. A regular expression for all of it would take as long as parsing. */
function holdsStrayLine(text: string): boolean {
  return text.includes('\n{') || text.includes('\n<') || (text.includes('\r') && /\r[{<]/.test(text));
}

/** By its last character: a regular expression would look at all of them. */
function endsLine(text: string): boolean {
  return text.endsWith('\n') || text.endsWith('\r');
}

import * as l10n from '@vscode/l10n';
import { isJsonObject } from '../base/json.ts';

/** Headers that the user adds to every request to the inference service, for a gateway in front of it. */
export interface ExtraHeaders {
  /** Can be sent; no two names differ only in case. */
  readonly headers: Readonly<Record<string, string>>;
  /** One sentence for each header that is not sent. Contains no value. */
  readonly problems: readonly string[];
}

/**
 * Headers of Rolecall itself, of the connection (RFC 9110 section 7.6.1, RFC 9113 section 8.2.2) and of `fetch` (Fetch
 * standard, "forbidden request-header"). Cookies too: a sign-in belongs into the secret store, not into settings.
 */
const RESERVED =
  /^(?:authorization|cookie2?|host|accept|expect|connection|keep-alive|te|trailer|transfer-encoding|upgrade|http2-settings|(?:content|proxy|sec)-.*)$/i;
/** RFC 9110 section 5.6.2, token. */
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** RFC 9110 section 5.5, without bytes beyond ASCII, which servers read differently. */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Servers refuse larger headers, and not always in words. */
const MAX_LENGTH = 8192;

/** Reads `rolecall.inference.headers`. Invalid headers are left out, and the rest is still sent. */
export function readExtraHeaders(written: unknown): ExtraHeaders {
  if (written === undefined || written === null) return { headers: {}, problems: [] };
  if (!isJsonObject(written)) {
    return { headers: {}, problems: [l10n.t('rolecall.inference.headers must be an object of names and values.')] };
  }
  const headers = new Map<string, readonly [name: string, value: string]>();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(written)) {
    const problem = problemOf(name, value, headers.has(name.toLowerCase()));
    if (problem === undefined) headers.set(name.toLowerCase(), [name, value as string]);
    else problems.push(problem);
  }
  return { headers: Object.fromEntries(headers.values()), problems };
}

function problemOf(name: string, value: unknown, isRepeated: boolean): string | undefined {
  const shown = JSON.stringify(name);
  if (!NAME.test(name)) {
    return l10n.t('The header {0} is not sent, because its name is not valid. Use letters, digits and hyphens.', shown);
  }
  if (RESERVED.test(name)) {
    return l10n.t('The header {0} is not sent, because Rolecall or the connection sets it.', shown);
  }
  if (isRepeated) return l10n.t('The header {0} is not sent, because it is set twice.', shown);
  if (typeof value !== 'string' || !VALUE.test(value) || value.length > MAX_LENGTH) {
    return l10n.t('The header {0} is not sent, because its value is not text on one line.', shown);
  }
  return undefined;
}

import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';
import { argumentValue, parseTemplate, type TemplatePart, valueText } from './templates.ts';

/**
 * Templates of addresses. Scheme, host and port are fixed text; `${name}` may stand in the path and in the query, where
 * the value is percent-encoded so that it stays inside its segment or its side of a `name=value` pair (RFC 3986
 * sections 2.1 and 3). No value can add a segment, climb up with `..`, begin a query or lead to another host.
 */
export interface UrlTemplate {
  readonly kind: 'ok';
  /** Scheme, host and port as `URL.origin` writes them. */
  readonly origin: string;
  readonly segments: readonly (readonly TemplatePart[])[];
  /** The pairs of the query; none when there is no query. */
  readonly pairs: readonly (readonly TemplatePart[])[];
}

export function parseUrlTemplate(
  template: string,
): UrlTemplate | { readonly kind: 'invalid'; readonly message: string } {
  const parsed = parseTemplate(template);
  if (parsed.kind === 'invalid') return parsed;
  const [first, ...rest] = parsed.parts;
  const start = /^(https?:\/\/[^/?#]*)([/?#].*)?$/is.exec(first?.kind === 'text' ? first.text : '');
  const authority = start?.[1];
  if (authority === undefined)
    return invalid(l10n.t('The URL must begin with "https://" (or "http://") and a fixed host.'));
  const after = start?.[2] ?? '';
  if (after === '' && rest.length > 0) {
    return invalid(
      l10n.t(
        'The URL must not contain a parameter before the path, because the destination of the request must be fixed.',
      ),
    );
  }
  const origin = originOf(authority);
  if (origin === undefined) return invalid(l10n.t('The URL must have a host, without a user name or a password.'));
  const parts: TemplatePart[] = [{ kind: 'text', text: after }, ...rest];
  const problem = parts.map(textProblem).find((found) => found !== undefined);
  if (problem !== undefined) return invalid(problem);
  const [path = [], ...query] = splitOnce(parts);
  return {
    kind: 'ok',
    origin,
    segments: splitAll(path, '/').slice(1),
    pairs: query.flatMap((each) => splitAll(each, '&')),
  };
}

/**
 * - A parameter in the path is required and must not be empty; a segment must not become `.` or `..`.
 * - A pair of the query with a missing parameter is left out.
 *
 * @throws {RolecallError} kind `tool`; the message is for the model and the user, in English.
 */
export function fillUrl(template: string, args: Readonly<Record<string, unknown>>): URL {
  const parsed = parseUrlTemplate(template);
  if (parsed.kind === 'invalid') throw new RolecallError('tool', parsed.message);
  const path = parsed.segments.map((segment) => `/${fillSegment(segment, args)}`).join('');
  const pairs = parsed.pairs
    .filter((pair) => pair.every((part) => part.kind === 'text' || argumentValue(args, part.name) !== undefined))
    .map((pair) => pair.map((part) => encoded(part, args)).join(''));
  const url = new URL(`${parsed.origin}${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`);
  if (url.origin === parsed.origin) return url;
  throw new RolecallError('unexpected', 'A filled address leads to another host.');
}

function fillSegment(segment: readonly TemplatePart[], args: Readonly<Record<string, unknown>>): string {
  const names = segment.flatMap((part) => (part.kind === 'parameter' ? [part.name] : []));
  for (const name of names) {
    if (valueText(args, name) !== '') continue;
    throw new RolecallError('tool', `The value of "${name}" is part of the path and must not be empty.`);
  }
  const filled = segment.map((part) => encoded(part, args)).join('');
  // The URL standard takes `%2e` for a dot when it resolves a path.
  if (names.length > 0 && /^(?:\.|%2e){1,2}$/i.test(filled)) {
    throw new RolecallError('tool', `The value of "${names[0]}" must not turn a path segment into "." or "..".`);
  }
  return filled;
}

function encoded(part: TemplatePart, args: Readonly<Record<string, unknown>>): string {
  return part.kind === 'text' ? part.text : encodeURIComponent(valueText(args, part.name));
}

function originOf(authority: string): string | undefined {
  if (/[@${}\\\s\p{C}]/u.test(authority) || !URL.canParse(authority)) return undefined;
  return new URL(authority).origin;
}

/** What would let a value change the meaning of the text beside it, or never be sent. */
function textProblem(part: TemplatePart): string | undefined {
  if (part.kind !== 'text') return undefined;
  if (part.text.includes('#')) {
    return l10n.t('The URL must not contain "#", because nothing after it is sent. Write %23 for the character.');
  }
  if (/[\\\s\p{C}]/u.test(part.text)) {
    return l10n.t('The URL must not contain spaces, backslashes or control characters.');
  }
  // `%2${x}` would let the value end the escape.
  if (/%(?![0-9a-f]{2})/i.test(part.text))
    return l10n.t('"%" must be followed by two hexadecimal digits. Write %25 for the character.');
  return undefined;
}

/** At the first `?`: the path, then the query if there is one. */
function splitOnce(parts: readonly TemplatePart[]): TemplatePart[][] {
  const [path = [], ...more] = splitAll(parts, '?');
  if (more.length === 0) return [path];
  const query = more.flatMap((each, index): TemplatePart[] =>
    index === 0 ? each : [{ kind: 'text', text: '?' }, ...each],
  );
  return [path, query];
}

/** Splits at a character of the template's own text, never of a value. */
function splitAll(parts: readonly TemplatePart[], separator: string): TemplatePart[][] {
  const pieces: TemplatePart[][] = [[]];
  for (const part of parts) {
    if (part.kind === 'parameter') {
      pieces.at(-1)?.push(part);
      continue;
    }
    for (const [index, text] of part.text.split(separator).entries()) {
      if (index > 0) pieces.push([]);
      if (text !== '') pieces.at(-1)?.push({ kind: 'text', text });
    }
  }
  return pieces;
}

function invalid(message: string): { kind: 'invalid'; message: string } {
  return { kind: 'invalid', message };
}

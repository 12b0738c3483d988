import { isJsonObject } from '../base/json.ts';
import { type CompletionParameters, requestFields, unknownFields } from './request.ts';
import { checkParameters } from './requestSchema.ts';

/** Parameters as somebody wrote them in one place, unchecked. */
export interface ParameterLayer<Source> {
  readonly source: Source;
  readonly value: unknown;
  /** Fields that the specification does not know are not taken from here: who wrote them may be a stranger. */
  readonly isForeign?: boolean;
}

/** What became of one field that somebody wrote. */
export interface ParameterEntry<Source> {
  readonly field: string;
  readonly value: unknown;
  /** Where it was written, the place that decides last. Several where members of an object were joined. */
  readonly sources: readonly Source[];
  /** Why it is not sent, in a plain sentence. */
  readonly problem?: string;
  /** False for what the specification does not know; it is sent as it is. */
  readonly isSpecified: boolean;
}

export interface ResolvedParameters<Source> {
  /** Exactly what is sent, apart from the fields of Rolecall's own. */
  readonly parameters: CompletionParameters;
  /** Every field that was written, in the order of the specification. */
  readonly entries: readonly ParameterEntry<Source>[];
}

/** What makes a request, and so cannot be a parameter of all of them. */
const reserved: Readonly<Record<string, string>> = {
  model: 'The model is picked, not set here.',
  messages: 'The messages are the conversation.',
  tools: 'Tools are defined in the workspace’s tool file.',
};

/** Those of the specification's fields for which `null` is a value (specification, "Chat completion request"). */
const nullable: readonly string[] = ['logit_bias', 'stream_options'];

/**
 * One set of parameters out of several places, of which a later one counts more. Objects (`logit_bias`) are joined member
 * by member, as VS Code joins settings. `null` takes back what an earlier place wrote, except where it is a value of its
 * own. What cannot be sent is left out with its problem; the rest is sent all the same.
 */
export function resolveParameters<Source>(layers: readonly ParameterLayer<Source>[]): ResolvedParameters<Source> {
  const written = new Map<string, { value: unknown; sources: Source[] }>();
  const ignored: ParameterEntry<Source>[] = [];
  for (const { source, value, isForeign } of layers) {
    if (!isJsonObject(value)) continue;
    for (const [field, one] of Object.entries(value)) {
      if (isForeign && !isKnown(field)) {
        ignored.push({ field, value: one, sources: [source], isSpecified: false, problem: FOREIGN });
        continue;
      }
      const before = written.get(field);
      const joins = isJsonObject(one) && isJsonObject(before?.value);
      written.set(field, {
        value: joins ? { ...(before?.value as object), ...one } : one,
        sources: joins ? [...(before?.sources ?? []), source] : [source],
      });
    }
  }
  const entries = [...written]
    .filter(([field, { value }]) => value !== null || nullable.includes(field))
    .map(([field, { value, sources }]): ParameterEntry<Source> => {
      const problem = problemOf(field, value);
      return { field, value, sources, isSpecified: isKnown(field), ...(problem !== undefined && { problem }) };
    })
    .concat(ignored)
    .sort((one, other) => placeOf(one.field) - placeOf(other.field));
  const sent = entries.filter(({ problem }) => problem === undefined);
  return {
    parameters: Object.fromEntries(sent.map(({ field, value }) => [field, value])) as CompletionParameters,
    entries,
  };
}

const FOREIGN = 'The specification does not know it, so it is taken from the user’s own settings only.';

function isKnown(field: string): boolean {
  return unknownFields({ [field]: undefined }).length === 0;
}

function problemOf(field: string, value: unknown): string | undefined {
  const taken = Object.hasOwn(reserved, field) ? reserved[field] : undefined;
  if (taken !== undefined) return taken;
  const checked = checkParameters({ [field]: value });
  return checked.ok ? undefined : checked.problems.map(({ message }) => message).join(' ');
}

function placeOf(field: string): number {
  const place = (requestFields as readonly string[]).indexOf(field);
  return place < 0 ? requestFields.length : place;
}

import { maxSchemaLength, type ParametersSchema } from './definition.ts';
import type { SchemaFault } from './validate.ts';

/**
 * What in a schema would keep ajv from checking by it, rather than be checked by:
 *
 * - `$async` makes the validator answer with a promise, which is no yes and no no.
 * - `$schema` chooses what the schema itself is checked against, down to a part of the meta-schema that allows anything.
 * - `$data` and remote references need no entry: the first is off, so that its object is no valid value of a keyword,
 *   and nothing is ever fetched. How long a schema or a pattern takes is bounded where it is used.
 */
export function switchFaults(schema: ParametersSchema): SchemaFault[] {
  const faults = asyncFaults(schema, []);
  const { $schema } = schema;
  if ($schema !== undefined && !(typeof $schema === 'string' && draft07.test($schema))) {
    faults.push({ path: ['$schema'], message: 'is not supported; use JSON Schema draft-07, or leave it out' });
  }
  if (JSON.stringify(schema).length > maxSchemaLength) {
    faults.push({ path: [], message: `is longer than ${maxSchemaLength} characters` });
  }
  return faults;
}

const draft07 = /^http:\/\/json-schema\.org\/(?:draft-07\/)?schema#?$/;

/** Keywords whose value is data. */
const holdsData: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose value has names of the author's own as its members. */
const holdsNames: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'patternProperties',
  'properties',
]);

function asyncFaults(schema: unknown, path: readonly string[]): SchemaFault[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]): SchemaFault[] => {
    const here = [...path, keyword];
    if (keyword === '$async') return [{ path: here, message: 'would switch off the check of the arguments' }];
    if (holdsData.has(keyword)) return [];
    if (!holdsNames.has(keyword)) return asyncFaults(value, here);
    return Object.entries(Object(value)).flatMap(([name, member]) => asyncFaults(member, [...here, name]));
  });
}

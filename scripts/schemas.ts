// node scripts/bootstrap.mjs scripts/schemas.ts: writes the JSON schemas of the files whose shape src/core/rules describes.
import fs from 'node:fs';
import { ACCESS_FILE_SHAPE } from '../src/core/rules/accessFile.ts';
import { CAMPAIGN_SHAPE } from '../src/core/rules/campaign.ts';
import { jsonSchemaOf, type Shape } from '../src/core/rules/shape.ts';
import { at } from './paths.ts';

/** By the name of the file. */
export const generatedSchemas: Readonly<Record<string, Shape>> = {
  'rolecall.access.schema.json': ACCESS_FILE_SHAPE,
  'rolecall.campaign.schema.json': CAMPAIGN_SHAPE,
};

export function schemaText(shape: Shape): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...jsonSchemaOf(shape) };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

if (import.meta.main) {
  for (const [name, shape] of Object.entries(generatedSchemas)) {
    fs.writeFileSync(at('media', 'schemas', name), schemaText(shape));
  }
}

// npm run schemas: writes the JSON schemas of the files whose schemas src/core/rules describes.
import fs from 'node:fs';
import { ACCESS_FILE_SCHEMA } from '../src/core/rules/accessFile.ts';
import { CAMPAIGN_SCHEMA } from '../src/core/rules/campaign.ts';
import { jsonSchemaOf, type Schema } from '../src/core/rules/schema.ts';
import { isMain } from './main.ts';
import { at } from './paths.ts';

/** By the name of the file. */
export const generatedSchemas: Readonly<Record<string, Schema>> = {
  'rolecall.access.schema.json': ACCESS_FILE_SCHEMA,
  'rolecall.campaign.schema.json': CAMPAIGN_SCHEMA,
};

export function schemaText(shape: Schema): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...jsonSchemaOf(shape) };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

if (isMain(import.meta.url)) {
  for (const [name, shape] of Object.entries(generatedSchemas)) {
    fs.writeFileSync(at('media', 'schemas', name), schemaText(shape));
  }
}

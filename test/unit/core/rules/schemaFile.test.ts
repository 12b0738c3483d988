import assert from 'node:assert/strict';
import fs from 'node:fs';
import { at } from '../../../../scripts/paths.ts';
import { generatedSchemas, schemaText } from '../../../../scripts/schemas.ts';
import { ACCESS_FILE_SCHEMA, RULE_KINDS } from '../../../../src/core/rules/accessFile.ts';

describe('what is written about access rules', () => {
  for (const [name, shape] of Object.entries(generatedSchemas)) {
    it(`${name} is what the code reads`, () => {
      const text = fs.readFileSync(at('media', 'schemas', name), 'utf8');
      assert.equal(
        text.replaceAll('\r\n', '\n'),
        schemaText(shape),
        'run: node scripts/bootstrap.mjs scripts/schemas.ts',
      );
    });
  }

  it('media/access-rules.md names every kind with its keys, and every key of a file', () => {
    const page = fs.readFileSync(at('media', 'access-rules.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (`[^|]+) \|([^|]*)\|/gm)].map(
      ([, names = '', keys = '']) => [names, keys] as const,
    );
    for (const [kind, { keys }] of Object.entries(RULE_KINDS)) {
      const row = rows.find(([names]) => names.includes(`\`${kind}\``));
      assert.ok(row, kind);
      for (const key of Object.keys(keys))
        if (key !== 'kinds') assert.ok(row[1].includes(`\`${key}\``), `${kind}: ${key}`);
    }
    for (const key of Object.keys(ACCESS_FILE_SCHEMA.keys))
      assert.ok(page.includes(`\`${key}\``) || page.includes(`${key}:`), key);
  });
});

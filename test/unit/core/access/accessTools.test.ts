import assert from 'node:assert/strict';
import fs from 'node:fs';
import { at } from '../../../../scripts/paths.ts';
import {
  accessToolNames,
  answerQuestion,
  fullAnswer,
  readAccessTools,
  readQuestion,
} from '../../../../src/core/access/accessTools.ts';
import { accessAnswerText } from '../../../../src/core/access/answers.ts';
import { buildModel } from '../../../../src/core/access/model.ts';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { languageModelTools } from '../../../../src/ids.ts';
import { group, input, model, role } from './organizations.ts';

describe('the tools about access', () => {
  const manifest = JSON.parse(fs.readFileSync(at('package.json'), 'utf8'));

  it('are those of the manifest, without their prefix', () => {
    assert.deepEqual(
      Object.values(languageModelTools),
      accessToolNames.map((name) => `rolecall_${name}`),
    );
    const described = readAccessTools(manifest.contributes.languageModelTools);
    assert.deepEqual(
      described.map(({ name }) => name),
      [...accessToolNames],
    );
  });

  const known = [
    { id: 'acme', names: ['Acme Inc.'] },
    { id: 'other', names: [] },
  ];
  const refusal = (raw: unknown, organizations = known, asker: 'ourselves' | 'others' = 'others') => {
    try {
      readQuestion('list_groups', raw, organizations, asker);
    } catch (error) {
      return error instanceof RolecallError ? error.message : assert.fail(String(error));
    }
    return undefined;
  };

  it('are asked about an organization by its ID or a name of it, or the only one', () => {
    const organization = (raw: unknown, of = known) => readQuestion('list_roles', raw, of, 'others').organization;
    assert.equal(organization({ organization: ' ACME inc. ' }), 'acme');
    assert.equal(organization({ organization: 'other' }), 'other');
    assert.equal(organization(undefined, known.slice(1)), 'other');
  });

  it('reveal to others not even which organizations there are', () => {
    assert.doesNotMatch(refusal({ organization: 'third' }) ?? 'acme', /acme|other(?!s)/);
    assert.match(refusal({}, known, 'ourselves') ?? '', /acme, other/);
    assert.match(refusal({}, []) ?? '', /has added no organization/);
    assert.equal(refusal({ organization: 1 }), 'The arguments must be strings.');
  });

  it('find nobody with a reservation where something could not be read', () => {
    const partial = buildModel(input([group('g')], undefined));
    for (const tool of ['who_has_role', 'effective_access'] as const) {
      const answer = accessAnswerText(fullAnswer(partial, tool, { role: 'x', who: 'x' }));
      assert.match(answer, /^(?:No role|Nobody) .*\nINCOMPLETE: The roles could not be read\./);
    }
  });

  it('ask for more where a name fits too many, and keep to a budget', async () => {
    const many = model(
      [],
      Array.from({ length: 6 }, (_, index) => role(`operator-${index}`)),
    );
    const answer = accessAnswerText(fullAnswer(many, 'who_has_role', { role: 'operator' }));
    assert.match(answer, /^6 match\. Ask for one of them by its ID:\n\noperator-0/);
    const length = (text: string) => text.length;
    const short = await answerQuestion(many, { tool: 'list_roles', input: {} }, 150, length);
    assert.ok(short.length <= 150);
    assert.match(short, /left out for length/);
  });
});

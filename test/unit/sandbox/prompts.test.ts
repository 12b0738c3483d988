import assert from 'node:assert/strict';
import fs from 'node:fs';
import { demoPrompts } from '../../../src/sandbox/inference/topics.ts';

const textOf = (file: string): string => fs.readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('the prompts of the demo model', () => {
  for (const file of ['README.md', 'media/walkthrough/ask.md']) {
    it(`stand in ${file}, each and no others`, () => {
      const named = [...textOf(file).matchAll(/^ *- `?@rolecall (\/[^`\n]*?)(?:`| with a file open|$)/gm)].map(
        ([, prompt]) => prompt,
      );
      assert.deepEqual(named, [...demoPrompts]);
    });
  }

  it('are the samples of the slash commands', () => {
    const [participant] = JSON.parse(textOf('package.json')).contributes.chatParticipants;
    const commands: readonly { name: string; sampleRequest?: string }[] = participant.commands;
    const samples = commands.flatMap(({ name, sampleRequest }) =>
      sampleRequest === undefined ? [] : [`/${name} ${sampleRequest}`],
    );
    assert.deepEqual(samples, [demoPrompts[0]]);
    assert.equal(participant.sampleRequest, 'what can you do?');
  });
});

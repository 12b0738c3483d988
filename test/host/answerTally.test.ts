import assert from 'node:assert/strict';
import { AnswerStats } from '../../src/host/answerText.ts';

describe('the time in the last line of an answer', () => {
  it('leaves out what passes while the user is asked, however many questions stand open at once', async () => {
    let now = 0;
    const stats = new AnswerStats(() => now);
    now += 1000;
    const first = Promise.withResolvers<boolean>();
    const second = Promise.withResolvers<boolean>();
    const asked = [stats.whileAsking(first.promise), stats.whileAsking(second.promise)];
    now += 60_000;
    first.resolve(true);
    assert.equal(await asked[0], true);
    now += 60_000;
    second.reject(new Error('closed'));
    await assert.rejects(async () => asked[1], /closed/);
    now += 500;
    assert.equal(stats.summary('m'), 'm · 1.5 s');
  });
});

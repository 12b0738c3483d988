import assert from 'node:assert/strict';
import { isCancelled, RolecallError } from '../../../../src/core/base/errors.ts';
import { type DiagnosisSources, diagnose } from '../../../../src/core/diagnosis/diagnose.ts';
import { AT, healthy } from './sample.ts';

const never = new AbortController().signal;
const now = () => AT;

/** One source for each question, all answered as in `healthy`. */
function sources(changes: Partial<DiagnosisSources> = {}): DiagnosisSources {
  const { at: _, ...questions } = healthy;
  const answers = Object.entries(questions).map(([name, gathered]) => {
    assert.ok(gathered.kind === 'known');
    return [name, () => gathered.value];
  });
  return { ...Object.fromEntries(answers), ...changes };
}

const soon = () => 50;

describe('a diagnosis', () => {
  it('is what its sources say', async () => {
    assert.deepEqual(await diagnose(sources(), now, never), healthy);
  });

  for (const name of Object.keys(sources()) as (keyof DiagnosisSources)[]) {
    it(`stands although the question about ${name} fails, hangs or has no answer`, async () => {
      const others = { ...healthy, [name]: undefined };
      const ask = async (source: unknown) => {
        const found = await diagnose(sources({ [name]: source }), now, never, soon);
        assert.deepEqual({ ...found, [name]: undefined }, others);
        return found[name];
      };
      assert.deepEqual(await ask(() => undefined), {
        kind: 'skipped',
        why: 'no cloud is configured yet',
      });
      const failing = async () => {
        throw new RolecallError('storage', 'It is locked.');
      };
      assert.deepEqual(await ask(failing), { kind: 'failed', problem: 'It is locked.' });
      const throwing = () => {
        throw new TypeError('x is not a function');
      };
      assert.deepEqual(await ask(throwing), {
        kind: 'failed',
        problem: 'An unexpected error occurred: x is not a function',
      });
      let stopped: AbortSignal | undefined;
      const hanging = (signal: AbortSignal) => {
        stopped = signal;
        return new Promise(() => {});
      };
      assert.deepEqual(await ask(hanging), { kind: 'failed', problem: 'no response within 1 second' });
      assert.equal(stopped?.aborted, true, 'what hangs is told to stop');
    });
  }

  it('asks every question before any is answered', async () => {
    const names = Object.keys(sources());
    const asked = new Set<string>();
    const all = Object.fromEntries(
      names.map((name) => [
        name,
        () => {
          asked.add(name);
          return new Promise<never>(() => {});
        },
      ]),
    );
    const under = diagnose(sources(all), now, never, soon);
    assert.deepEqual([...asked].sort(), names.sort());
    const found = await under;
    assert.ok(Object.values(found).every((each) => typeof each === 'number' || each.kind === 'failed'));
  });

  it('is over when the user cancels it', async () => {
    const stop = new AbortController();
    let told = false;
    const hanging = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      return new Promise<never>(() => {});
    };
    const under = diagnose(sources({ store: hanging }), now, stop.signal);
    stop.abort();
    await assert.rejects(under, isCancelled);
    assert.equal(told, true);
    await assert.rejects(diagnose(sources(), now, stop.signal), isCancelled);
  });
});

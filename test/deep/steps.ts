import { Session } from 'node:inspector/promises';
import v8 from 'node:v8';

/**
 * How much work `work` is for the code of `src/core`: how often its blocks run, and how many characters it parses or trims. The
 * same on every machine, so that growth can be compared where time cannot.
 */
export async function stepsOf(work: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  const { parse } = JSON;
  const { trimEnd } = String.prototype;
  let read = 0;
  JSON.parse = (text, reviver) => {
    read += String(text).length;
    return parse(text, reviver);
  };
  String.prototype.trimEnd = function () {
    read += this.length;
    return trimEnd.call(this);
  };
  for (const compiler of compilers) v8.setFlagsFromString(`--no-${compiler}`);
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const blocks = result
      .filter(({ url }) => url.includes('/src/core/'))
      .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)));
    return read + blocks.reduce((sum, count) => sum + count, 0);
  } finally {
    JSON.parse = parse;
    String.prototype.trimEnd = trimEnd;
    for (const compiler of compilers) v8.setFlagsFromString(`--${compiler}`);
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

/** Off while steps are counted: they build small functions into others, whose runs are counted no more. */
const compilers = ['turbofan', 'maglev'];

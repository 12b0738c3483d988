import type { Gathered } from './facts.ts';
import { code, type Line } from './markdown.ts';

/** The lines for what was found, or the one line that says why nothing was. */
export function linesFor<T>(
  label: string,
  gathered: Gathered<T>,
  lines: (value: T) => readonly Line[],
): readonly Line[] {
  switch (gathered.kind) {
    case 'known':
      return lines(gathered.value);
    case 'skipped':
      return [{ label, text: `not looked at: ${gathered.why}` }];
    case 'failed':
      return [{ label, text: 'not known', finding: `This could not be found out: ${code(gathered.problem)}` }];
  }
}

import { type AccessAnswer, answerText } from './answers.ts';

/** How much a text costs, in the unit of the budget: tokens where the editor counts them, else characters. */
export type MeasureText = (text: string) => Promise<number> | number;

/**
 * As much of an answer as fits a budget, with a last line that says how much was left out. The heading always stays. Asks
 * for the size of few texts, since counting tokens may be slow.
 */
export async function truncateAnswer(answer: AccessAnswer, budget: number, measure: MeasureText): Promise<string> {
  const { heading, lines } = answer;
  const whole = answerText(answer);
  if ((await measure(whole)) <= budget) return whole;
  const cut = (kept: number): string =>
    answerText({
      heading,
      lines: [
        ...lines.slice(0, kept),
        `… ${lines.length - kept} of ${lines.length} left out for length: ask for something narrower.`,
      ],
    });
  let fits = 0;
  for (let low = 1, high = lines.length - 1; low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    if ((await measure(cut(middle))) <= budget) {
      fits = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return cut(fits);
}

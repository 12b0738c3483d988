/*
 * Answers to the tests of a new prompt file: a fact that is right or wrong, and a grade for an answer.
 */

const capitals: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Argentina: 'Buenos Aires',
    Australia: 'Canberra',
    Austria: 'Vienna',
    Brazil: 'Brasília',
    Canada: 'Ottawa',
    Egypt: 'Cairo',
    France: 'Paris',
    Germany: 'Berlin',
    India: 'New Delhi',
    Italy: 'Rome',
    Japan: 'Tokyo',
    Kenya: 'Nairobi',
    Norway: 'Oslo',
    Poland: 'Warsaw',
    Portugal: 'Lisbon',
    Spain: 'Madrid',
  }).map(([country, capital]) => [country.toLowerCase(), capital]),
);

/**
 * The capital of the country in the question. Only its name if the question or the instructions ask for a short answer.
 */
export function capitalAnswer(words: string, instructions: string): string | undefined {
  const [, country = ''] = /\bcapital of (\p{L}+)/iu.exec(words) ?? [];
  const capital = capitals.get(country.toLowerCase());
  if (capital === undefined) return undefined;
  const isShort = /\b(?:one|single) word\b|\bonly\b|\bjust\b/i.test(`${instructions}\n${words}`);
  const name = country.charAt(0).toUpperCase() + country.slice(1).toLowerCase();
  return isShort ? capital : `The capital of ${name} is ${capital}.`;
}

/**
 * A grade from 1 to 5 for the text in `<completion>`, if the instructions ask for one. It depends on how many words of
 * `<expected>` the text contains. Without `<expected>`, every answer gets the same good grade, because the demo model
 * cannot judge it.
 */
export function gradeAnswer(text: string, instructions: string): string | undefined {
  const completion = partOf(text, 'completion');
  if (completion === undefined || !/\bgrade\b[\s\S]*\b1 to 5\b/i.test(instructions)) return undefined;
  const completionWords = new Set(wordsOf(completion));
  if (completionWords.size === 0) return '1';
  const expectedWords = wordsOf(partOf(text, 'expected') ?? '');
  if (expectedWords.length === 0) return '4';
  const matches = expectedWords.filter((word) => completionWords.has(word)).length;
  return String(1 + Math.round((4 * matches) / expectedWords.length));
}

function partOf(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([\\s\\S]*)</${name}>`).exec(text)?.[1];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

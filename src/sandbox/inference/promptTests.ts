/*
 * What a prompt file's first tests ask: a fact that is right or wrong, and a grade for an answer.
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

/** The capital of the country that is asked for: the name alone where the question or the instructions want it short. */
export function capitalAnswer(words: string, instructions: string): string | undefined {
  const [, country = ''] = /\bcapital of (\p{L}+)/iu.exec(words) ?? [];
  const capital = capitals.get(country.toLowerCase());
  if (capital === undefined) return undefined;
  const isShort = /\b(?:one|single) word\b|\bonly\b|\bjust\b/i.test(`${instructions}\n${words}`);
  const name = country.charAt(0).toUpperCase() + country.slice(1).toLowerCase();
  return isShort ? capital : `The capital of ${name} is ${capital}.`;
}

/**
 * A grade from 1 to 5, where the instructions want one for what stands in `<completion>`: by the words of `<expected>` that it has.
 * Where nothing is expected, any answer is a good one: the demo model cannot tell more.
 */
export function gradeAnswer(text: string, instructions: string): string | undefined {
  const completion = partOf(text, 'completion');
  if (completion === undefined || !/\bgrade\b[\s\S]*\b1 to 5\b/i.test(instructions)) return undefined;
  const given = new Set(wordsOf(completion));
  if (given.size === 0) return '1';
  const expected = wordsOf(partOf(text, 'expected') ?? '');
  if (expected.length === 0) return '4';
  const found = expected.filter((word) => given.has(word)).length;
  return String(1 + Math.round((4 * found) / expected.length));
}

function partOf(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([\\s\\S]*)</${name}>`).exec(text)?.[1];
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

import type { Segment } from './script.ts';

/**
 * Phrases in the last user message that make the guide do one exact thing, for demonstrations and tests:
 *
 * | phrase (any case)          | what the guide does                                                              |
 * |----------------------------|----------------------------------------------------------------------------------|
 * | `say: …` at a line's start | answers exactly what follows, to the end of the message (`repeat: …` is the same) |
 * | `count to 200`             | counts from 1 to the number (at most 5000): a long, slow, predictable answer      |
 * | `say nothing`              | answers with an empty content                                                    |
 * | `only think`               | reasons (at any effort, on models that reason) and then says nothing             |
 * | `keep calling`             | calls the same tools again after every result, without end (see tools.ts)        |
 */
export function phraseAnswer(text: string): readonly Segment[] | undefined {
  const said = /^(?:say|repeat):[ \t]?([\s\S]+)/im.exec(text)?.[1];
  if (said) return [said];
  const limit = /\bcount to (\d{1,9})\b/i.exec(text)?.[1];
  if (limit) {
    const numbers = Array.from({ length: Math.min(Number(limit), 5000) }, (_, index) => String(index + 1));
    return [numbers.join(', ')];
  }
  return /\bsay nothing\b/i.test(text) || asksOnlyToThink(text) ? [] : undefined;
}

export const asksOnlyToThink = (text: string): boolean => /\bonly think\b/i.test(text);

export const asksToKeepCalling = (text: string): boolean => /\bkeep calling\b/i.test(text);

import type { TextName } from './protocol.ts';

/** The page's words in the language of the editor. */
export class Localizer {
  readonly #texts: Readonly<Record<TextName, string>>;
  readonly #numbers: Intl.NumberFormat;

  constructor(texts: Readonly<Record<TextName, string>>, locale: string) {
    this.#texts = texts;
    this.#numbers = new Intl.NumberFormat(Intl.NumberFormat.supportedLocalesOf(locale));
  }

  /** The text, with numbers in the places of `{0}` and so on. */
  text(name: TextName, ...values: readonly (number | string)[]): string {
    return this.#texts[name].replace(/\{(\d)\}/g, (whole, place: string) => {
      const value = values[Number(place)];
      return typeof value === 'number' ? this.#numbers.format(value) : (value ?? whole);
    });
  }

  /** `12`, or `12 of 340`. */
  count(name: TextName, shown: number, all: number): string {
    return this.text(name, shown === all ? this.#numbers.format(all) : this.text('ofAll', shown, all));
  }
}

import * as l10n from '@vscode/l10n';
import type { TextRange } from '../base/errors.ts';
import { didYouMean, nearest } from '../base/text.ts';
import { findPlaceholders, type TemplateText } from './placeholders.ts';
import { type FieldLevel, promptFields } from './promptFields.ts';
import {
  type Member,
  type PromptProblem,
  quotesFix,
  type TextFix,
  unquotedPlaceholder,
  type YamlNode,
  type YamlText,
} from './yamlText.ts';

/** The most problems of one kind that are shown: a mistake in a template is one in each of a thousand cases. */
const SHOWN_OF_ONE_KIND = 20;

/** Reads values from a YAML text, and collects the problems at their places. */
export class YamlReader {
  readonly yaml: YamlText;
  readonly #problems: PromptProblem[] = [];
  readonly #counts = new Map<string, number>();

  constructor(yaml: YamlText) {
    this.yaml = yaml;
  }

  /** In the order of the text. */
  get problems(): PromptProblem[] {
    const more = [...this.#counts].filter(([, count]) => count > SHOWN_OF_ONE_KIND);
    return this.#problems
      .map((problem) => {
        const [, count = 0] = more.find(([code]) => code === problem.code) ?? [];
        const isLast = count > 0 && problem === this.#problems.findLast(({ code }) => code === problem.code);
        if (!isLast) return problem;
        return {
          ...problem,
          message: l10n.t('{0} ({1} more like this)', problem.message, count - SHOWN_OF_ONE_KIND),
        };
      })
      .sort((one, other) => one.start - other.start || one.end - other.end);
  }

  report(
    { start, end }: TextRange,
    severity: PromptProblem['severity'],
    code: string,
    message: string,
    fix?: TextFix,
  ): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count > SHOWN_OF_ONE_KIND) return;
    this.#problems.push({ start, end: Math.max(end, start + 1), severity, message, code, ...(fix && { fix }) });
  }

  /** Reports an unknown name, with `suggestion`, the one that was probably meant: in the sentence and as its quick fix. */
  unknownName(
    range: TextRange,
    { severity, code, message }: Pick<PromptProblem, 'severity' | 'code' | 'message'>,
    suggestion: string | undefined,
  ): void {
    if (suggestion === undefined) this.report(range, severity, code, message);
    else
      this.report(
        range,
        severity,
        code,
        didYouMean(message, suggestion),
        replacementFix(range, this.yaml.slice(range), suggestion),
      );
  }

  error(range: TextRange, code: string, message: string): void {
    this.report(range, 'error', code, message);
  }

  /** The members of a mapping by key, after unknown ones were reported; `undefined` for anything but a mapping. */
  fields(node: YamlNode | undefined, level: FieldLevel, where: TextRange): Map<string, Member> | undefined {
    const members = this.yaml.members(node);
    if (!members) {
      this.error(where, 'wrongType', l10n.t('This must be a mapping: keys with values.'));
      return undefined;
    }
    for (const { key, keyRange } of members) {
      if (Object.hasOwn(promptFields[level], key)) continue;
      this.unknownKey(key, keyRange, level);
    }
    return new Map(members.map((member) => [member.key, member]));
  }

  /** Reports a key that is not read: a misspelling, or another program's. */
  unknownKey(key: string, range: TextRange, level: FieldLevel): void {
    const suggestion = nearest(key.replaceAll(/[_-]/g, ''), Object.keys(promptFields[level]));
    const message = l10n.t('"{0}" is not a key of prompt files, so it is ignored.', key);
    const severity = suggestion === undefined ? 'information' : 'warning';
    this.unknownName(range, { severity, code: 'unknownKey', message }, suggestion);
  }

  /** The items of a list; with `orOne`, a single value counts as a list of one. */
  items(member: Member | undefined, orOne = false): YamlNode[] {
    const { value } = member ?? {};
    if (!member || value === undefined || this.#isNull(value)) return [];
    const items = this.yaml.items(value);
    if (items) return items;
    if (orOne && this.yaml.scalar(value)) return [value];
    this.error(member.range, 'wrongType', l10n.t('"{0}" must be a list.', member.key));
    return [];
  }

  /**
   * A text, `undefined` if it is absent, null or not a scalar, which is an error.
   *
   * @param sentence what it must be, if only certain texts are valid.
   */
  text(member: Member | undefined, sentence?: string): string | undefined {
    if (!member?.value) return undefined;
    const scalar = this.yaml.scalar(member.value);
    if (scalar) {
      this.#surprises(member.value, member.range);
      return this.yaml.scalarText(member.value);
    }
    this.#notText(member.range, sentence ?? l10n.t('"{0}" must be text.', member.key));
    return undefined;
  }

  /** A text of a list. */
  itemText(node: YamlNode): string | undefined {
    const text = this.yaml.scalarText(node);
    if (text === undefined) this.#notText(this.yaml.rangeOf(node), l10n.t('This must be text.'));
    return text;
  }

  /** A text with placeholders; empty if nothing is written. */
  template(member: Member | undefined): TemplateText | undefined {
    const value = this.text(member);
    if (value === undefined || !member) return undefined;
    return this.templateAt(value, member.range);
  }

  templateAt(value: string, range: TextRange): TemplateText {
    return { value, ...range, placeholders: findPlaceholders(this.yaml.slice(range), range.start) };
  }

  /** A number, `undefined` if it is absent or anything else, which is an error. */
  number(
    member: Member | undefined,
    isRight: (value: number) => boolean,
    sentence: (key: string) => string,
  ): number | undefined {
    if (!member?.value || this.#isNull(member.value)) return undefined;
    const value = this.yaml.scalar(member.value)?.value;
    if (typeof value === 'number' && isRight(value)) return value;
    this.error(member.range, 'wrongType', sentence(member.key));
    return undefined;
  }

  /** `undefined` if it is absent or anything else, which is an error. */
  boolean(member: Member | undefined): boolean | undefined {
    if (!member?.value || this.#isNull(member.value)) return undefined;
    const value = this.yaml.scalar(member.value)?.value;
    if (typeof value === 'boolean') return value;
    this.error(member.range, 'wrongType', l10n.t('"{0}" must be true or false.', member.key));
    return undefined;
  }

  wholeNumber(member: Member | undefined): number | undefined {
    return this.number(
      member,
      (value) => Number.isInteger(value) && value > 0,
      (key) => l10n.t('"{0}" must be a whole number greater than 0.', key),
    );
  }

  /** A value as JSON, `undefined` if it cannot be read, which is an error. */
  json(member: Member | undefined): unknown {
    if (!member?.value) return undefined;
    try {
      return this.yaml.json(member.value);
    } catch (error) {
      this.error(member.range, 'aliases', (error as RangeError).message);
      return undefined;
    }
  }

  #isNull(node: YamlNode): boolean {
    return this.yaml.scalar(node)?.value === null;
  }

  #notText(range: TextRange, sentence: string): void {
    const written = this.yaml.slice(range);
    if (written.startsWith('{{')) {
      const { severity, code, message, fix } = unquotedPlaceholder(range, written);
      this.report(range, severity, code, message, fix);
    } else this.error(range, 'wrongType', sentence);
  }

  /** Reports what YAML silently removes from a text. */
  #surprises(value: YamlNode, range: TextRange): void {
    const scalar = this.yaml.scalar(value);
    if (!scalar || scalar !== value || scalar.type !== 'PLAIN') return;
    const rest = this.yaml.text.slice(range.end, scalar.range[2]);
    const comment = /^[ \t]+#[^\r\n]*/.exec(rest)?.[0];
    if (comment !== undefined) {
      const message = l10n.t(
        'The text ends here: YAML reads what follows # as a comment. Put quotes around the text to keep it.',
      );
      const place = { start: range.end + comment.indexOf('#'), end: range.end + comment.length };
      const whole = { start: range.start, end: place.end };
      this.report(place, 'information', 'comment', message, quotesFix(whole, this.yaml.slice(whole).trimEnd()));
    }
    if (scalar.anchor !== undefined && !this.yaml.isReferred(scalar.anchor)) {
      const message = l10n.t(
        'YAML reads &{0} as the name of this value, not as text. Put quotes around it to keep it.',
        scalar.anchor,
      );
      const start = this.yaml.text.lastIndexOf(`&${scalar.anchor}`, range.start);
      this.report({ start, end: start + scalar.anchor.length + 1 }, 'warning', 'anchor', message);
    }
  }
}

/** Replaces the text at `range` by `name`, in the same quotes. */
export function replacementFix({ start, end }: TextRange, written: string, name: string): TextFix {
  const [quote = ''] = /^["']/.exec(written) ?? [];
  return { title: l10n.t('Change to "{0}"', name), start, end, text: `${quote}${name}${quote}` };
}

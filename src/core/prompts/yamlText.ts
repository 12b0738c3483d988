import * as l10n from '@vscode/l10n';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import type { DocumentProblem, TextRange } from '../base/errors.ts';
import { mergeConflictIn, parseYamlText, yamlSentence } from '../base/yaml.ts';

/** A problem of a prompt file. */
export interface PromptProblem extends DocumentProblem {
  /** The change that solves it, if there is only one possible meaning: offered as a quick fix. */
  readonly fix?: TextFix;
}

export interface TextFix extends TextRange {
  /** The title of the quick fix, localized. */
  readonly title: string;
  /** Replaces the text at the range. */
  readonly text: string;
}

export type YamlNode = ParsedNode;

/** A member of a mapping, with aliases and merged mappings followed. */
export interface Member {
  readonly key: string;
  readonly keyRange: TextRange;
  /** Undefined if there is nothing after the colon. */
  readonly value: YamlNode | undefined;
  /** The range of the value at this place: of the alias, not of its target. Without a value, that of the key. */
  readonly range: TextRange;
}

/** The most syntax errors that are shown: one slip of indentation makes a hundred, and the first few show it. */
const SHOWN_ERRORS = 3;
/** The most members and values that are read, beyond one for each character: only aliases repeat so many. */
const MAX_REPEATED = 200_000;
/** The most aliases of a text in which a value with aliases is read as JSON: the library walks through all for each. */
const MAX_ALIASES = 1000;

/** A YAML text whose values know their places. Never throws. */
export class YamlText {
  readonly text: string;
  readonly root: YamlNode | undefined;
  /** False if the text is not valid YAML, so that the values may not be what was meant. */
  readonly isSound: boolean;
  readonly #document: Document.Parsed;
  readonly #problems: readonly PromptProblem[];
  /** By place: the members of a mapping can be read several times. */
  readonly #duplicates = new Map<number, PromptProblem>();
  #anchors: Map<string, { readonly at: number; readonly node: YamlNode }[]> | undefined;
  #aliasCount: number | undefined;
  /** The number of members and values that were read so far. */
  #read = 0;

  constructor(text: string) {
    this.text = text;
    const { document, refusal } = parseYamlText(text, { merge: true, logLevel: 'error' });
    this.#document = document;
    this.root = document.contents ?? undefined;
    const { errors, warnings } = document;
    const broken = errors.filter(({ code }) => code !== 'MULTIPLE_DOCS');
    this.isSound = broken.length === 0 && refusal === undefined;
    const problems = [
      ...broken.slice(0, SHOWN_ERRORS).map((error) => unquoted(text, error.pos[0]) ?? this.#invalid(error)),
      ...errors.filter(({ code }) => code === 'MULTIPLE_DOCS').map(({ pos }) => secondDocument(pos)),
      ...warnings.slice(0, SHOWN_ERRORS).map(({ pos }) => this.#unknownTag(pos)),
    ];
    const conflict = broken.length > 0 ? mergeConflictIn(text) : undefined;
    const instead = refusal === undefined ? conflict : { start: 0, end: 1, message: refusal };
    this.#problems = instead ? [{ ...instead, severity: 'error', code: 'yaml' }] : problems;
  }

  /** The problems of the YAML itself: complete when everything was read. */
  get problems(): readonly PromptProblem[] {
    const message = l10n.t('This file’s YAML aliases repeat too much, so not all of it is read.');
    const tooMany: PromptProblem[] = this.#isOverBudget(0)
      ? [{ start: 0, end: 1, severity: 'error', message, code: 'yaml' }]
      : [];
    return [...this.#problems, ...tooMany, ...this.#duplicates.values()];
  }

  /** The members of a mapping, those merged into it last; `undefined` for anything else. */
  members(node: YamlNode | undefined): Member[] | undefined {
    const map = this.resolve(node);
    if (!isMap(map)) return undefined;
    const members = new Map<string, Member>();
    const visited = new Set<YamlNode>();
    // A list and no recursion, and no more than a budget: mappings can be merged into one another without end.
    const pending: YamlNode[] = [map];
    for (let next = pending.pop(); next && !this.#isOverBudget(members.size); next = pending.pop()) {
      const source = this.resolve(next);
      if (!isMap(source) || visited.has(source)) continue;
      visited.add(source);
      for (const merged of this.#collect(source, members).reverse()) pending.push(merged);
    }
    this.#read += members.size;
    return [...members.values()];
  }

  /** The items of a list, `undefined` for anything else. */
  items(node: YamlNode | undefined): YamlNode[] | undefined {
    const list = this.resolve(node);
    return isSeq(list) ? (list.items as YamlNode[]) : undefined;
  }

  /** The scalar at `node`, even if it is an alias or empty. */
  scalar(node: YamlNode | undefined): Scalar.Parsed | undefined {
    const resolved = this.resolve(node);
    return isScalar(resolved) ? resolved : undefined;
  }

  /**
   * The text of a scalar as it was written (`1.0`, `yes`), folded and unescaped; `undefined` for null, which counts as
   * absent, and for anything but a scalar.
   */
  scalarText(node: YamlNode | undefined): string | undefined {
    const scalar = this.scalar(node);
    if (!scalar || scalar.value === null) return undefined;
    return scalar.source ?? String(scalar.value);
  }

  /**
   * The value as JSON.
   *
   * @throws RangeError for aliases that expand to more than anybody meant, and for those that contain themselves.
   */
  json(node: YamlNode): unknown {
    try {
      const { nodes, aliases } = countNodes(node);
      this.#read += nodes;
      if (this.#isOverBudget(0) || (aliases > 0 && this.#aliases > MAX_ALIASES))
        throw new RangeError('Too many aliases.');
      const value: unknown = node.toJS(this.#document, { maxAliasCount: 100 });
      return value === undefined ? null : JSON.parse(JSON.stringify(value));
    } catch (error) {
      throw new RangeError(l10n.t('This value cannot be read because of its YAML aliases.'), { cause: error });
    }
  }

  /** The range of a node's value, without the comments and line breaks that follow it. */
  rangeOf(node: YamlNode): TextRange {
    const [start, end] = node.range;
    let last = end;
    while (last > start && /\s/.test(this.text.charAt(last - 1))) last--;
    return { start, end: Math.max(last, start) };
  }

  /** How many aliases the text has. */
  get #aliases(): number {
    this.#aliasCount ??= countNodes(this.#document).aliases;
    return this.#aliasCount;
  }

  slice({ start, end }: TextRange): string {
    return this.text.slice(start, end);
  }

  /** The target of an alias; anything else is itself. */
  resolve(node: YamlNode | undefined): YamlNode | undefined {
    let target = node;
    for (let steps = 0; isAlias(target) && steps < 10; steps++) target = this.#anchored(target.source, target.range[0]);
    return isAlias(target) ? undefined : target;
  }

  /** True when an alias refers to `anchor`. */
  isReferred(anchor: string): boolean {
    return this.text.includes(`*${anchor}`);
  }

  /** Whether aliases have made more of the text than anybody wrote. @param more what is being read. */
  #isOverBudget(more: number): boolean {
    return this.#read + more > this.text.length + MAX_REPEATED;
  }

  /** Adds the mapping's own members. @returns what is merged into it. */
  #collect(map: YAMLMap, members: Map<string, Member>): YamlNode[] {
    const merged: YamlNode[] = [];
    const keys = new Set<string>();
    for (const { key: node, value } of map.items as Pair<YamlNode, YamlNode | null>[]) {
      const key = this.#keyOf(node);
      if (key === undefined) continue;
      if (key === '<<' && value) for (const source of this.items(value) ?? [value]) merged.push(source);
      else if (keys.has(key)) this.#addDuplicate(key, this.rangeOf(node));
      else if (!members.has(key)) members.set(key, this.#member(key, node, value ?? undefined));
      keys.add(key);
    }
    return merged;
  }

  #member(key: string, node: YamlNode, value: YamlNode | undefined): Member {
    const keyRange = this.rangeOf(node);
    const isEmpty = value === undefined || (value.range[0] === value.range[1] && this.scalarText(value) === undefined);
    return { key, keyRange, value, range: isEmpty ? keyRange : this.rangeOf(value) };
  }

  /** The text of a key, whatever type it has in YAML. */
  #keyOf(key: YamlNode): string | undefined {
    const scalar = this.scalar(key);
    return scalar && (scalar.source ?? String(scalar.value));
  }

  /** The last node before `at` with this anchor: names can be reused. */
  #anchored(name: string, at: number): YamlNode | undefined {
    if (!this.#anchors) {
      const anchors = new Map<string, { at: number; node: YamlNode }[]>();
      visit(this.#document, {
        Node(_key, node) {
          const { anchor } = node as { anchor?: string };
          if (!anchor || isAlias(node)) return;
          const list = anchors.get(anchor) ?? [];
          list.push({ at: node.range?.[0] ?? 0, node: node as YamlNode });
          anchors.set(anchor, list);
        },
      });
      this.#anchors = anchors;
    }
    const nodes = this.#anchors.get(name) ?? []; // In the order of their places.
    let [low, high] = [0, nodes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((nodes[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return nodes[low - 1]?.node;
  }

  #addDuplicate(key: string, { start, end }: TextRange): void {
    const message = l10n.t('"{0}" appears more than once. The first one is used.', key);
    this.#duplicates.set(start, { ...rangeFrom([start, end]), severity: 'error', message, code: 'duplicateKey' });
  }

  #invalid(error: YAMLParseError): PromptProblem {
    const message = yamlSentence(error);
    return { ...this.#placeOf(error), severity: 'error', message, code: 'yaml' };
  }

  /**
   * The place to report. For a quotation mark that is never closed, the library gives the end of the text: its
   * beginning is more helpful.
   */
  #placeOf({ code, message, pos }: YAMLParseError): TextRange {
    if (code !== 'MISSING_CHAR' || !message.includes('quote')) return rangeFrom(pos);
    let start = pos[0];
    visit(this.#document, {
      Scalar(_key, { type, range }) {
        if (type?.startsWith('QUOTE') && range && range[2] >= pos[0]) start = range[0];
      },
    });
    return { start, end: start + (/^[^\r\n]*/.exec(this.text.slice(start))?.[0].length || 1) };
  }

  #unknownTag(pos: readonly [number, number]): PromptProblem {
    const tag = this.text.slice(...pos);
    const message = l10n.t('The YAML tag {0} has no meaning here and is ignored.', tag);
    return { ...rangeFrom(pos), severity: 'warning', message, code: 'unknownTag' };
  }
}

function countNodes(root: Document.Parsed | YamlNode): { readonly nodes: number; readonly aliases: number } {
  let [nodes, aliases] = [0, 0];
  visit(root, {
    Node: (_key, node) => {
      nodes += 1;
      if (isAlias(node)) aliases += 1;
    },
  });
  return { nodes, aliases };
}

/** Reports a value that begins with a placeholder and continues after it, which YAML cannot read. */
function unquoted(text: string, at: number): PromptProblem | undefined {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const line = /^[^\r\n]*/.exec(text.slice(lineStart))?.[0] ?? '';
  const [, before = '', value] = /^([ \t]*(?:- +)*(?:[^\s'"#:]+[ \t]*:[ \t]+)?)(\{\{.*?)[ \t]*$/.exec(line) ?? [];
  if (value === undefined) return undefined;
  const start = lineStart + before.length;
  return unquotedPlaceholder({ start, end: start + value.length }, value);
}

export function unquotedPlaceholder(range: TextRange, written: string): PromptProblem {
  const message = l10n.t('YAML reads {{ as a mapping. Put quotes around this text.');
  return { ...range, severity: 'error', message, code: 'unquotedPlaceholder', fix: quotesFix(range, written) };
}

/** Puts `written` at `range` in quotes, because YAML would read it differently. */
export function quotesFix({ start, end }: TextRange, written: string): TextFix {
  return { title: l10n.t('Add Quotes'), start, end, text: JSON.stringify(written) };
}

function rangeFrom([start, end]: readonly [number, number]): TextRange {
  return { start, end: Math.max(end, start + 1) };
}

function secondDocument([start]: readonly [number, number]): PromptProblem {
  const message = l10n.t('Only the first YAML document of a file is read. The rest is ignored.');
  return { start, end: start + 3, severity: 'warning', message, code: 'secondDocument' };
}

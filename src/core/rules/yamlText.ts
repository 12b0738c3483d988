import { type Document, isMap, isSeq, type ParsedNode, visit, type YAMLMap, type YAMLSeq } from 'yaml';

/** The text of a document that was changed: what was there keeps its comments, quotes, brackets and indentation as far as the library knows them. */
export function written(document: Document, source: string): string {
  visit(document, {
    Collection: (_key, node) => {
      if (node.flow && (isMap(node) || isSeq(node))) keepPadding(node, source);
    },
  });
  const indentSeq = !/^[\w"']+:[ \t]*(?:#.*)?\r?\n- /m.test(source);
  const text = document.toString({ lineWidth: 0, indentSeq });
  return source.includes('\r\n') ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** `[a]` or `[ a ]`, as it was; what is new as most people write it: `[a]`, `{ a: b }`. */
function keepPadding(node: YAMLMap | YAMLSeq, source: string): void {
  const start = (node as Partial<ParsedNode>).range?.[0];
  const isPadded = start === undefined ? isMap(node) : source[start + 1] === ' ';
  const own = Object.getPrototypeOf(node) as YAMLMap | YAMLSeq;
  node.toString = (context, ...more) =>
    own.toString.call(node, context && { ...context, flowCollectionPadding: isPadded ? ' ' : '' }, ...more);
}

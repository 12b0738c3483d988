/**
 * Text of a server, a model or a workspace, so that nothing in it is markup where Markdown is rendered, theme icons
 * included. Unlike `MarkdownString.appendText` it leaves spaces alone, so that lines still wrap.
 */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!~|<>&$]/g, '\\$&');
}

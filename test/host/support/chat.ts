import type * as vscode from 'vscode';
import { chatParticipant } from '../../../src/ids.ts';

/** A chat response that can be read back. What it does not have throws, as a proposal does. */
export class FakeStream {
  readonly markdowns: (string | vscode.MarkdownString)[] = [];
  readonly progresses: string[] = [];
  readonly buttons: vscode.Command[] = [];
  readonly references: (vscode.Uri | vscode.Location)[] = [];

  /** All Markdown in a row. */
  get text(): string {
    return this.markdowns.map((value) => (typeof value === 'string' ? value : value.value)).join('');
  }

  /** The same without the last line, which tells tokens and time. */
  get answer(): string {
    return this.text.replace(/\n\n\*[^*]*·[^*]*s\*\s*$/, '');
  }

  markdown(value: string | vscode.MarkdownString): void {
    this.markdowns.push(value);
  }

  reference(value: vscode.Uri | vscode.Location): void {
    this.references.push(value);
  }

  progress(value: string): void {
    this.progresses.push(value);
  }

  button(command: vscode.Command): void {
    this.buttons.push(command);
  }
}

/** A request to `@rolecall`, with what a test says about it. */
export function chatRequest(prompt: string, more: Partial<vscode.ChatRequest> = {}): vscode.ChatRequest {
  return {
    prompt,
    command: undefined,
    references: [],
    toolReferences: [],
    toolInvocationToken: undefined as never,
    model: { vendor: 'rolecall', id: 'sandbox/guide' } as vscode.LanguageModelChat,
    ...more,
  };
}

/** VS Code makes turns itself: their constructors are not declared. */
type Constructor<T> = new (...values: unknown[]) => T;

export function requestTurn(
  { ChatRequestTurn }: typeof vscode,
  prompt: string,
  references: readonly vscode.ChatPromptReference[] = [],
  participant: string = chatParticipant,
  command?: string,
): vscode.ChatRequestTurn {
  const Turn = ChatRequestTurn as unknown as Constructor<vscode.ChatRequestTurn>;
  return new Turn(prompt, command, references, participant, []);
}

export function responseTurn(
  { ChatResponseTurn }: typeof vscode,
  response: readonly unknown[],
  metadata: unknown,
  participant: string = chatParticipant,
): vscode.ChatResponseTurn {
  const Turn = ChatResponseTurn as unknown as Constructor<vscode.ChatResponseTurn>;
  return new Turn(response, { metadata }, participant);
}

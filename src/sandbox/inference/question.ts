/** A fenced code block in a message. */
export interface CodeBlock {
  /** The title in the line before the block, which attachments have; otherwise empty. */
  readonly title: string;
  readonly language: string;
  readonly code: string;
}

/** The parts of a user message. The guide answers what the user typed, not what an editor adds. */
export interface Question {
  /** What the user typed, including pasted code. */
  readonly typed: string;
  /** What the user typed, without pasted code. */
  readonly words: string;
  /** The last block that the user pasted or attached. */
  readonly block: CodeBlock | undefined;
  /** Whether the agent of an editor sent the message. It also offers tools that are not Rolecall's. */
  readonly isOfAgent: boolean;
}

const fence = /(?:^([^\n`]{1,200}):\n)?^(`{3,})([^\n`]*)\n([\s\S]*?)\n?^\2[ \t]*$/gm;

/** The elements in which VS Code's own chat puts what the user typed, after reminders and workspace information. */
const request = /^<(userRequest|prompt)>\n([\s\S]*?)\n<\/\1>/gm;
const attachments = /^<attachments>\n[\s\S]*?^<\/attachments>/gm;

export function readQuestion(text = ''): Question {
  const wrapped = [...text.matchAll(request)].at(-1)?.[2];
  const message = wrapped ?? text;
  const typed = message.replace(fence, (block, title?: string) => (title === undefined ? block : '')).trimEnd();
  const withAttachments = wrapped === undefined ? message : [...(text.match(attachments) ?? []), message].join('\n');
  const [, title = '', backticks, info = '', code = ''] = [...withAttachments.matchAll(fence)].at(-1) ?? [];
  return {
    typed,
    words: typed.replace(fence, '').trim(),
    block: backticks === undefined ? undefined : { title, language: info.trim().split(/\s/)[0] ?? '', code },
    isOfAgent: wrapped !== undefined,
  };
}

/** The questions of a conversation, oldest first. */
export function questionsOf(messages: readonly { readonly role: string; readonly text: string }[]): Question[] {
  return messages.filter(({ role }) => role === 'user').map(({ text }) => readQuestion(text));
}

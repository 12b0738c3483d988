/** A fenced code block of a message. */
export interface CodeBlock {
  /** The title in the line before it, which attachments have. */
  readonly title: string;
  readonly language: string;
  readonly code: string;
}

/** A message of the user, taken apart: what they typed decides, and nothing that stands around it. */
export interface Question {
  /** What was typed, with the code that was pasted into it. */
  readonly typed: string;
  /** The same without the code. */
  readonly words: string;
  /** The last block that was pasted or attached. */
  readonly block: CodeBlock | undefined;
  /** The agent of an editor sent it, which offers tools of its own besides Rolecall's. */
  readonly isOfAgent: boolean;
}

const fence = /(?:^([^\n`]{1,200}):\n)?^(`{3,})([^\n`]*)\n([\s\S]*?)\n?^\2[ \t]*$/gm;

/** VS Code's own chat puts what was typed in one of these, below its reminders and what it knows of the workspace. */
const request = /^<(userRequest|prompt)>\n([\s\S]*?)\n<\/\1>/gm;
const attachments = /^<attachments>\n[\s\S]*?^<\/attachments>/gm;

export function readQuestion(text = ''): Question {
  const wrapped = [...text.matchAll(request)].at(-1)?.[2];
  const own = wrapped ?? text;
  const typed = own.replace(fence, (block, title?: string) => (title === undefined ? block : '')).trimEnd();
  const withAttachments = wrapped === undefined ? own : [...(text.match(attachments) ?? []), own].join('\n');
  const [, title = '', marks, info = '', code = ''] = [...withAttachments.matchAll(fence)].at(-1) ?? [];
  return {
    typed,
    words: typed.replace(fence, '').trim(),
    block: marks === undefined ? undefined : { title, language: info.trim().split(/\s/)[0] ?? '', code },
    isOfAgent: wrapped !== undefined,
  };
}

/** The questions of a conversation, oldest first. */
export function questionsOf(messages: readonly { readonly role: string; readonly text: string }[]): Question[] {
  return messages.filter(({ role }) => role === 'user').map(({ text }) => readQuestion(text));
}

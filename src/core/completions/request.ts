import * as l10n from '@vscode/l10n';
import { RolecallError } from '../base/errors.ts';

/** A part of an image message. Specification, "ImageMessage"; the shape is the customary one. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image_url';
      /** `url` is an http(s) or a data URL. */
      readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' };
    };

/** A call in an assistant turn that is sent back. `arguments` must be the text of a JSON object. */
export interface ToolCallMessage {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One turn of the chat history. */
export interface ChatMessage {
  /** `system`, `developer`, `user`, `assistant`, `tool`; the specification allows any string. */
  readonly role: string;
  /** Null only in assistant turns that consist of tool calls. */
  readonly content: string | readonly ContentPart[] | null;
  readonly name?: string;
  readonly tool_calls?: readonly ToolCallMessage[];
  /** Which call a `tool` turn answers. */
  readonly tool_call_id?: string;
}

/** A function the model may call. Specification, "tools" and "Function object". */
export interface FunctionTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** JSON Schema whose `type` is `object`. */
    readonly parameters?: Readonly<Record<string, unknown>>;
  };
}

/** Every request field of the specification that is not the conversation itself. Absent members are not sent. */
export interface CompletionParameters {
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
  /** Keyed by token id as a string, -100 to 100 in servers of this kind. */
  readonly logit_bias?: Readonly<Record<string, number>> | null;
  readonly logprobs?: boolean;
  readonly top_logprobs?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly n?: number;
  readonly seed?: number;
  /** The specification accepts one string; a list is sent unchanged. */
  readonly stop?: string | readonly string[];
  readonly stream?: boolean;
  readonly stream_options?: Readonly<Record<string, unknown>> | null;
  readonly temperature?: number;
  readonly top_p?: number;
  /** `low`, `medium`, `high`; newer servers know others. */
  readonly reasoning_effort?: string;
  /** Only these two are supported; anything else is refused before it is sent. */
  readonly tool_choice?: 'auto' | 'none';
  readonly tools?: readonly FunctionTool[];
}

/** A chat completion request, member for member as it is sent. */
export interface CompletionRequest extends CompletionParameters {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
}

/** The most tools a request may offer; servers of this kind refuse more. */
export const MAX_TOOLS = 128;

/** The fields of the specification in the order in which they are sent. */
export const requestFields = [
  'model',
  'messages',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'reasoning_effort',
  'tool_choice',
  'tools',
] as const satisfies readonly (keyof CompletionRequest)[];

/** The request fields that Rolecall may set by itself, and so may leave out again. */
export const optionalFields = ['stream', 'stream_options', 'tools', 'tool_choice'] as const;
export type OptionalField = (typeof optionalFields)[number];

/**
 * The request as it is sent: exactly the members that are set, those of the specification first. `tools` and
 * `tool_choice` are left out when there is no tool, because servers refuse an empty list and a choice without a list.
 *
 * @throws RolecallError `invalidRequest` for what the service is known to refuse, with the reason.
 */
export function serializeRequest(request: CompletionRequest): string {
  refuseWhatCannotWork(request);
  const withoutTools = !request.tools || request.tools.length === 0;
  const order: readonly string[] = requestFields;
  const members = Object.entries(request).filter(
    ([field, value]) => value !== undefined && !(withoutTools && (field === 'tools' || field === 'tool_choice')),
  );
  // Unknown fields, which have no place in the order, come last.
  const place = (field: string) => (order.includes(field) ? order.indexOf(field) : order.length);
  const body = Object.fromEntries(members.sort(([one], [other]) => place(one) - place(other)));
  return JSON.stringify(body);
}

/** The members that the specification does not know. They are sent, but may be mistakes of the user. */
export function unknownFields(request: object): string[] {
  const fields: readonly string[] = requestFields;
  return Object.keys(request).filter((field) => !fields.includes(field));
}

function refuseWhatCannotWork(request: CompletionRequest): void {
  if (request.model.trim() === '')
    throw invalid(l10n.t('No model is selected. Pick one of the models of the service.'), 'model');
  if (request.messages.length === 0) throw invalid(l10n.t('There is no message to send.'), 'messages');
  const choice: string | undefined = request.tool_choice;
  if (choice !== undefined && choice !== 'auto' && choice !== 'none') {
    throw invalid(
      l10n.t('The service supports only "auto" and "none" as tool_choice, not {0}.', JSON.stringify(choice)),
      'tool_choice',
    );
  }
  refuseBadTools(request.tools ?? []);
}

function refuseBadTools(tools: readonly FunctionTool[]): void {
  if (tools.length > MAX_TOOLS) {
    throw invalid(
      l10n.t('The service accepts at most {0} tools, but {1} are enabled. Disable some.', MAX_TOOLS, tools.length),
      'tools',
    );
  }
  const names = new Set<string>();
  for (const tool of tools) {
    const { name } = tool.function;
    if (!toolNamePattern.test(name)) {
      throw invalid(
        l10n.t(
          '{0} is not a valid tool name. Use 1 to 64 letters, digits, underscores and hyphens.',
          JSON.stringify(name),
        ),
        'tools',
      );
    }
    if (names.has(name)) throw invalid(l10n.t('Two tools are named "{0}". Rename one of them.', name), 'tools');
    names.add(name);
  }
}

/** The tool names that every service of this kind accepts. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;

function invalid(message: string, param: string): RolecallError {
  return new RolecallError('invalidRequest', message, { details: { param } });
}

/** A fence that is longer than any within `text`, so that the text cannot end it. */
export function fenceFor(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 2);
  return '`'.repeat(longest + 1);
}

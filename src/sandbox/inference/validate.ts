import { invalidRequest } from './errors.ts';
import { readMessages } from './messages.ts';
import {
  type ChatRequest,
  type FunctionTool,
  isObject,
  type JsonObject,
  jsonType,
  type ReasoningEffort,
  readBoolean,
  readInteger,
  readNumber,
  readString,
  reasoningEfforts,
  wrongType,
} from './request.ts';

const maxTools = 128;
const maxStops = 4;
const maxChoices = 8;
const maxTopLogprobs = 20;

/**
 * Validates every field of a chat completion request (inference specification, "Chat completion request"). Unknown
 * fields are ignored.
 *
 * @param vocabulary the number of token ids.
 * @throws RequestError (400) with the name of the field as `param` when a field is invalid.
 */
export function validateRequest(body: unknown, vocabulary: number): ChatRequest {
  if (!isObject(body)) throw invalidRequest('', `The body must be a JSON object, got ${jsonType(body)}.`);
  const model = readString(body, 'model');
  if (!model) throw invalidRequest('model', '`model` is required.');
  const messages = readMessages(body.messages);
  const tools = readTools(body.tools);
  const toolChoice = readToolChoice(body);
  const penalty = { least: -2, most: 2 };
  const effort = readEffort(body);
  const traits: ('tools' | 'tool_choice' | 'reasoning_effort')[] = [];
  if (tools.length > 0) traits.push('tools');
  if (toolChoice) traits.push('tool_choice');
  if (effort) traits.push('reasoning_effort');
  return {
    model,
    messages,
    tools,
    toolChoice: toolChoice ?? 'auto',
    traits,
    temperature: readNumber(body, 'temperature', { least: 0, most: 2 }),
    topP: readNumber(body, 'top_p', { above: 0, most: 1 }),
    frequencyPenalty: readNumber(body, 'frequency_penalty', penalty) ?? 0,
    presencePenalty: readNumber(body, 'presence_penalty', penalty) ?? 0,
    logitBias: readLogitBias(body.logit_bias, vocabulary),
    ...readLogprobs(body),
    ...readLimit(body),
    n: readInteger(body, 'n', { least: 1, most: maxChoices }) ?? 1,
    seed: readInteger(body, 'seed', {}),
    stops: readStops(body.stop),
    ...readStream(body),
    reasoningEffort: effort ?? 'none',
  };
}

function readLimit(body: JsonObject): Pick<ChatRequest, 'maxTokens' | 'maxTokensField'> {
  const maxTokens = readInteger(body, 'max_tokens', { least: 1 });
  const maxCompletionTokens = readInteger(body, 'max_completion_tokens', { least: 1 });
  if (maxCompletionTokens === undefined || (maxTokens !== undefined && maxTokens < maxCompletionTokens))
    return { maxTokens, maxTokensField: 'max_tokens' };
  return { maxTokens: maxCompletionTokens, maxTokensField: 'max_completion_tokens' };
}

function readLogprobs(body: JsonObject): Pick<ChatRequest, 'logprobs' | 'topLogprobs'> {
  const logprobs = readBoolean(body, 'logprobs') ?? false;
  const topLogprobs = readInteger(body, 'top_logprobs', { least: 0, most: maxTopLogprobs });
  if (topLogprobs !== undefined && !logprobs)
    throw invalidRequest('top_logprobs', '`top_logprobs` can only be used when `logprobs` is true.');
  return { logprobs, topLogprobs: topLogprobs ?? 0 };
}

function readStream(body: JsonObject): Pick<ChatRequest, 'stream' | 'includeUsage'> {
  const stream = readBoolean(body, 'stream') ?? false;
  const options = body.stream_options;
  if (options === undefined || options === null) return { stream, includeUsage: false };
  if (!isObject(options)) throw wrongType('stream_options', 'an object or null', options);
  if (!stream) throw invalidRequest('stream_options', '`stream_options` can only be used when `stream` is true.');
  const include = options.include_usage;
  if (include !== undefined && typeof include !== 'boolean')
    throw wrongType('stream_options.include_usage', 'a boolean', include);
  return { stream, includeUsage: include ?? false };
}

function readLogitBias(value: unknown, vocabulary: number): Map<number, number> {
  const biases = new Map<number, number>();
  if (value === undefined || value === null) return biases;
  if (!isObject(value)) throw wrongType('logit_bias', 'an object or null', value);
  for (const [key, bias] of Object.entries(value)) {
    const id = Number(key);
    if (!/^\d+$/.test(key) || id >= vocabulary)
      throw invalidRequest(
        'logit_bias',
        `\`logit_bias\` has the key \`${key}\`: keys are token ids from 0 to ${vocabulary - 1}.`,
      );
    if (typeof bias !== 'number' || bias < -100 || bias > 100)
      throw invalidRequest('logit_bias', `\`logit_bias\` of token ${key} must be a number from -100 to 100.`);
    biases.set(id, bias);
  }
  return biases;
}

function readStops(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const stops: unknown[] = Array.isArray(value) ? value : [value];
  if (stops.length > maxStops) throw invalidRequest('stop', `\`stop\` may hold at most ${maxStops} strings.`);
  return stops.map((stop) => {
    if (typeof stop !== 'string') throw wrongType('stop', 'a string or an array of strings', stop);
    if (stop === '') throw invalidRequest('stop', '`stop` must not be an empty string.');
    return stop;
  });
}

function readEffort(body: JsonObject): ReasoningEffort | undefined {
  const value = readString(body, 'reasoning_effort');
  const effort = reasoningEfforts.find((known) => known === value);
  if (value !== undefined && !effort)
    throw invalidRequest(
      'reasoning_effort',
      `\`reasoning_effort\` must be one of ${reasoningEfforts.join(', ')}, got \`${value}\`.`,
    );
  return effort;
}

/** Only `auto` and `none` are supported, and only together with tools. See the inference specification, "Limits". */
function readToolChoice(body: JsonObject): 'auto' | 'none' | undefined {
  const value = body.tool_choice;
  if (value === undefined) return undefined;
  if (value !== 'auto' && value !== 'none')
    throw invalidRequest(
      'tool_choice',
      `Only \`auto\` and \`none\` are supported for \`tool_choice\`, got ${JSON.stringify(value)}.${value === 'required' ? ' `required` is not currently supported.' : ''}`,
    );
  if (body.tools === undefined) throw invalidRequest('tool_choice', '`tool_choice` can only be used beside `tools`.');
  return value;
}

function readTools(value: unknown): FunctionTool[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongType('tools', 'an array', value);
  if (value.length === 0) throw invalidRequest('tools', '`tools` must not be empty: leave it out.');
  if (value.length > maxTools)
    throw invalidRequest('tools', `\`tools\` may hold at most ${maxTools} tools, got ${value.length}.`);
  const names = new Set<string>();
  return value.map((item: unknown, index) => {
    const tool = readTool(item, `tools[${index}]`);
    if (names.has(tool.name))
      throw invalidRequest(`tools[${index}].function.name`, `Two tools have the name \`${tool.name}\`.`);
    names.add(tool.name);
    return tool;
  });
}

function readTool(item: unknown, path: string): FunctionTool {
  if (!isObject(item)) throw wrongType(path, 'an object', item);
  if (item.type !== 'function') throw invalidRequest(`${path}.type`, `\`${path}.type\` must be \`function\`.`);
  if (!isObject(item.function)) throw wrongType(`${path}.function`, 'an object', item.function);
  const { name, description = '', parameters = { type: 'object' } } = item.function;
  const memberPath = (member: string): string => `${path}.function.${member}`;
  if (typeof name !== 'string') throw wrongType(memberPath('name'), 'a string', name);
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw invalidRequest(
      memberPath('name'),
      `\`${memberPath('name')}\` must be 1 to 64 letters, digits, _ or -, got \`${name}\`.`,
    );
  if (typeof description !== 'string') throw wrongType(memberPath('description'), 'a string', description);
  if (!isObject(parameters)) throw wrongType(memberPath('parameters'), 'an object', parameters);
  if (parameters.type !== 'object')
    throw invalidRequest(memberPath('parameters.type'), `\`${memberPath('parameters.type')}\` must be \`object\`.`);
  const { properties, required } = parameters;
  if (properties !== undefined && !(isObject(properties) && Object.values(properties).every(isObject)))
    throw invalidRequest(
      memberPath('parameters.properties'),
      `\`${memberPath('parameters.properties')}\` must map names to objects.`,
    );
  if (required !== undefined && !(Array.isArray(required) && required.every((entry) => typeof entry === 'string')))
    throw invalidRequest(
      memberPath('parameters.required'),
      `\`${memberPath('parameters.required')}\` must be an array of parameter names.`,
    );
  return { name, description, parameters };
}

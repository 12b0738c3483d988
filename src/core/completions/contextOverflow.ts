/** The two numbers of "too long", in tokens. */
export interface ContextOverflow {
  /** What the model takes at most. */
  readonly limit?: number;
  /** What the request would have needed. */
  readonly requested?: number;
}

/** True when `message` is a service's way of saying that the conversation does not fit the model. */
export function isContextOverflow(message: string): boolean {
  return overflow.test(message);
}

/** Reads the numbers out of the service's words; a member is absent when they do not say it. */
export function readContextOverflow(message: string): ContextOverflow {
  const limit = firstNumber(message, limits);
  const requested = sum(message) ?? firstNumber(message, requests);
  return { ...(limit === undefined ? {} : { limit }), ...(requested === undefined ? {} : { requested }) };
}

const overflow = new RegExp(
  [
    'maximum context length',
    'context[ _]length[ _]exceeded',
    'context[ _](?:length|window|size) (?:is|of) (?:only )?\\d',
    '(?:exceeds?|longer than|larger than|exceeded) (?:the )?(?:model.s )?(?:available |maximum )?(?:context|model length)',
    'prompt is too long',
    'max_new_tokens. must be <=',
  ].join('|'),
  'i',
);

const number = '(\\d[\\d,]*)';

/** Each with the number in its first group; the first that matches counts. */
const limits = [
  `maximum context length (?:is|of) (?:only )?${number}`,
  `maximum model length of ${number}`,
  `context length (?:is|of) (?:only )?${number}`,
  `context (?:size|length|window) \\(${number} tokens`,
  `context (?:size|window) (?:is|of) (?:only )?${number}`,
  `> ${number} maximum`,
  `must be <= ${number}`,
];

const requests = [
  `requested (?:a total of )?(?:about )?${number} tokens`,
  `resulted in ${number} tokens`,
  `request(?: has|:)? \\(?${number} (?:input )?tokens`,
  `passed ${number} input tokens`,
  `prompt \\(length ${number}`,
  `prompt contains (?:at least )?${number}`,
  `input \\(${number} tokens`,
  `too long: ${number} tokens`,
];

/** Some services name the prompt and the answer apart. */
function sum(message: string): number | undefined {
  const parts =
    /(\d+) > \d+ - (\d+)/.exec(message) ?? /passed (\d+) input tokens and requested (\d+) output/i.exec(message);
  return parts ? Number(parts[1]) + Number(parts[2]) : undefined;
}

function firstNumber(message: string, patterns: readonly string[]): number | undefined {
  for (const pattern of patterns) {
    const found = new RegExp(pattern, 'i').exec(message)?.[1];
    if (found !== undefined) return Number(found.replaceAll(',', ''));
  }
  return undefined;
}

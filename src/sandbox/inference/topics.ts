import type { Segment } from './script.ts';

/** Prompts that the demo answers well. The README, the walkthrough and the chat suggest the same prompts. */
export const demoPrompts = [
  '/access who can administer meridian?',
  '/access what can dora.haddad reach?',
  '/access who is in break-glass?',
  '/explain',
] as const;

const [administer, reach, members, explain] = demoPrompts;

const connectHint: Segment = [
  'To get real answers, connect your own cloud in the settings.',
  'Connect your own cloud in the settings for real answers.',
  'Real answers come from your own cloud, once it is configured.',
];

const promptsIntro = "I'm a demo model and can only answer prompts like these:\n\n";

/** The answer to questions about the guide itself and to anything that it does not understand. */
const promptsAnswer: readonly Segment[] = [
  promptsIntro,
  `- \`${administer}\`\n- \`${reach}\`\n- \`${members}\`\n- \`${explain}\` with a file open\n\n`,
  connectHint,
];

/** The same if the request offers no tools: on the command line, or in a workspace without tools. */
const promptsWithoutTools: readonly Segment[] = [
  promptsIntro,
  '- `explain roles`\n- `what is a token?`\n- `count to 20`\n- `sort the lines`, with a file attached\n\n',
  'The access tools are not offered here. They are in VS Code’s chat, after `@rolecall`:\n\n',
  `- \`${administer}\`\n- \`${reach}\`\n- \`${members}\`\n- \`${explain}\` with a file open\n\n`,
  'On the command line, use `rolecall who-has` and `rolecall access`. ',
  connectHint,
];

interface Topic {
  /** The first topic whose pattern matches is chosen. */
  readonly about: RegExp;
  readonly answer: readonly Segment[];
  /** Whether the suggested prompts follow the answer. */
  readonly thenPrompts?: true;
}

/** The answers of the guide. Nested arrays contain alternative wordings, among which the seed chooses. */
const topics: readonly Topic[] = [
  {
    about: /\bwhat (?:can|could|do) you\b|\bwho are you\b|\bwhat are you\b|^\s*help\b/i,
    answer: [],
    thenPrompts: true,
  },
  {
    about: /\b(?:roles?|groups?|access|permissions?|administrators?|organi[sz]ations?|members?)\b/i,
    answer: [
      'Access in this cloud has **three layers**:\n\n',
      '1. An *organization* holds people, service accounts and groups.\n',
      '2. A *group* binds its members to roles.\n',
      '3. A *role* is a set of permissions ',
      ['with a name that says what it is for', 'that can be granted as a whole'],
      '.\n\n',
      [
        'What a person can do is the union of the roles of all their groups.',
        'To learn what a person can reach, combine the roles of all groups they belong to.',
        'No one has a role directly: roles are granted through groups.',
      ],
      ` To look something up, ask with \`/access\`, for example \`${administer}\``,
    ],
  },
  {
    about: /\b(?:temperature|top_p|logprobs?|probabilit\w+|tokens?|seed|sampl\w+)\b/i,
    answer: [
      'Every word of this answer is chosen from a **distribution over tokens**.\n\n',
      '- `temperature` flattens or sharpens it; at 0 the most probable token always wins.\n',
      '- `top_p` keeps the smallest set of tokens that has that share of the probability.\n',
      '- `seed` makes the choice ',
      ['repeatable', 'the same every time'],
      '.\n- `logprobs` reports how probable each chosen token was.\n\n',
      [
        'Try the same request with two seeds and compare the wording of this sentence.',
        'Ask for several choices and see where their wordings differ.',
        'Ban a word with `logit_bias` and see which token replaces it.',
      ],
    ],
  },
  {
    about: /\btools?\b/i,
    answer: [
      'I can call the tools that come with a request. ',
      ['Name one of them', 'Say which one you want'],
      ', for example "run the `list_files` tool", and put its arguments in quotes or write them as `name=value`. ',
      'I call several at once when you name several, and one after the other when you say "then".',
    ],
  },
  {
    about: /\b(?:sandbox|which model)\b/i,
    answer: [
      'This is the **sandbox**: a demo cloud on your own machine, with an identity service and an inference service. ',
      ['Nothing you type here leaves the machine. ', 'It needs no account and no network. '],
    ],
    thenPrompts: true,
  },
  {
    about: /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b/i,
    answer: [['Hello! ', 'Welcome! ', 'Good to see you. ']],
    thenPrompts: true,
  },
];

/** The answer on the topic of the text, or the suggested prompts if it has no known topic. */
export function topicAnswer(text: string, hasTools: boolean): readonly Segment[] {
  const prompts = hasTools ? promptsAnswer : promptsWithoutTools;
  const topic = topics.find(({ about }) => about.test(text));
  return topic ? wholeAnswer(topic, prompts) : prompts;
}

const wholeAnswer = ({ answer, thenPrompts }: Topic, prompts: readonly Segment[]): readonly Segment[] =>
  thenPrompts ? [...answer, ...prompts] : answer;

/** The answers of the guide as plain text, on which the n-gram model is trained. */
export const textsOfGuide: readonly string[] = [
  ...topics.map((topic) => wholeAnswer(topic, promptsAnswer)),
  promptsAnswer,
].flatMap(renderings);

/** Renders enough texts that every wording of every segment occurs in at least one of them. */
function renderings(segments: readonly Segment[]): string[] {
  const count = Math.max(...segments.map((segment) => (typeof segment === 'string' ? 1 : segment.length)));
  return Array.from({ length: count }, (_, index) =>
    segments.map((segment) => (typeof segment === 'string' ? segment : segment[index % segment.length])).join(''),
  );
}

import type { Segment } from './script.ts';

interface Topic {
  /** The topic is chosen when this matches; the first that matches wins. */
  readonly about: RegExp;
  readonly answer: readonly Segment[];
}

/** What the guide knows to say. Wordings in brackets are alternatives among which the seed decides. */
const topics: readonly Topic[] = [
  {
    about: /\b(?:roles?|groups?|access|permissions?|administrators?|organi[sz]ations?|members?)\b/i,
    answer: [
      'Access in this cloud has **three layers**:\n\n',
      '1. An *organization* holds people, service accounts and groups.\n',
      '2. A *group* gathers subjects and grants them its roles.\n',
      '3. A *role* is a set of permissions ',
      ['with a name that says what it is for', 'under one name, so that it can be granted as a whole'],
      '.\n\n',
      [
        'To learn what a person can reach, take every group they belong to and join the roles of those groups.',
        'What a person may do is the union of the roles of all their groups; nothing else adds to it.',
        'Nobody holds a role directly: a role always reaches a person through a group.',
      ],
      ' The tree view shows the same facts, and an access review can be exported from it.',
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
        'Ask for several choices and see where their wordings part.',
        'Ban a word with `logit_bias` and watch another take its place.',
      ],
    ],
  },
  {
    about: /\btools?\b/i,
    answer: [
      'I can call the tools that come with a request. ',
      ['Name one of them', 'Say which one you want'],
      ', for example "run the `list_files` tool", and put its arguments in quotes or write them as `name=value`. ',
      'I call several at once when you name several, and one after the other when you say "then". ',
      'When the results arrive I quote them.',
    ],
  },
  {
    about: /\b(?:sandbox|who are you|what are you|which model)\b/i,
    answer: [
      'This is the **sandbox**: a small cloud that runs on your own machine, with an identity service and an inference service. ',
      ['Nothing you type here leaves the machine.', 'It needs no account and no network.'],
      ' I am its guide, a language model of a few thousand tokens: I answer from templates and do not really understand what I am told. ',
      [
        'Connect the real services in the settings when you want real answers.',
        'The real services are a setting away.',
      ],
    ],
  },
  {
    about: /\b(?:tests?|testing|deploy\w*|release|incident|outage|monitor\w*)\b/i,
    answer: [
      'A sound order of work for operations:\n\n',
      '1. Write down what must hold, as a test that can fail.\n',
      '2. Change one thing at a time.\n',
      '3. Watch the numbers before and after.\n\n',
      [
        'A change that cannot be undone deserves a second pair of eyes.',
        'When something breaks, say what happened first and find the cause second.',
      ],
    ],
  },
  {
    about: /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b/i,
    answer: [
      ['Hello! ', 'Welcome! ', 'Good to see you. '],
      'I am the **sandbox guide**, a tiny language model on your own machine. Ask me about *access*, *roles* and *groups*, about *tokens* and *probabilities*, or name one of the tools that are offered to me.',
    ],
  },
];

/** Segments on the subject of the text, or undefined when the guide knows none. */
export function topicAnswer(text: string): readonly Segment[] | undefined {
  return topics.find(({ about }) => about.test(text))?.answer;
}

/** What the guide says when it knows nothing on the subject. */
export const generalAnswer: readonly Segment[] = [
  ['As the guide of the sandbox', 'As a model of the sandbox'],
  ' I answer from templates: ',
  ['I can show how an answer arrives', 'I can show how an answer looks'],
  ', not what a large model would say. ',
  'Ask about **access**, **tokens** or **tools**, send a fenced code block, or ',
  ['connect the real services for a real answer.', 'choose one of your own models for a real answer.'],
];

/** Everything above as plain texts, so that the n-gram model has read what the guide says. */
export const textsOfGuide: readonly string[] = [...topics.map(({ answer }) => answer), generalAnswer].flatMap(
  renderings,
);

/** As many texts as the segment with the most wordings has, each wording in at least one of them. */
function renderings(segments: readonly Segment[]): string[] {
  const count = Math.max(...segments.map((segment) => (typeof segment === 'string' ? 1 : segment.length)));
  return Array.from({ length: count }, (_, round) =>
    segments.map((segment) => (typeof segment === 'string' ? segment : segment[round % segment.length])).join(''),
  );
}

import type { ChatMessage, ChatRequest, FunctionTool } from './request.ts';
import type { PlannedCall } from './script.ts';

/** A question about access: the tool that answers it, and its arguments. */
interface AccessQuestion {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** The group whose members are asked for, which no tool lists by itself. */
  readonly group?: string;
  /** The organization, where the question names one. */
  readonly organization?: string;
}

interface Pattern {
  readonly asks: RegExp;
  readonly means: (name: string, question: string) => Omit<AccessQuestion, 'organization'>;
}

const role = (name: string) => ({ tool: 'who_has_role', arguments: { role: name } });

const groupFilters: readonly (readonly [RegExp, string])[] = [
  [/\bunhealthy\b|\bnot healthy\b|\battention\b/i, '-health:healthy'],
  [/\bdegraded\b/i, 'health:degraded'],
  [/\bin error\b|\bfail/i, 'health:error'],
  [/\bempty\b|\b(?:without|no) members\b/i, 'is:empty'],
  [/\bdelet/i, 'is:deleting'],
];

/** The first that matches decides. Names are what the pattern's group holds. */
const patterns: readonly Pattern[] = [
  {
    asks: /\bwho (?:can|may) (?:administer|administrate|manage)\b(?: (.+))?|\bwho can change (?:who has )?access\b|\bwho (?:is|are) (?:an? |the )?admin(?:istrator)?s?\b(?: (?:of|in) (.+))?|\badmin(?:istrator)?s of (.+)/i,
    means: () => role('administrator'),
  },
  {
    asks: /\bwho(?: is|'s|’s| are) (?:all )?(?:in|part of|(?:a )?members? of) (?:the )?(?:group )?(.+)|\bmembers of (?:the )?(?:group )?(.+)/i,
    means: (name) => ({ tool: 'list_groups', arguments: { filter: `name:${name}` }, group: name }),
  },
  {
    asks: /\bwho (?:has|have|holds?|gets?) (?:the )?(?:role )?(.+)/i,
    means: (name) => role(name.replace(/ role$/i, '')),
  },
  {
    asks: /\b(?:what|which)(?: access| roles?)? (?:can|may|does|do|has) (?!(?:you|i|we|it|this|that|these|they|an?)\b)(\S+) (?:reach|access|do|have|see|use|administer|get)\b(.*)|\b(?:effective )?access of (.+)/i,
    means: (name) => ({ tool: 'effective_access', arguments: { who: name } }),
  },
  {
    asks: /\b(?:which|what|list|show|all|how many)\b[^?\n]*\bgroups\b/i,
    means: (_, question) => {
      const filter = groupFilters.find(([words]) => words.test(question))?.[1];
      return { tool: 'list_groups', arguments: filter === undefined ? {} : { filter } };
    },
  },
  {
    asks: /\b(?:which|what|list|show|all|how many)\b[^?\n]*\broles\b/i,
    means: () => ({ tool: 'list_roles', arguments: {} }),
  },
];

/** Undefined when the text asks nothing about access that the demo model understands. */
export function accessQuestion(text: string): AccessQuestion | undefined {
  const asked = text.split('\n').find((each) => patterns.some(({ asks }) => asks.test(each)));
  if (asked === undefined) return undefined;
  const labelled = /\borganization: (.*)/i.exec(asked);
  const line = labelled ? asked.slice(0, labelled.index).trimEnd() : asked;
  for (const { asks, means } of patterns) {
    const found = asks.exec(line);
    if (!found) continue;
    const captured = found.slice(1).filter((part) => part !== undefined && part !== '');
    const [name = '', within] = namesIn(captured.join(' '));
    const question = means(name, line);
    // What is administered is the organization itself: the name is no argument of its own.
    const isArgument = Object.values(question.arguments).some((value) => value.endsWith(name));
    const atTheEnd = /\b(?:in|of|at) (?!error\b)(\S+?)[?.!]*$/i.exec(line)?.[1];
    const where = labelled?.[1] ?? within ?? (name === '' ? atTheEnd : isArgument ? undefined : name);
    return where === undefined ? question : { ...question, organization: namesIn(where)[0] ?? where };
  }
  return undefined;
}

/** A name, and the organization that it is said to be in: as quoted, else the words up to a sign that ends a clause. */
function namesIn(text: string): readonly string[] {
  const quoted = /^\s*["'`“](.+?)["'`”](.*)/.exec(text);
  const [words, rest] = quoted ? [quoted[1], quoted[2]] : [undefined, text];
  const [first = '', within] = (rest?.split(/[,;?!](?:\s|$)|\.$|\.\s/)[0] ?? '')
    .split(/(?:^|\s+)(?:in|of|at|within) (?:the )?(?:organization )?/i)
    .map((part) => part.replace(/["'`“”‘’]/g, '').trim());
  return [words ?? first, within ?? ''].filter((name) => name !== '');
}

/** The tool of that name, with any prefix of a client. */
function toolNamed(tools: readonly FunctionTool[], name: string): FunctionTool | undefined {
  return tools.find((tool) => tool.name === name || tool.name.endsWith(`_${name}`));
}

export function offersAccess({ tools, toolChoice }: ChatRequest): boolean {
  return toolChoice !== 'none' && ['who_has_role', 'list_groups'].some((name) => toolNamed(tools, name));
}

/** How many organizations are asked at once where the question names none. */
const mostOrganizations = 3;

/**
 * The calls that answer the question, whether made already or not. A question that names no organization is asked of the
 * one that the conversation was about, else of each one that instructions or results have named.
 */
export function accessCalls(request: ChatRequest, question: AccessQuestion): readonly PlannedCall[] {
  const tool = toolNamed(request.tools, question.tool);
  if (!tool) return [];
  const known = knownOrganizations(request.messages);
  const calls = organizationsOf(question, known, request.messages).map((organization) => ({
    name: tool.name,
    arguments: { ...question.arguments, ...(organization !== undefined && { organization }) },
  }));
  const holders = question.group === undefined ? undefined : holdersOfGroup(request, question.group);
  return holders ? [...calls, holders] : calls;
}

function organizationsOf(
  { organization: asked }: AccessQuestion,
  known: readonly Named[],
  messages: readonly ChatMessage[],
): readonly (string | undefined)[] {
  if (asked !== undefined) {
    const is = (name: string) => name.toLowerCase() === asked.toLowerCase();
    return [known.find(({ id, name }) => is(id) || is(name))?.id ?? asked];
  }
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const earlier = messages
    .slice(0, start)
    .flatMap(({ toolCalls }) => toolCalls.map((call) => call.arguments.organization));
  const last = earlier.findLast((value) => typeof value === 'string');
  if (typeof last === 'string') return [last];
  return known.length > 0 ? known.slice(0, mostOrganizations).map(({ id }) => id) : [undefined];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Lists such as "The user's organizations: meridian (Meridian), big-sky." in instructions and results. */
function knownOrganizations(messages: readonly ChatMessage[]): readonly Named[] {
  const lists = messages
    .filter(({ role }) => role !== 'user' && role !== 'assistant')
    .flatMap(({ text }) => [...text.matchAll(/\borganizations(?: are)?: ([^\n]+?)(?:\.(?=\s|$)|\n|$)/gi)]);
  return (lists.at(-1)?.[1] ?? '').split(', ').flatMap((entry) => {
    const [, id, name] = /^(\S+)(?: \((.*)\))?$/.exec(entry.trim()) ?? [];
    return id === undefined ? [] : [{ id, name: name ?? id }];
  });
}

/** Results say how many members a group has and which roles it grants; who has one of those lists the members. */
function holdersOfGroup({ messages, tools }: ChatRequest, group: string): PlannedCall | undefined {
  const tool = toolNamed(tools, 'who_has_role');
  for (const { text, answers } of resultsOfRound(messages)) {
    const [, members, granted] =
      lineOf(text, group)?.match(
        /: (\d+) (?:member|subject|user ID|service account)s?\b.*?\bgrants (?:the roles? )?([^,;]+)/,
      ) ?? [];
    if (!tool || members === undefined || members === '0' || !granted || /^no\b/.test(granted)) continue;
    const { organization } = answers?.arguments ?? {};
    return {
      name: tool.name,
      arguments: { role: granted.trim(), ...(typeof organization === 'string' && { organization }) },
    };
  }
  return undefined;
}

const resultsOfRound = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1).filter(({ role }) => role === 'tool');

function lineOf(text: string, group: string): string | undefined {
  return text.split('\n').find((line) => line.toLowerCase().startsWith(`${group.toLowerCase()} (`));
}

/** Those holders of a role who have it through the group that was asked for. */
export function membersAnswer(
  messages: readonly ChatMessage[],
  question: AccessQuestion,
): readonly string[] | undefined {
  const { group } = question;
  const holders = resultsOfRound(messages).findLast(({ answers }) => answers?.name.endsWith('who_has_role'));
  if (group === undefined || !holders) return undefined;
  const lines = holders.text.split('\n').filter((line) => line.includes(` ${group} (`));
  return lines.length === 0 ? undefined : lines.map((line) => line.replace(/ through .*$/, ''));
}

/** The lines about a name in the instructions, for a model that was given lists instead of tools. */
export function linesAbout({ messages }: ChatRequest, question: AccessQuestion): readonly string[] | undefined {
  const given = messages.filter(({ role }) => role === 'system' || role === 'developer').map(({ text }) => text);
  const lists = given.filter((text) => /^(?:Groups|Roles) of /m.test(text)).join('\n');
  if (lists === '') return undefined;
  const wanted = Object.values(question.arguments).map((value) => value.replace(/^name:/, '').toLowerCase());
  return lists
    .split('\n')
    .filter((line) => line.includes('(id ') && wanted.every((name) => line.toLowerCase().includes(name)));
}

/** Whether the instructions mention access at all: then the question was asked the right way. */
export const isBriefed = ({ messages }: ChatRequest): boolean =>
  messages.some(({ role, text }) => role === 'system' && /\bidentity service\b/i.test(text));

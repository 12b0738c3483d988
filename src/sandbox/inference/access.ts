import type { ChatMessage, ChatRequest, FunctionTool } from './request.ts';
import type { PlannedCall } from './script.ts';

/** A question about access, as the tool that answers it and the arguments of the tool. */
interface AccessQuestion {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string>>;
  /** Set if the question asks for the members of this group, which no single tool lists. */
  readonly group?: string;
  /** The organization that the question names. */
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

/** The first matching pattern is used. The name in the question is in a capturing group. */
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

/** Returns `undefined` if the text contains no question about access that the demo model understands. */
export function accessQuestion(text: string): AccessQuestion | undefined {
  const matchingLine = text.split('\n').find((each) => patterns.some(({ asks }) => asks.test(each)));
  if (matchingLine === undefined) return undefined;
  const label = /\borganization: (.*)/i.exec(matchingLine);
  const line = label ? matchingLine.slice(0, label.index).trimEnd() : matchingLine;
  for (const { asks, means } of patterns) {
    const match = asks.exec(line);
    if (!match) continue;
    const captures = match.slice(1).filter((part) => part !== undefined && part !== '');
    const [name = '', containingOrganization] = namesIn(captures.join(' '));
    const question = means(name, line);
    // In "who can administer NAME", the name is the organization and not an argument.
    const isArgument = Object.values(question.arguments).some((value) => value.endsWith(name));
    const organizationAtEnd = /\b(?:in|of|at) (?!error\b)(\S+?)[?.!]*$/i.exec(line)?.[1];
    const organizationText =
      label?.[1] ?? containingOrganization ?? (name === '' ? organizationAtEnd : isArgument ? undefined : name);
    return organizationText === undefined
      ? question
      : { ...question, organization: namesIn(organizationText)[0] ?? organizationText };
  }
  return undefined;
}

/** The name at the start of the text, quoted or up to the next punctuation, and the organization that follows "in". */
function namesIn(text: string): readonly string[] {
  const quoted = /^\s*["'`“](.+?)["'`”](.*)/.exec(text);
  const [quotedName, rest] = quoted ? [quoted[1], quoted[2]] : [undefined, text];
  const [first = '', organization] = (rest?.split(/[,;?!](?:\s|$)|\.$|\.\s/)[0] ?? '')
    .split(/(?:^|\s+)(?:in|of|at|within) (?:the )?(?:organization )?/i)
    .map((part) => part.replace(/["'`“”‘’]/g, '').trim());
  return [quotedName ?? first, organization ?? ''].filter((name) => name !== '');
}

/** Finds a tool by its name. Clients may add a prefix to the name. */
function toolNamed(tools: readonly FunctionTool[], name: string): FunctionTool | undefined {
  return tools.find((tool) => tool.name === name || tool.name.endsWith(`_${name}`));
}

export function offersAccess({ tools, toolChoice }: ChatRequest): boolean {
  return toolChoice !== 'none' && ['who_has_role', 'list_groups'].some((name) => toolNamed(tools, name));
}

/** How many organizations to query at once if the question names none. */
const maxOrganizations = 3;

/**
 * The calls that answer the question, including calls that have already been made. If the question names no
 * organization, the calls are for the last organization in the conversation or, if there is none, for those that
 * instructions or tool results list.
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
  { organization: requested }: AccessQuestion,
  known: readonly OrganizationName[],
  messages: readonly ChatMessage[],
): readonly (string | undefined)[] {
  if (requested !== undefined) {
    const isRequested = (name: string) => name.toLowerCase() === requested.toLowerCase();
    return [known.find(({ id, name }) => isRequested(id) || isRequested(name))?.id ?? requested];
  }
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const earlierOrganizations = messages
    .slice(0, start)
    .flatMap(({ toolCalls }) => toolCalls.map((call) => call.arguments.organization));
  const last = earlierOrganizations.findLast((value) => typeof value === 'string');
  if (typeof last === 'string') return [last];
  return known.length > 0 ? known.slice(0, maxOrganizations).map(({ id }) => id) : [undefined];
}

interface OrganizationName {
  readonly id: string;
  readonly name: string;
}

/** Reads lists such as "The user's organizations: meridian (Meridian), big-sky." in instructions and tool results. */
function knownOrganizations(messages: readonly ChatMessage[]): readonly OrganizationName[] {
  const lists = messages
    .filter(({ role }) => role !== 'user' && role !== 'assistant')
    .flatMap(({ text }) => [...text.matchAll(/\borganizations(?: are)?: ([^\n]+?)(?:\.(?=\s|$)|\n|$)/gi)]);
  return (lists.at(-1)?.[1] ?? '').split(', ').flatMap((entry) => {
    const [, id, name] = /^(\S+)(?: \((.*)\))?$/.exec(entry.trim()) ?? [];
    return id === undefined ? [] : [{ id, name: name ?? id }];
  });
}

/**
 * The call that lists the members of a group. Tool results only say how many members the group has and which roles it
 * grants, but the holders of such a role can be listed.
 */
function holdersOfGroup({ messages, tools }: ChatRequest, group: string): PlannedCall | undefined {
  const tool = toolNamed(tools, 'who_has_role');
  for (const { text, answers } of resultsOfRound(messages)) {
    const [, members, role] =
      lineOf(text, group)?.match(
        /: (\d+) (?:member|subject|user ID|service account)s?\b.*?\bgrants (?:the roles? )?([^,;]+)/,
      ) ?? [];
    if (!tool || members === undefined || members === '0' || !role || /^no\b/.test(role)) continue;
    const { organization } = answers?.arguments ?? {};
    return {
      name: tool.name,
      arguments: { role: role.trim(), ...(typeof organization === 'string' && { organization }) },
    };
  }
  return undefined;
}

const resultsOfRound = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1).filter(({ role }) => role === 'tool');

function lineOf(text: string, group: string): string | undefined {
  return text.split('\n').find((line) => line.toLowerCase().startsWith(`${group.toLowerCase()} (`));
}

/** The members of the group in the question: the holders of a role who have it through that group. */
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

/** The lines in the instructions that match the question. Clients put lists there for models that cannot call tools. */
export function linesAbout({ messages }: ChatRequest, question: AccessQuestion): readonly string[] | undefined {
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer').map(({ text }) => text);
  const lists = instructions.filter((text) => /^(?:Groups|Roles) of /m.test(text)).join('\n');
  if (lists === '') return undefined;
  const terms = Object.values(question.arguments).map((value) => value.replace(/^name:/, '').toLowerCase());
  return lists
    .split('\n')
    .filter((line) => line.includes('(id ') && terms.every((name) => line.toLowerCase().includes(name)));
}

/** Whether the instructions mention the identity service, as those of `/access` do. */
export const isBriefed = ({ messages }: ChatRequest): boolean =>
  messages.some(({ role, text }) => role === 'system' && /\bidentity service\b/i.test(text));

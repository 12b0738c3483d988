import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/mini';
import {
  type AccessToolName,
  answerQuestion,
  DEFAULT_TOKEN_BUDGET,
  type DescribedAccessTool,
  estimateTokens,
  REFUSAL,
  readQuestion,
} from '../core/access/accessTools.ts';
import { withTimeout } from '../core/base/abort.ts';
import { asRolecallError, cancelled, isCancelled } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import type { Services } from './services.ts';
import { readOrganization } from './services.ts';

/** Calls to the window whose sign-in is used, for what only a window can do. */
export interface WindowCalls {
  /** See `JoinedWindow.call`. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<unknown>;
}

export interface McpServerDeps {
  readonly version: string;
  readonly accessTools: readonly DescribedAccessTool[];
  /** The folder whose tools are offered, if any. */
  readonly folder: string | undefined;
  /** Opens a sign-in; `window` if it is a window's. The user may be asked first. */
  readonly open: () => Promise<{ readonly services: Services; readonly window: WindowCalls | undefined }>;
  readonly log: Log;
}

const toolsSchema = z.array(
  z.object({ name: z.string(), description: z.optional(z.string()), parameters: z.optional(z.looseObject({})) }),
);
const resultSchema = z.object({ content: z.string(), isError: z.boolean() });

/** How long a list of tools waits for a window, in milliseconds. */
const LIST_WAIT_MS = 2000;

/** The protocol's form of a tool result. */
interface ToolAnswer {
  readonly content: { type: 'text'; text: string }[];
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

/** Serves the access tools, and the tools of the workspace that a window has open, on standard input and output until `signal`. */
export function serveTools(deps: McpServerDeps, signal: AbortSignal): void {
  const { log } = deps;
  const handle = serveStdio(() => createServer(deps), {
    onerror: (error) => log.warn(`The client sent a message that could not be understood: ${error.message}`),
  });
  signal.addEventListener('abort', () => void handle.close(), { once: true }); // Nothing is left to report it to.
}

function createServer(deps: McpServerDeps): Server {
  const { version, accessTools, folder, open, log } = deps;
  const info = { name: 'rolecall', title: 'Rolecall', version };
  const server = new Server(info, { capabilities: { tools: { listChanged: true } } });

  server.setRequestHandler('tools/list', async (_request, { mcpReq: { signal } }) => ({
    tools: [...accessTools.map(listedAccessTool), ...(await workspaceTools(signal))],
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<ToolAnswer> => {
    const { name, arguments: args } = params;
    const { signal } = mcpReq;
    try {
      const accessTool = accessTools.find((tool) => tool.name === name)?.name;
      const recipient = recipientOf(mcpReq.envelope);
      return accessTool === undefined
        ? await callWorkspaceTool(name, args, signal)
        : textAnswer(await answerAccess(accessTool, args, recipient, signal));
    } catch (error) {
      const problem = asRolecallError(error);
      if (isCancelled(problem)) throw problem;
      log.info(`The tool ${name} failed: ${problem.message}`);
      return textAnswer(`Rolecall could not answer: ${problem.message}`, true);
    }
  });
  return server;

  /** As for agents in the editor: the user is asked, then the lists are read, then the answer is cut to fit. */
  async function answerAccess(
    tool: AccessToolName,
    args: unknown,
    recipient: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { services, window } = await open();
    const question = readQuestion(tool, args, await services.organizations(signal), 'others');
    const { organization } = question;
    if (window && (await window.call('share', { tool, organization, recipient }, signal)) !== true) {
      if (signal.aborted) throw cancelled(signal.reason);
      return REFUSAL;
    }
    const model = await readOrganization(services, organization, (message) => log.info(message), signal);
    return answerQuestion(model, question, DEFAULT_TOKEN_BUDGET, estimateTokens);
  }

  /**
   * No tools without a window: only there can the user be asked. While the user is asked whether a sign-in can be used,
   * the client does not wait: it is notified later. A failure hides the tools, and is reported when one is called.
   */
  async function workspaceTools(signal: AbortSignal) {
    if (folder === undefined) return [];
    try {
      const opening = open();
      const opened = await withTimeout(opening, LIST_WAIT_MS, signal);
      // Reported when a tool is called.
      if (!opened) void opening.then(() => server.sendToolListChanged()).catch(() => {});
      const window = opened?.window;
      const listed = z.safeParse(toolsSchema, await window?.call('listTools', { folder }, signal));
      return listed.success ? listed.data.map(listedWorkspaceTool) : [];
    } catch (error) {
      log.info(`The tools of the workspace could not be offered: ${asRolecallError(error).message}`);
      return [];
    }
  }

  async function callWorkspaceTool(name: string, args: unknown, signal: AbortSignal): Promise<ToolAnswer> {
    const window = folder === undefined ? undefined : (await open()).window;
    if (!window) return textAnswer('There is no tool with this name.', true);
    const input = { folder, name, arguments: args };
    const { content, isError } = z.parse(resultSchema, await window.call('callTool', input, signal));
    return textAnswer(content, isError);
  }

  /** The client's own name. */
  function recipientOf(envelope: unknown): string {
    const parsed = z.safeParse(clientSchema, envelope);
    const name = parsed.success
      ? parsed.data['io.modelcontextprotocol/clientInfo'].name
      : server.getClientVersion()?.name;
    return `the MCP client "${name ?? 'unknown'}"`;
  }
}

/** Newer clients say with each request who they are, older ones once. */
const clientSchema = z.object({ 'io.modelcontextprotocol/clientInfo': z.object({ name: z.string() }) });

function listedAccessTool({ name, displayName, modelDescription, inputSchema }: DescribedAccessTool) {
  const annotations = { title: displayName, readOnlyHint: true, openWorldHint: false };
  return { name, title: displayName, description: modelDescription, inputSchema, annotations };
}

function listedWorkspaceTool({ name, description, parameters }: z.infer<typeof toolsSchema>[number]) {
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: { ...parameters, type: 'object' as const },
  };
}

function textAnswer(text: string, isError = false): ToolAnswer {
  return { content: [{ type: 'text', text }], ...(isError && { isError }) };
}

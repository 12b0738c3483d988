import assert from 'node:assert/strict';
import type { PromptCase } from '../../../../src/core/prompts/promptCases.ts';
import { RequestQueue } from '../../../../src/core/prompts/promptClient.ts';
import { type PromptFile, readPromptFile } from '../../../../src/core/prompts/promptFile.ts';
import { fileErrors, type PromptResources } from '../../../../src/core/prompts/promptRequest.ts';
import { type RunDeps, type RunEvent, type RunPlan, runCases } from '../../../../src/core/prompts/runCases.ts';
import type { PromptRun } from '../../../../src/core/prompts/runResults.ts';
import { silentLog } from '../../../support/silentLog.ts';

/** What a service of the test answers with: a status and a body, or whatever the promise says. */
export type Reply = Response | Promise<Response>;

/** The whole answer in which the model says `text`. */
export function says(text: string, more: object = {}, head: object = {}): Response {
  const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop', ...more };
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  return json({ object: 'chat.completion', model: 'm', choices: [choice], usage, ...head });
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
}

export function refuses(status: number, message: string, headers?: Record<string, string>, param?: string): Response {
  return json({ error: { code: String(status), message, error_type: 'x', param } }, status, headers);
}

export interface SentRequest {
  readonly body: Record<string, unknown>;
  /** Of the last message. */
  readonly text: string;
}

/** Resources of a test: files by path, tools by name. */
export function resourcesOf(
  files: Readonly<Record<string, string>> = {},
  tools: readonly string[] = [],
): PromptResources {
  const read = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw fileErrors.missing(path);
    return text;
  };
  return {
    readText: async (path) => read(path),
    readImage: async (path) => new TextEncoder().encode(read(path)),
    tools: async () => tools.map((name) => ({ type: 'function', function: { name } })),
  };
}

/** A run of `yaml` against a service that answers with `reply`. */
export async function play(
  yaml: string,
  reply: (request: SentRequest, index: number) => Reply,
  more: {
    readonly plan?: Partial<RunPlan>;
    /** Requests at one time. */
    readonly concurrency?: number;
    readonly deps?: Partial<RunDeps>;
    readonly onEvent?: (event: RunEvent) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<{ run: PromptRun; sent: SentRequest[]; events: RunEvent[]; file: PromptFile }> {
  const file = readPromptFile(yaml);
  assert.deepEqual(
    file.problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  const sent: SentRequest[] = [];
  const events: RunEvent[] = [];
  const deps: RunDeps = {
    inference: {
      log: silentLog,
      accessToken: async () => 'canary-token-of-the-test',
      fetch: async (_url, init) => {
        init?.signal?.throwIfAborted();
        const body = JSON.parse(String(init?.body)) as Record<string, unknown>;
        const messages = body.messages as { content: unknown }[];
        const request = { body, text: String(messages.at(-1)?.content) };
        sent.push(request);
        const aborted = new Promise<never>((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        });
        return await Promise.race([reply(request, sent.length - 1), aborted]);
      },
    },
    connection: { inferenceUrl: 'https://inference.example.com' },
    resources: resourcesOf(),
    judgeModel: (name) => name,
    judgeAdvice: 'Choose one.',
    queue: new RequestQueue(more.concurrency),
    ...more.deps,
  };
  const plan: RunPlan = { file, path: 'a.prompt.yml', cases: file.cases, models: ['m'], ...more.plan };
  const onEvent = (event: RunEvent) => {
    events.push(event);
    more.onEvent?.(event);
  };
  const run = await runCases(plan, deps, onEvent, more.signal ?? new AbortController().signal);
  return { run, sent, events, file };
}

export function onlyCase(file: PromptFile): PromptCase {
  const [one] = file.cases;
  assert.ok(one);
  return one;
}

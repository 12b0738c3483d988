import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ChatMessage } from '../../../src/core/completions/request.ts';
import { registerParticipant } from '../../../src/host/chat/register.ts';
import type { Cloud } from '../../../src/host/cloud.ts';
import type { Briefing, ToolRegistry, ToolRegistryOptions } from '../../../src/host/conversation.ts';
import type { ModelCatalog } from '../../../src/host/modelCatalog.ts';
import { chatParticipant } from '../../../src/ids.ts';
import { chatRequest, FakeStream } from './chat.ts';
import { Patches } from './patches.ts';
import { type Scene, signInAs } from './scene.ts';

/** A chat with `@rolecall`, whose handler is called as VS Code would. */
export class Chat {
  toolRegistry: ToolRegistry = { tools: [], invoke: async () => assert.fail('there is no tool to call') };
  briefing: Briefing = { instructions: 'Answer about access.' };
  /** Whether `/access` was told that the model calls tools. */
  readonly briefed: boolean[] = [];
  /** What each request wanted of its tools. */
  readonly opened: ToolRegistryOptions[] = [];
  stream = new FakeStream();
  readonly catalog: ModelCatalog;
  readonly #scene: Scene;
  readonly #bodies: unknown[] = [];
  #handler: vscode.ChatRequestHandler = () => assert.fail('no participant is registered');

  constructor(scene: Scene) {
    this.#scene = scene;
    this.catalog = scene.catalog();
    const { clouds } = scene;
    const patches = new Patches();
    patches.set(vscode.chat, 'createChatParticipant', (id: string, handler: vscode.ChatRequestHandler) => {
      assert.equal(id, chatParticipant);
      this.#handler = handler;
      return { dispose: () => {} };
    });
    const openTools = async (opening: ToolRegistryOptions = {}) => {
      this.opened.push(opening);
      return this.toolRegistry;
    };
    const briefAccess = async (callsTools: boolean) => {
      this.briefed.push(callsTools);
      return this.briefing;
    };
    const icon = vscode.Uri.file('/icon.png');
    const { catalog } = this;
    const lastExchange = {};
    const deps = { ...scene.request(), clouds, catalog, openTools, briefAccess, lastExchange, icon };
    scene.own(registerParticipant(deps));
    patches.restore();
  }

  /** The configured services, signed in to; from now on requests are noted. */
  async signedIn(): Promise<Cloud> {
    this.#scene.network = (address, init) => {
      if (String(address).endsWith('completions')) this.#bodies.push(JSON.parse(String(init?.body)));
      return fetch(address, init);
    };
    const cloud = await this.#scene.startService();
    await signInAs(cloud, 'administrator');
    return cloud;
  }

  async ask(
    request: vscode.ChatRequest | string,
    history: (vscode.ChatRequestTurn | vscode.ChatResponseTurn)[] = [],
    token: vscode.CancellationToken = new vscode.CancellationTokenSource().token,
  ): Promise<vscode.ChatResult> {
    const asked = typeof request === 'string' ? chatRequest(request) : request;
    const stream = this.stream as unknown as vscode.ChatResponseStream;
    return (await this.#handler(asked, { history }, stream, token)) ?? {};
  }

  /** The body of the last completion request. */
  sent(): { readonly model: string; readonly messages: ChatMessage[]; readonly [field: string]: unknown } {
    return this.#bodies.at(-1) as ReturnType<Chat['sent']>;
  }

  /** The answer without the escapes of Markdown. */
  read(): string {
    return this.stream.text.replaceAll('\\', '');
  }

  /** Commands of the buttons that were offered. */
  steps(): string[] {
    return this.stream.buttons.map(({ command }) => command);
  }
}

/** A chat of its own for each test of the `describe` that calls this. */
export function useChat(scene: () => Scene): () => Chat {
  let chat: Chat | undefined;
  beforeEach(() => {
    chat = new Chat(scene());
  });
  return () => chat ?? assert.fail('there is no chat outside of a test');
}

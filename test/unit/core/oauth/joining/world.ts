import fs from 'node:fs';
import { freshFolder } from '../../../../../scripts/paths.ts';
import type { Fetch } from '../../../../../src/core/base/http.ts';
import { findWindows } from '../../../../../src/core/oauth/joining/findWindows.ts';
import type { JoinedWindow } from '../../../../../src/core/oauth/joining/joinedWindow.ts';
import {
  JoiningServer,
  type JoiningServerDeps,
  type SharedSignIn,
} from '../../../../../src/core/oauth/joining/joiningServer.ts';
import type { Claim } from '../../../../../src/core/oauth/joining/messages.ts';
import { silentLog } from '../../../../support/silentLog.ts';

export const TOKEN = 'token-of-the-window-that-never-leaves-it';
export const never = new AbortController().signal;

/** A window that programs can join, and what they share. */
export class World {
  readonly state = freshFolder('joining');
  /** How often the user was asked, and what the answer is. */
  asked = 0;
  answer: boolean | Promise<boolean> = true;
  /** What the programs said of themselves. */
  readonly claims: Claim[] = [];
  signIn: SharedSignIn | undefined = signInOf();
  /** Tokens that were refused. */
  readonly refused: string[] = [];
  readonly sent: { readonly url: string; readonly init: RequestInit }[] = [];
  network: Fetch = async () => Response.json([]);
  readonly servers: JoiningServer[] = [];

  async open(more: Partial<JoiningServerDeps> = {}): Promise<JoiningServer> {
    const server = new JoiningServer({
      state: this.state,
      about: () => ({ editor: 'Code', folders: ['/work'] }),
      signIn: () => this.signIn,
      ask: async (_signIn, claim) => {
        this.asked += 1;
        this.claims.push(claim);
        return this.answer;
      },
      calls: { double: async (input) => [input, input] },
      fetch: async (input, init) => {
        this.sent.push({ url: String(input), init: init ?? {} });
        return this.network(input, init);
      },
      log: silentLog,
      ...more,
    });
    await server.open();
    this.servers.push(server);
    return server;
  }

  async join(onAsking = () => {}): Promise<JoinedWindow> {
    const {
      windows: [window],
    } = await findWindows({ state: this.state }, never);
    if (!window) throw new Error('There is no window.');
    return window.join({ command: 'rolecall test', folder: '/here' }, onAsking, never);
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
    fs.rmSync(this.state, { recursive: true, force: true });
  }
}

export function signInOf(session = 'session-1', token = () => TOKEN): SharedSignIn {
  const tokens = { accessToken: async () => token(), refreshAfter401: async () => undefined };
  return {
    session,
    urls: { identity: 'https://identity.example', inference: 'https://inference.example/base' },
    tokens: { identity: tokens, inference: tokens },
    inferenceHeaders: {},
    describe: async () => ({ account: 'ada', organizations: [{ id: 'acme', names: ['Acme'] }] }),
  };
}

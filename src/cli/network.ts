import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import type { Fetch } from '../core/base/http.ts';

export interface Network {
  readonly fetch: Fetch;
  /** Cuts what is open: nothing keeps the process alive. */
  close(): Promise<void>;
}

/** No proxy is asked for this machine: http without TLS is allowed for it, and a proxy would read the token. */
const THIS_MACHINE = '127.0.0.1,localhost,[::1],::1';

/** Requests through the proxy that `HTTPS_PROXY` and `HTTP_PROXY` name, but to the hosts of `NO_PROXY`. */
export function createNetwork(env: NodeJS.ProcessEnv): Network {
  const without = env.no_proxy ?? env.NO_PROXY ?? '';
  const noProxy = without.trim() === '*' ? '*' : [without, THIS_MACHINE].filter((hosts) => hosts !== '').join(',');
  const dispatcher = new EnvHttpProxyAgent({ noProxy });
  return {
    // The same interface: Node's own `fetch` is another copy of this.
    fetch: ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as unknown as Fetch,
    close: () => dispatcher.destroy(),
  };
}

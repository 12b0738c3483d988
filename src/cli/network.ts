import type { EnvHttpProxyAgent, RequestInit } from 'undici';
import { RolecallError } from '../core/base/errors.ts';
import type { Fetch } from '../core/base/http.ts';

interface Network {
  readonly fetch: Fetch;
  /** Closes open connections, so that nothing keeps the process alive. */
  close(): Promise<void>;
}

/** No proxy is asked for this machine: http without TLS is allowed for it, and a proxy would read the token. */
const THIS_MACHINE = '127.0.0.1,localhost,[::1],::1';

/** Sends requests through the proxy that `HTTPS_PROXY` and `HTTP_PROXY` name, except to the hosts of `NO_PROXY`. */
export function createNetwork(env: NodeJS.ProcessEnv): Network {
  const without = env.no_proxy ?? env.NO_PROXY ?? '';
  const noProxy = without.trim() === '*' ? '*' : [without, THIS_MACHINE].filter((hosts) => hosts !== '').join(',');
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? '';
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? '';
  for (const [name, address] of Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy })) {
    if (address === '' || /^(?:https?|socks5):$/.test(URL.parse(address)?.protocol ?? '')) continue;
    // Without the address, which may contain a password.
    throw new RolecallError('configuration', `${name} is not an address such as http://proxy.example:3128.`);
  }
  let loading:
    | Promise<{ readonly undici: typeof import('undici'); readonly dispatcher: EnvHttpProxyAgent }>
    | undefined;
  // undici is more than half of the program, and a window sends its requests without it.
  const load = async () => {
    const undici = await import('undici');
    const dispatcher = new undici.EnvHttpProxyAgent({ noProxy, httpProxy, httpsProxy });
    return { undici, dispatcher };
  };
  const fetch = async (input: string, init: RequestInit) => {
    loading ??= load();
    const { undici, dispatcher } = await loading;
    return undici.fetch(input, { ...init, dispatcher });
  };
  return {
    fetch: fetch as unknown as Fetch, // The same interface: Node's own `fetch` is another copy of this.
    close: async () => (await loading)?.dispatcher.destroy(),
  };
}

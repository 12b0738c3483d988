import type { RunningSandbox } from '../../scripts/sandbox.ts';

/** User settings with which the sandbox plays the user's own services; the client secret is typed where it is asked for. */
export function servicesOf({ descriptor }: RunningSandbox): Record<string, unknown> {
  const { identity, inference, clients, organizations } = descriptor;
  return {
    'rolecall.identity.url': identity,
    'rolecall.identity.clientId': clients.loopback.id,
    'rolecall.identity.redirectUri': clients.loopback.redirectUri,
    'rolecall.inference.url': inference,
    'rolecall.organizations': organizations.slice(0, 1),
  };
}

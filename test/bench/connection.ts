import type { Connection } from '../../src/core/base/connection.ts';

export function benchConnection(serverUrl: string): Connection {
  return {
    id: 'service',
    label: 'bench',
    identityUrl: serverUrl,
    inferenceUrl: serverUrl,
    clientId: 'bench',
    clientAuthentication: 'client_secret_post',
    redirectUri: 'http://127.0.0.1:1/callback',
    scope: '',
  };
}

import assert from 'node:assert/strict';
import { RolecallError } from '../../../src/core/base/errors.ts';
import { readDescriptor, sandboxConnection } from '../../../src/host/sandbox/sandboxProcess.ts';
import { descriptor } from '../support/sandbox.ts';

describe('the ready line of the sandbox', () => {
  it('names the connection to its services as its own client', () => {
    const { loopback } = descriptor.clients;
    assert.deepEqual(sandboxConnection(readDescriptor(JSON.stringify(descriptor))), {
      id: 'sandbox',
      label: 'the sandbox',
      identityUrl: descriptor.identity,
      inferenceUrl: descriptor.inference,
      clientId: loopback.id,
      clientAuthentication: 'client_secret_post',
      redirectUri: loopback.redirectUri,
      scope: 'openid email profile',
    });
  });

  const { loopback } = descriptor.clients;
  const wrong: readonly (readonly [string, unknown])[] = [
    ['text', 'ready'],
    ['a later format', { ...descriptor, rolecallSandbox: 2 }],
    ['an identity service elsewhere', { ...descriptor, identity: 'https://identity.example.com' }],
    ['an inference service elsewhere', { ...descriptor, inference: 'http://127.0.0.1.evil.example:80' }],
    ['a host that only begins like ours', { ...descriptor, identity: 'http://127.0.0.1:80@evil.example' }],
    ['a redirect elsewhere', { ...descriptor, clients: { loopback: { ...loopback, redirectUri: 'vscode://x/y' } } }],
    ['no client', { ...descriptor, clients: {} }],
  ];
  for (const [title, value] of wrong) {
    it(`is refused with ${title}`, () => {
      const line = typeof value === 'string' ? value : JSON.stringify(value);
      assert.throws(
        () => readDescriptor(line),
        (error) => error instanceof RolecallError && error.kind === 'protocol',
      );
    });
  }
});

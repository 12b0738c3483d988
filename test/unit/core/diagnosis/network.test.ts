import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import {
  addressWithoutSecrets,
  inspectEnvironment,
  withoutCredentials,
} from '../../../../src/core/diagnosis/network.ts';

describe('the address of a proxy', () => {
  const rows: readonly (readonly [address: string, shown: string])[] = [
    ['http://proxy.example.com:3128', 'http://proxy.example.com:3128'],
    ['http://proxy.example.com:3128/', 'http://proxy.example.com:3128'],
    ['proxy.example.com:3128', 'proxy.example.com:3128'],
    ['socks5://[::1]:1080', 'socks5://[::1]:1080'],
    ['http://ada:secret@proxy.example.com:3128', 'http://‹hidden›@proxy.example.com:3128'],
    ['ada:secret@proxy.example.com', '‹hidden›@proxy.example.com'],
    ['http://token@proxy.example.com', 'http://‹hidden›@proxy.example.com'],
    ['HTTP://ada:p@ss/w:ord@proxy.example.com/x', 'HTTP://‹hidden›@proxy.example.com'],
    ['http://proxy.example.com/?key=secret#secret', 'http://proxy.example.com'],
    ['http://ada:secret@proxy.example.com/?key=an@other', 'http://‹hidden›'],
    ['http://ada:se?cret@proxy.example.com', 'http://‹hidden›'],
    [' http://ada:secret@proxy.example.com ', 'http://‹hidden›@proxy.example.com'],
    ['', ''],
  ];
  for (const [address, shown] of rows) {
    it(`"${address}" is shown as "${shown}"`, () => assert.equal(withoutCredentials(address), shown));
  }

  it('never shows a password, whatever it is made of', () => {
    const characters = fc.constantFrom(...'abcXYZ019@:/?#%&=+~ []\\"\'<');
    const words = fc.string({ unit: characters, minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(words, words, fc.boolean(), (user, password, withScheme) => {
        const address = `${withScheme ? 'http://' : ''}${user}:(${password})@proxy.example.com:1/`;
        assert.ok(!withoutCredentials(address).includes('('), withoutCredentials(address));
        assert.ok(!withoutCredentials(address).includes(')'), withoutCredentials(address));
      }),
    );
  });
});

describe('the address of a service', () => {
  const rows: readonly (readonly [address: string, shown: string])[] = [
    ['https://host.example.com/path/', 'https://host.example.com/path/'],
    ['https://ada:secret@host.example.com/a@b', 'https://host.example.com/a@b'],
    ['https://host.example.com/path?code=secret#secret', 'https://host.example.com/path'],
    ['vscode://rolecall.rolecall/callback', 'vscode://rolecall.rolecall/callback'],
    ['ada@host', 'host'],
  ];
  for (const [address, shown] of rows) {
    it(`"${address}" is shown as "${shown}"`, () => assert.equal(addressWithoutSecrets(address), shown));
  }
});

describe('what the environment says about the network', () => {
  it('is nothing in an ordinary one', async () => {
    assert.deepEqual(await inspectEnvironment({ PATH: '/bin', HTTP_PROXY: '' }), { variables: {}, isUnchecked: false });
  });

  it('is every variable about proxies, in both spellings, and that certificates are not checked', async () => {
    const env = { http_proxy: 'a', HTTPS_PROXY: 'b', all_proxy: 'c', no_proxy: 'd', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const { variables, isUnchecked } = await inspectEnvironment(env);
    assert.deepEqual(variables, { http_proxy: 'a', HTTPS_PROXY: 'b', all_proxy: 'c', no_proxy: 'd' });
    assert.equal(isUnchecked, true);
    assert.equal((await inspectEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).isUnchecked, false);
  });

  it('is whether the file of certificates does what it is for', async () => {
    const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rolecall-network-'));
    try {
      const file = path.join(folder, 'company.pem');
      const look = async (at = file) => (await inspectEnvironment({ NODE_EXTRA_CA_CERTS: at })).extraCertificates;
      assert.deepEqual(await look(), { path: file, state: 'unreadable' });
      await fs.writeFile(file, 'not a certificate');
      assert.deepEqual(await look(), { path: file, state: 'no certificate' });
      await fs.writeFile(file, '# ours\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
      assert.deepEqual(await look(), { path: file, state: 'read' });
      assert.deepEqual(await look(folder), { path: folder, state: 'unreadable' });
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });
});

import assert from 'node:assert/strict';
import { hostEntry, isAllowedHost } from '../../../../src/core/tools/allowedHosts.ts';

describe('allowed hosts', () => {
  const rows: [entry: string, url: string, allowed: boolean][] = [
    ['api.example.com', 'https://api.example.com/x', true],
    [' API.example.com/ ', 'https://api.example.com/x', true],
    ['api.example.com', 'http://api.example.com/x', false],
    ['api.example.com', 'https://api.example.com:8443/', false],
    ['api.example.com:8443', 'https://api.example.com:8443/', true],
    ['example.com', 'https://api.example.com/', false],
    ['example.com', 'https://example.com.evil.test/', false],
    ['http://intranet:8080', 'http://intranet:8080/x', true],
    ['http://intranet:8080', 'https://intranet:8080/x', false],
    ['localhost:3000', 'http://localhost:3000/', true],
    ['localhost:3000', 'https://localhost:3000/', true],
    ['localhost:3000', 'http://127.0.0.1:3000/', false],
    ['localhost', 'http://localhost/', true],
    ['localhost', 'http://localhost:3000/', false],
    ['127.0.0.1:80', 'http://127.0.0.1/', true],
    ['[::1]:9', 'http://[::1]:9/', true],
    ['localhost.evil.test', 'http://localhost.evil.test/', false],
    ['*', 'https://api.example.com/', false],
    ['', 'https://api.example.com/', false],
    ['https://api.example.com/path', 'https://api.example.com/path', false],
    ['user@api.example.com', 'https://api.example.com/', false],
    ['ftp://api.example.com', 'https://ftp/', false],
  ];
  for (const [entry, url, allowed] of rows) {
    it(`"${entry}" ${allowed ? 'allows' : 'does not allow'} ${url}`, () => {
      assert.equal(isAllowedHost(new URL(url), ['other.example', entry]), allowed);
    });
  }

  it('are named so that the user can allow them', () => {
    for (const url of [
      'https://a.example/',
      'https://a.example:1/',
      'http://a.example/',
      'http://localhost:3/',
      'http://[::1]/',
    ]) {
      assert.ok(isAllowedHost(new URL(url), [hostEntry(new URL(url))]), url);
    }
  });
});

import assert from 'node:assert/strict';
import {
  checkIdentityUrl,
  checkInferenceUrl,
  checkRedirectUri,
  isLoopback,
} from '../../../../src/core/base/addresses.ts';
import { RolecallError } from '../../../../src/core/base/errors.ts';

type Row = readonly [typed: string, result: string | RegExp];

/** A row ends in what is used, or in the sentence the user reads. */
function table(check: (typed: string) => string, setting: string, rows: readonly Row[]): void {
  for (const [typed, expected] of rows) {
    if (typeof expected === 'string') {
      it(`"${typed}" → ${expected}`, () => assert.equal(check(typed), expected));
    } else {
      it(`"${typed}" is refused: ${expected.source}`, () => {
        assert.throws(
          () => check(typed),
          (error) => {
            assert.ok(error instanceof RolecallError);
            assert.equal(error.kind, 'configuration');
            assert.match(error.message, expected);
            assert.ok(error.message.startsWith(`${setting} `), error.message);
            assert.doesNotMatch(error.message, /hunter2/, 'what was typed may hold a password');
            return true;
          },
        );
      });
    }
  }
}

describe('the address of the identity service', () => {
  table(checkIdentityUrl, 'rolecall.identity.url', [
    ['https://identity.example.com', 'https://identity.example.com'],
    ['https://identity.example.com/', 'https://identity.example.com'],
    ['HTTPS://Identity.Example.com:443', 'https://identity.example.com'],
    ['https://identity.example.com:8443', 'https://identity.example.com:8443'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
    ['http://identity.example.com', /must begin with https:\/\//],
    ['http://127.0.0.1.example.com', /must begin with https:\/\//],
    ['http://localhost.example.com', /must begin with https:\/\//],
    ['https://identity.example.com/api', /only a scheme and a host, such as https:\/\/identity\.example\.com/],
    ['https://identity.example.com?x=1', /only a scheme and a host/],
    ['https://identity.example.com#x', /only a scheme and a host/],
    ['https://me:hunter2@identity.example.com', /must not contain a user name or password/],
    ['identity.example.com', /must be an address such as https:\/\/identity\.example\.com/],
    ['ftp://identity.example.com', /must be an address/],
    ['vscode://rolecall.rolecall/callback', /must be an address/],
    ['https://identity.example.com /', /must be an address/],
    ['', /must be an address/],
  ]);
});

describe('the address of the inference service', () => {
  table(checkInferenceUrl, 'rolecall.inference.url', [
    ['https://inference.example.com', 'https://inference.example.com'],
    ['https://gateway.example.com/inference', 'https://gateway.example.com/inference'],
    ['https://inference.example.com/', 'https://inference.example.com'],
    ['https://gateway.example.com/inference//', 'https://gateway.example.com/inference'],
    ['https://gateway.example.com/v1beta', 'https://gateway.example.com/v1beta'],
    ['http://127.0.0.1:4001', 'http://127.0.0.1:4001'],
    ['https://inference.example.com/v1', /must not end in \/v1, .* Use https:\/\/inference\.example\.com\./],
    ['https://gateway.example.com/a/v1/', /Use https:\/\/gateway\.example\.com\/a\./],
    ['https://inference.example.com?key=1', /query or fragment/],
    ['https://inference.example.com/?', /query or fragment/],
    ['https://inference.example.com/#', /query or fragment/],
    ['http://inference.example.com', /must begin with https:\/\//],
    ['https://me:hunter2@inference.example.com', /user name or password/],
    ['inference.example.com', /must be an address such as https:\/\/inference\.example\.com/],
  ]);
});

describe('what was most likely meant is offered', () => {
  const offers: readonly [(typed: string) => string, string, string, string | undefined][] = [
    [checkIdentityUrl, 'https://identity.example.com/api/v1', 'identity.url', 'https://identity.example.com'],
    [checkIdentityUrl, 'http://identity.example.com', 'identity.url', undefined],
    [checkInferenceUrl, 'https://inference.example.com/v1', 'inference.url', 'https://inference.example.com'],
    [checkInferenceUrl, 'https://a.example.com/b/v1/', 'inference.url', 'https://a.example.com/b'],
    [checkRedirectUri, 'http://127.0.0.1:1/cb?x', 'identity.redirectUri', undefined],
  ];
  for (const [check, typed, setting, value] of offers) {
    it(`${typed} → ${value ?? 'the settings'}`, () => {
      try {
        check(typed);
        assert.fail('it was accepted');
      } catch (error) {
        assert.ok(error instanceof RolecallError);
        assert.deepEqual(error.remedy, { kind: 'changeSetting', setting, ...(value !== undefined && { value }) });
        if (value !== undefined) assert.equal(check(value), value);
      }
    });
  }
});

describe('the redirect URI', () => {
  table(checkRedirectUri, 'rolecall.identity.redirectUri', [
    // The service compares it as a plain string: it is never tidied up.
    ['http://127.0.0.1:18155/callback', 'http://127.0.0.1:18155/callback'],
    ['http://LocalHost:18155/Callback', 'http://LocalHost:18155/Callback'],
    ['http://127.0.0.1:18155', 'http://127.0.0.1:18155'],
    ['http://127.0.0.1:18155/', 'http://127.0.0.1:18155/'],
    ['vscode://rolecall.rolecall/callback', 'vscode://rolecall.rolecall/callback'],
    ['http://127.0.0.1:18155/callback?windowId=1', /query or fragment/],
    ['http://127.0.0.1:18155/callback?', /query or fragment/],
    ['http://127.0.0.1:18155/callback#', /query or fragment/],
    ['127.0.0.1:18155/callback', /such as http:\/\/127\.0\.0\.1:18155\/callback/],
    ['http://127.0.0.1:18155/call back', /such as http:/],
    ['', /such as http:/],
  ]);
});

describe('this machine', () => {
  for (const url of ['http://127.0.0.1', 'http://localhost:1/x', 'https://[::1]:1', 'http://[0:0:0:0:0:0:0:1]']) {
    it(`${url} is`, () => assert.equal(isLoopback(url), true));
  }
  for (const url of ['http://127.0.0.1.nip.io', 'http://example.com', 'http://10.0.0.1', 'http://0.0.0.0']) {
    it(`${url} is not`, () => assert.equal(isLoopback(url), false));
  }
});

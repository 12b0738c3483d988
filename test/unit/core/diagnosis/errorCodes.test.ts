import assert from 'node:assert/strict';
import { adviceForErrorCodes, errorCodes } from '../../../../src/core/diagnosis/network.ts';

const failed = (message: string, more: object) => Object.assign(new Error(message), more);

describe('the codes of a failed request', () => {
  const rows: readonly (readonly [title: string, error: unknown, codes: readonly string[]])[] = [
    [
      'the reason behind "fetch failed"',
      failed('fetch failed', { cause: failed('x', { code: 'ECONNREFUSED' }) }),
      ['ECONNREFUSED'],
    ],
    [
      'of every address that was tried',
      failed('fetch failed', {
        cause: new AggregateError([failed('v6', { code: 'ENETUNREACH' }), failed('v4', { code: 'ETIMEDOUT' })], 'x'),
      }),
      ['ENETUNREACH', 'ETIMEDOUT'],
    ],
    [
      'below a wrapper of ours',
      failed('Could not reach', {
        cause: failed('fetch failed', { cause: failed('x', { code: 'CERT_HAS_EXPIRED' }) }),
      }),
      ['CERT_HAS_EXPIRED'],
    ],
    [
      'in the words of an editor that asks through its browser',
      failed('net::ERR_CERT_AUTHORITY_INVALID', {}),
      ['ERR_CERT_AUTHORITY_INVALID'],
    ],
    [
      'of a proxy that refuses a tunnel',
      failed('Proxy response (407) !== 200 when HTTP Tunneling', { code: 'UND_ERR_ABORTED' }),
      ['UND_ERR_ABORTED', 'PROXY_407'],
    ],
    ['none where there is none', new Error('x'), []],
    ['none that is not a word', failed('x', { code: 'a secret text' }), []],
    ['none of what is no error', 'text', []],
  ];
  for (const [title, error, codes] of rows) {
    it(title, () => assert.deepEqual(errorCodes(error), codes));
  }

  it('are found in an error that is its own cause', () => {
    const error: Error = failed('x', { code: 'EPIPE' });
    error.cause = error;
    assert.deepEqual(errorCodes(error), ['EPIPE']);
  });
});

describe('the advice on them', () => {
  /** As Node.js 24, undici and Chromium write them. */
  const rows: readonly (readonly [advice: RegExp, codes: readonly string[]])[] = [
    [/requires a user name/, ['PROXY_407', 'ERR_PROXY_AUTH_UNSUPPORTED', 'ERR_UNEXPECTED_PROXY_AUTH']],
    [/refused to connect/, ['PROXY_403', 'ERR_TUNNEL_CONNECTION_FAILED']],
    [/proxy itself/, ['ERR_PROXY_CONNECTION_FAILED']],
    [/not valid now/, ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_CERT_DATE_INVALID']],
    [/another host name/, ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH', 'ERR_CERT_COMMON_NAME_INVALID']],
    [
      /not trusted on this machine/,
      [
        'UNABLE_TO_GET_ISSUER_CERT',
        'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'SELF_SIGNED_CERT_IN_CHAIN',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'CERT_UNTRUSTED',
        'ERR_CERT_AUTHORITY_INVALID',
      ],
    ],
    [/revoked/, ['CERT_REVOKED', 'ERR_CERT_REVOKED']],
    [
      /did not respond with TLS/,
      ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO', 'ERR_SSL_PROTOCOL_ERROR'],
    ],
    [/Nothing is listening/, ['ECONNREFUSED', 'ERR_CONNECTION_REFUSED']],
    [/cannot be resolved/, ['ENOTFOUND', 'EAI_AGAIN', 'ERR_NAME_NOT_RESOLVED']],
    [
      /No response/,
      [
        'ETIMEDOUT',
        'UND_ERR_CONNECT_TIMEOUT',
        'EHOSTUNREACH',
        'ENETUNREACH',
        'ERR_TIMED_OUT',
        'ERR_CONNECTION_TIMED_OUT',
      ],
    ],
    [/closed on the way/, ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_CONNECTION_RESET']],
  ];
  for (const [advice, codes] of rows) {
    for (const code of codes) {
      it(code, () => assert.match(adviceForErrorCodes([code]) ?? '', advice));
    }
  }

  it('goes by the most telling of several', () => {
    assert.match(adviceForErrorCodes(['UND_ERR_SOCKET', 'ECONNRESET', 'CERT_HAS_EXPIRED']) ?? '', /not valid now/);
  });

  it('is not made up', () => assert.equal(adviceForErrorCodes(['SOMETHING_ELSE']), undefined));
});

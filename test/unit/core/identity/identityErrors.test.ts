import assert from 'node:assert/strict';
import type { ErrorDetails, ErrorKind } from '../../../../src/core/base/errors.ts';
import { identityError } from '../../../../src/core/identity/identityErrors.ts';
import { fixture, fixtureText } from './fixtures.ts';

const bodies: Record<string, { status: number; body: unknown }> = fixture('errors.json');
const explain = (status: number, text: string, organization?: string, headers: Record<string, string> = {}) =>
  identityError({ status, text, headers: new Headers(headers) }, organization, Date.parse('2026-03-01T12:00:00Z'));

const NOT_SIGNED_IN = /does not accept this sign-in\. Sign in again\./;
const FORBIDDEN = /^You don’t have permission to view "acme"\./;

describe('the nine errors of the specification', () => {
  const rows: readonly [code: string, kind: ErrorKind, says: RegExp][] = [
    ['invalid_request', 'invalidRequest', /could not process the request\. Server response: path invalid$/],
    ['server_error', 'server', /service failed\. Try again in a moment\. Server response: unhandled error$/],
    ['access_denied', 'sessionEnded', NOT_SIGNED_IN],
    ['not_found', 'notFound', /Check the organization and rolecall/],
    ['conflict', 'invalidRequest', /conflict with another request/],
    ['method_not_allowed', 'protocol', /Check rolecall\.identity\.url/],
    ['unsupported_media_type', 'protocol', /content type/],
    ['request_entity_too_large', 'invalidRequest', /too large/],
    ['forbidden', 'forbidden', FORBIDDEN],
  ];

  it('are all here', () => assert.equal(new Set(rows.map(([code]) => code)).size, 9));

  for (const [code, kind, says] of rows) {
    const { status, body } = bodies[code] ?? assert.fail(`${code} has no fixture`);
    it(`${code} is ${kind}`, () => {
      const error = explain(status, JSON.stringify(body), 'acme');
      assert.equal(error.kind, kind);
      assert.match(error.message, says);
      assert.deepEqual([error.details.status, error.details.code], [status, code]);
    });

    it(`${code} decides, whatever the status`, () => {
      for (const odd of [400, 418, 503]) assert.equal(explain(odd, JSON.stringify(body), 'acme').kind, kind);
    });
  }
});

describe('refused for an organization', () => {
  it('names it, what to do, the service’s own words and its trace', () => {
    const error = explain(403, JSON.stringify(bodies.forbidden?.body), 'acme');
    assert.equal(
      error.message,
      'You don’t have permission to view "acme". Ask an administrator, and check the organization’s ID and the scopes of the sign-in. Server response: organization not in scope',
    );
    assert.equal(error.details.traceId, '5b8aa5a2d2c872e8321cf37308d69df2');
  });

  it('without an organization it is a plain refusal', () => {
    const error = explain(403, '');
    assert.deepEqual(
      [error.kind, error.message],
      ['forbidden', 'You don’t have permission to do this. Ask an administrator.'],
    );
  });
});

describe('not signed in', () => {
  const rows: readonly [what: string, status: number, body: string][] = [
    ['401 with access_denied', 401, JSON.stringify(bodies.access_denied?.body)],
    ['401 without a body', 401, ''],
    ['401 with an error that is not among the nine', 401, '{"error":"invalid_token","error_description":"expired"}'],
    ['400 about the authorization header', 400, JSON.stringify(bodies.noAuthorizationHeader?.body)],
    ['the same in British spelling', 400, '{"error":"invalid_request","error_description":"No Authorisation Header"}'],
  ];
  for (const [what, status, body] of rows) {
    it(what, () => {
      const error = explain(status, body, 'acme');
      assert.equal(error.kind, 'sessionEnded');
      assert.match(error.message, NOT_SIGNED_IN);
    });
  }

  it('a 400 about anything else is not', () => {
    const body = '{"error":"invalid_request","error_description":"header Accept is wrong"}';
    assert.equal(explain(400, body).kind, 'invalidRequest');
  });
});

describe('where the body says nothing that is known, the status decides', () => {
  const rows: readonly [status: number, kind: ErrorKind, code: string | undefined][] = [
    [400, 'invalidRequest', 'invalid_request'],
    [401, 'sessionEnded', 'access_denied'],
    [403, 'forbidden', 'forbidden'],
    [404, 'notFound', 'not_found'],
    [405, 'protocol', 'method_not_allowed'],
    [409, 'invalidRequest', 'conflict'],
    [413, 'invalidRequest', 'request_entity_too_large'],
    [415, 'protocol', 'unsupported_media_type'],
    [422, 'invalidRequest', 'invalid_request'],
    [418, 'protocol', undefined],
    [500, 'server', undefined],
    [502, 'server', undefined],
    [503, 'server', undefined],
    [504, 'server', undefined],
  ];
  const empty = ['', '   ', 'null', '[]', '{}', '{"error":""}', '{"error":null}', '{"message":"x"}', '"x"', '<html>'];
  for (const [status, kind, code] of rows) {
    it(`${status} is ${kind}`, () => {
      for (const body of empty) {
        const error = explain(status, body, 'acme');
        assert.deepEqual([error.kind, error.details.code], [kind, code], body);
      }
      assert.equal(explain(status, '{"error":"teapot"}', 'acme').kind, kind);
      assert.equal(explain(status, '{"error":"teapot"}', 'acme').details.code, 'teapot');
    });
  }

  it('a name that JavaScript knows is not taken for a known error', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      assert.equal(explain(503, JSON.stringify({ error: name })).kind, 'server', name);
      assert.equal(explain(418, JSON.stringify({ error: name })).kind, 'protocol', name);
    }
  });
});

describe('other answers', () => {
  it('the HTML page of a proxy becomes one sentence, never the page', () => {
    const error = explain(502, fixtureText('bad-gateway.txt'));
    assert.equal(
      error.message,
      'The identity service, or a proxy in front of it, returned 502. Try again in a moment.',
    );
    assert.deepEqual(error.details, { status: 502 } satisfies ErrorDetails);
  });

  it('429 asks to slow down, for as long as it says', () => {
    const error = explain(429, '', 'acme', { 'retry-after': '7' });
    assert.deepEqual([error.kind, error.details.retryAfterMs], ['rateLimited', 7000]);
    const dated = explain(429, '{"error":"slow"}', 'acme', { 'retry-after': 'Sun, 01 Mar 2026 12:00:03 GMT' });
    assert.deepEqual([dated.kind, dated.details.retryAfterMs], ['rateLimited', 3000]);
  });

  it('503 with Retry-After carries it too', () => {
    assert.equal(explain(503, '', undefined, { 'retry-after': '2' }).details.retryAfterMs, 2000);
  });

  it('an error whose description is not text is still that error', () => {
    const error = explain(400, '{"error":"access_denied","error_description":{"a":1},"trace_id":7}');
    assert.equal(error.kind, 'sessionEnded');
    assert.deepEqual(error.details, { status: 400, code: 'access_denied' });
  });

  const nested: readonly (readonly [string, unknown])[] = [
    ['an object in `error`', { error: { error: 'forbidden', error_description: 'no such scope' } }],
    ['a code and a message in `error`', { error: { code: 'forbidden', message: 'no such scope' } }],
    ['a message beside the status', { message: 'no such scope' }],
    ['a detail beside a problem’s title', { title: 'Forbidden', status: 403, detail: 'no such scope' }],
    ['an error whose code is a number', { error: { code: 403, message: 'no such scope' } }],
  ];
  for (const [what, body] of nested) {
    it(`words are kept: ${what}`, () => {
      const error = explain(403, JSON.stringify(body), 'acme');
      assert.equal(error.kind, 'forbidden');
      assert.match(error.message, /^You don’t have permission.*Server response: no such scope$/);
    });
  }

  it('markup and length in the service’s words are cut', () => {
    const words = `<script>alert(1)</script>${'some words '.repeat(50)}`;
    const error = explain(500, JSON.stringify({ error: 'server_error', error_description: words }));
    assert.doesNotMatch(error.message, /<script>/);
    assert.equal(error.details.serverMessage?.length, 300);
  });

  it('what looks like a secret in the service’s words is hidden', () => {
    const token = 'eyJhbGciOiJFUzUxMiJ9.eyJzdWIiOiJhZGEifQ.MEUCIQDx-3m0Zk0Wq6b4vRjJ8l0sXw1uY2k';
    const description = `refused: Authorization: Bearer ${token} and refresh_token=rt-7d1f0a2b9c`;
    for (const body of [
      { error: 'server_error', error_description: description },
      { error: description },
      { error: 'forbidden', trace_id: description },
    ]) {
      const { message, details } = explain(418, JSON.stringify(body), 'acme');
      for (const text of [message, JSON.stringify(details)]) assert.doesNotMatch(text, /eyJ|rt-7d1f/);
    }
  });

  it('neither an endless error value nor an endless trace is shown at length', () => {
    const endless = 'so many words '.repeat(1_000_000);
    const { message, details } = explain(418, JSON.stringify({ error: endless, trace_id: endless }));
    assert.ok(message.length < 400 && JSON.stringify(details).length < 800);
  });
});

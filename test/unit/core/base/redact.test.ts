import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Log } from '../../../../src/core/base/log.ts';
import { HIDDEN, Redactor, redact, redactingLog, redactValues } from '../../../../src/core/base/redact.ts';

/** Every character that some encoding changes; no pattern would find it by itself. */
const CANARY = 'ca/na+ry="~\\ \'é*(%???>>>???>>>';
const OPAQUE = randomBytes(48).toString('base64url');
const JWE = ['eyJhbGciOiJFQ0RILUVTIn0', '', 'iv0123456789abcd', randomBytes(60).toString('base64url'), 'tag01'].join(
  '.',
);

const forms = (secret: string): readonly [string, string][] => [
  ['raw', secret],
  ['in a query', encodeURIComponent(secret)],
  ['in a form', new URLSearchParams({ x: secret }).toString().slice(2)],
  ['in JSON', JSON.stringify({ x: secret })],
  ['as base64', Buffer.from(secret).toString('base64')],
  ['as base64url', Buffer.from(secret).toString('base64url')],
];

describe('a secret that is known', () => {
  const redactor = new Redactor();
  redactor.addSecret(CANARY);
  redactor.addSecret(undefined);
  for (const [how, text] of forms(CANARY)) {
    it(`is hidden ${how}`, () => {
      const line = redactor.redact(`before ${text} after ${text}`);
      assert.ok(!line.includes(text), line);
      assert.match(line, /^before .*‹hidden›.* after .*‹hidden›/);
    });
  }

  it('the canary shows each form by itself', () => {
    assert.equal(new Set(forms(CANARY).map(([, text]) => text)).size, 6);
    for (const [, text] of forms(CANARY)) assert.equal(redact(text), text);
  });

  it('is not remembered when it is so short that hiding it would blot out ordinary words', () => {
    const short = new Redactor();
    short.addSecret('groups');
    short.addSecret('');
    assert.equal(short.redact('GET /groups'), 'GET /groups');
  });

  it('stays hidden while it is used, whatever rotates beside it', () => {
    const busy = new Redactor();
    busy.addSecret(CANARY);
    for (let rotation = 0; rotation < 300; rotation += 1) {
      busy.addSecret(`token number ${rotation} of this day`);
      assert.doesNotMatch(busy.redact(`this is ${CANARY}`), /ca\/na/, `after rotation ${rotation}`);
      busy.addSecret(CANARY);
    }
    assert.doesNotMatch(busy.redact('token number 299 of this day'), /299/);
  });
});

describe('a log behind the redactor', () => {
  it('lets no level pass a secret', () => {
    const lines: string[] = [];
    const keep = (line: string) => lines.push(line);
    const inner: Log = { trace: keep, debug: keep, info: keep, warn: keep, error: keep };
    const redactor = new Redactor();
    const log = redactingLog(inner, redactor);
    redactor.addSecret(CANARY); // Learned after the log was made.
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) log[level](`${level} ${CANARY}.`);
    assert.deepEqual(
      lines,
      ['trace', 'debug', 'info', 'warn', 'error'].map((level) => `${level} ‹hidden›.`),
    );
  });
});

describe('what looks like a secret is hidden, known or not', () => {
  const rows: readonly [text: string, secret: string][] = [
    [`authorization: Bearer ${OPAQUE}`, OPAQUE],
    ['Authorization: Basic aWQ6c2VjcmV0', 'aWQ6c2VjcmV0'],
    ['{"authorization":"bearer abc123DEF456"}', 'abc123DEF456'],
    ['https://app/callback?code=Zx81kfjs&state=Qw3r5T', 'Zx81kfjs'],
    ['https://app/callback?code=Zx81kfjs&state=Qw3r5T', 'Qw3r5T'],
    ['https://app/callback?code=abcdefgh', 'abcdefgh'],
    ['https://app/#state=abcdefgh', 'abcdefgh'],
    ['grant_type=refresh_token&refresh_token=r3fr3sh-value', 'r3fr3sh-value'],
    ['client_id=editor&client_secret=123-abcdefgh', '123-abcdefgh'],
    ['code_verifier=dBjftJeZ4CVP-mB92K27u', 'dBjftJeZ4CVP-mB92K27u'],
    ['{"access_token":"shortone1","expires_in":3599}', 'shortone1'],
    ['{"id_token": "aaa.bbb.ccc"}', 'aaa.bbb.ccc'],
    ["{ refresh_token: 'shortone1' }", 'shortone1'],
    ['{"body":"{\\"client_secret\\":\\"letmein1\\"}"}', 'letmein1'],
    ['password: correcthorse', 'correcthorse'],
    ['nonce=Xy7-Zz_81kfjs', 'Xy7-Zz_81kfjs'],
    ['"code":"4/0AX4XfWh9"', '4/0AX4XfWh9'],
    ['curl -u ada:correcthorse https://a.example', 'correcthorse'],
    ['curl --user=ada:correct https://a.example', 'correct'],
    ['mysql --password correcthorse -h db', 'correcthorse'],
    ['run --client-secret "correcthorse"', 'correcthorse'],
    ['cloned with ghp_16C7e42F292c6912E7710c838347Ae178B4a', '16C7e42F292c6912E7710c838347Ae178B4a'],
    ['found AKIAIOSFODNN7EXAMPLE there', 'AKIAIOSFODNN7EXAMPLE'],
    ['{"kty":"EC","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9"}', 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9'],
    [`spent ${OPAQUE} twice`, OPAQUE],
    [`got ${JWE}`, JWE],
    [`header.${OPAQUE}.signature`, OPAQUE],
  ];
  for (const [text, secret] of rows) {
    it(text.length > 60 ? `${text.slice(0, 60)}…` : text, () => {
      const line = redact(text);
      assert.ok(!line.includes(secret), line);
      assert.match(line, /‹hidden›/);
    });
  }
});

describe('what a log is read for survives', () => {
  const lines = [
    'GET /api/v1/organizations/meridian/groups → 200 in 12 ms',
    'https://identity.example.com:8443/.well-known/openid-configuration',
    'https://identity.example.com/api/v1/organizations/1f0c2a34-5b6d-4e7f-8091-a2b3c4d5e6f7/service-accounts',
    'Organization 1f0c2a34-5b6d-4e7f-8091-a2b3c4d5e6f7 has 2000 groups.',
    'code: invalid_grant',
    'See the sk-SK-translations-of-the-page.',
    '--token is missing, -u root: unknown',
    '"error":{"code":"INSUFFICIENT_CREDIT"}',
    'code: ECONNREFUSED',
    'code: OAUTH_JWT_CLAIM_COMPARISON_FAILED',
    'code: ERR_HTTP2_STREAM_CANCEL.',
    'code=500',
    '{"error":{"code":"422","error_type":"UNSUPPORTED_OPENAI_PARAMS"}}',
    'state: signedOut',
    'session state = storeUnavailable',
    'Server response: refresh token reuse',
    'The client travels as Basic credentials; a bearer token.',
    'Access token refreshed (generation 3).',
    'Could not reach https://identity.example.com: the host name is unknown.',
    'The sign-in was refused: the authorization header is missing.',
    '[configuration] Set rolecall.identity.clientId to the id the client is registered with.',
    'at AuthorizationServer.exchange (/home/me/.vscode/extensions/rolecall.rolecall-0.1.0/dist/extension.cjs:1:20413)',
    'Listening on http://127.0.0.1:18155/callback',
    'meridian-platform/llama-3.3-70b-instruct answered 30 tokens',
    '',
  ];
  for (const line of lines) it(line || 'an empty line', () => assert.equal(redact(line), line));
});

describe('a hostile text', () => {
  it('takes time that grows with its length alone', function () {
    this.timeout(20_000);
    const pieces = ['aA', 'a_', 'a.', '\\', '%25', 'token="', 'code="a ', '://a:', 'token=[', 'a/', "token='x"];
    const redactor = new Redactor();
    redactor.addSecret('aA'.repeat(40));
    // Quadratic would take minutes, for which no test has the time.
    for (const text of pieces.map((piece) => piece.repeat(50_000))) {
      redactor.redact(text);
      redact(`state: ${text}!`);
      redact(`token ${' '.repeat(120_000)}${text}`);
    }
  });

  it('has each of its secrets hidden, however many there are', () => {
    const secret = 'aB1c-dE2f_gH3i.jK4l';
    assert.equal(redactValues(`${secret} `.repeat(150_000), [secret]), `${HIDDEN} `.repeat(150_000));
  });
});

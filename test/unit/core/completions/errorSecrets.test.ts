import assert from 'node:assert/strict';
import { RolecallError, sanitizeServerMessage } from '../../../../src/core/base/errors.ts';
import { withoutSecrets } from '../../../../src/core/completions/endpoint.ts';
import { readErrorText } from '../../../../src/core/completions/errorBody.ts';
import { errorOfResponse } from '../../../../src/core/completions/errors.ts';

const secret = 'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaYWJjZGVmZ2g';

describe('completions: secrets in the words of a service', () => {
  for (const text of [
    `Authorization: Bearer ${secret}`,
    `invalid header "authorization": "bearer ${secret}"`,
    `access_token=${secret} is expired`,
    `{"client_secret":"${secret}"}`,
    `the key ${secret} is not valid`,
  ]) {
    it(`are hidden: ${text.slice(0, 30)}`, () => assert.doesNotMatch(sanitizeServerMessage(text), /Zm9vYmFy/));
  }

  it('are hidden in every member of an error body, and so in what is shown and logged', () => {
    for (const member of ['message', 'code', 'error_type', 'param', 'type']) {
      const body = readErrorText(
        JSON.stringify({ error: { message: 'x', [member]: `token=${secret}` }, trace_id: secret }),
      );
      const error = errorOfResponse({ status: 400, body });
      assert.doesNotMatch(JSON.stringify({ message: error.message, facts: error.details }), /Zm9vYmFy/, member);
    }
    const described = readErrorText(JSON.stringify({ error: `token=${secret}`, error_description: `token=${secret}` }));
    assert.doesNotMatch(JSON.stringify(described), /Zm9vYmFy/);
  });

  it('do not blot out ordinary words', () => {
    const said =
      'max_tokens is too large: 9000. The token limit of org/some-long-model-name is 4096; state: overloaded.';
    assert.equal(sanitizeServerMessage(said), said);
  });
});

describe('completions: an error without the secrets that were sent', () => {
  const token = 'canary-opaque-token-1';
  const remedy = { kind: 'setInferenceToken' } as const;

  it('keeps everything else: kind, facts and what helps', () => {
    const details = { status: 403, serverMessage: `no ${token}` };
    const error = withoutSecrets(new RolecallError('forbidden', `Not with ${token}.`, { details, remedy }), token, {});
    assert.equal(error.message, 'Not with ‹hidden›.');
    assert.deepEqual(
      [error.kind, error.details, error.remedy],
      ['forbidden', { status: 403, serverMessage: 'no ‹hidden›' }, remedy],
    );
  });

  it('has no value of an extra header either', () => {
    const headers = { 'X-Api-Key': 'canary-header-value' };
    const error = withoutSecrets(new RolecallError('forbidden', 'No: canary-header-value.'), token, { headers });
    assert.equal(error.message, 'No: ‹hidden›.');
  });

  it('is the same object where the token does not stand in it', () => {
    const error = new RolecallError('forbidden', 'Not you.', { remedy });
    assert.equal(withoutSecrets(error, token, {}), error);
  });
});

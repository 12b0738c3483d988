import assert from 'node:assert/strict';
import {
  type ErrorDetails,
  type ErrorKind,
  MAX_SERVER_MESSAGE_LENGTH,
  type RolecallError,
} from '../../../../src/core/base/errors.ts';
import { readErrorObject, readErrorText } from '../../../../src/core/completions/errorBody.ts';
import { errorOfResponse } from '../../../../src/core/completions/errors.ts';
import { refusedFields } from '../../../../src/core/completions/retry.ts';

const url = 'https://inference.example.com/v1/chat/completions';
const page = '<html>\r\n<head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>';

function refused(status: number | undefined, body: unknown, more: { retryAfterMs?: number } = {}): RolecallError {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return errorOfResponse({ body: readErrorText(text), model: 'org/m', url, ...(status ? { status } : {}), ...more });
}

interface Row {
  readonly is: string;
  /** Absent for an error in a body that came with success. */
  readonly status: number | undefined;
  readonly body: unknown;
  readonly kind: ErrorKind;
  /** Besides the status. */
  readonly facts?: ErrorDetails | 'any';
  readonly says: string;
}

/** Every shape of error body, by what the service means. */
const rows: readonly Row[] = [
  {
    is: 'the shape of the specification',
    status: 400,
    body: { error: { code: '400', error_type: 'BAD_REQUEST', message: 'top_p is above 1', param: 'top_p' } },
    kind: 'invalidRequest',
    facts: { code: '400', errorType: 'BAD_REQUEST', param: 'top_p', serverMessage: 'top_p is above 1' },
    says: 'The service rejected the request (400) because of top_p. Correct top_p and try again, or pick another model. Server response: top_p is above 1',
  },
  {
    is: 'type instead of error_type, an integer code, a null param',
    status: 400,
    body: { error: { message: 'no such role', type: 'BadRequestError', param: null, code: 400 } },
    kind: 'invalidRequest',
    facts: { code: '400', errorType: 'BadRequestError', serverMessage: 'no such role' },
    says: 'The service rejected the request (400). Check your parameters, or pick another model. Server response: no such role',
  },
  {
    is: 'a string code',
    status: 400,
    body: { error: { message: 'no such role', type: 'invalid_request_error', param: 'messages', code: 'bad_role' } },
    kind: 'invalidRequest',
    facts: {
      code: 'bad_role',
      errorType: 'invalid_request_error',
      param: 'messages',
      serverMessage: 'no such role',
    },
    says: 'The service rejected the request (400) because of messages. Correct messages and try again, or pick another model. Server response: no such role',
  },
  {
    is: 'flat',
    status: 400,
    body: { object: 'error', message: 'seed too large', type: 'BadRequestError', param: 'seed', code: 40003 },
    kind: 'invalidRequest',
    facts: { code: '40003', errorType: 'BadRequestError', param: 'seed', serverMessage: 'seed too large' },
    says: 'The service rejected the request (400) because of seed. Correct seed and try again, or pick another model. Server response: seed too large',
  },
  {
    is: 'an object in a list',
    status: 400,
    body: [{ error: { code: 400, message: 'bad role', status: 'INVALID_ARGUMENT' } }],
    kind: 'invalidRequest',
    facts: { code: '400', serverMessage: 'bad role' },
    says: 'The service rejected the request (400). Check your parameters, or pick another model. Server response: bad role',
  },
  {
    is: 'error as one word',
    status: 401,
    body: { error: 'Unauthorized' },
    kind: 'signedOut',
    facts: { serverMessage: 'Unauthorized' },
    says: 'The inference service no longer accepts your sign-in. Sign in again.',
  },
  {
    is: 'error and error_description, as identity services write it',
    status: 401,
    body: { error: 'access_denied', error_description: 'token is superseded', trace_id: 't-1' },
    kind: 'signedOut',
    facts: { code: 'access_denied', serverMessage: 'token is superseded', traceId: 't-1' },
    says: 'The inference service no longer accepts your sign-in. Sign in again.',
  },
  {
    is: 'a 400 that speaks of the authorization header',
    status: 400,
    body: { error: 'invalid_request', error_description: 'authorization header missing' },
    kind: 'signedOut',
    facts: { code: 'invalid_request', serverMessage: 'authorization header missing' },
    says: 'The inference service no longer accepts your sign-in. Sign in again.',
  },
  {
    is: 'detail as text',
    status: 403,
    body: { detail: 'Not your model' },
    kind: 'forbidden',
    facts: { serverMessage: 'Not your model' },
    says: 'This account does not have permission to use the model "org/m". Pick another model, or ask an administrator for access. Server response: Not your model',
  },
  {
    is: 'detail as a list of what is wrong where',
    status: 422,
    body: {
      detail: [
        { loc: ['body', 'messages', 0, 'role'], msg: 'field required', type: 'missing' },
        { loc: ['body', 'n'], msg: 'must be positive' },
      ],
    },
    kind: 'invalidRequest',
    facts: { param: 'messages.0.role, n', serverMessage: 'messages.0.role: field required; n: must be positive' },
    says:
      'The service rejected the request (422) because of messages.0.role and n. Correct messages.0.role and n and try again, or pick another model. ' +
      'Server response: messages.0.role: field required; n: must be positive',
  },
  {
    is: 'message alone',
    status: 500,
    body: { message: 'out of memory' },
    kind: 'server',
    facts: { serverMessage: 'out of memory' },
    says: 'The inference service failed (500). Try again. Server response: out of memory',
  },
  {
    is: 'plain text',
    status: 400,
    body: '  upstream\n said\u0007 no  ',
    kind: 'invalidRequest',
    facts: { serverMessage: 'upstream said no' },
    says: 'The service rejected the request (400). Check your parameters, or pick another model. Server response: upstream said no',
  },
  {
    is: 'JSON text',
    status: 400,
    body: '"nope"',
    kind: 'invalidRequest',
    facts: { serverMessage: 'nope' },
    says: 'The service rejected the request (400). Check your parameters, or pick another model. Server response: nope',
  },
  ...[502, 503, 504].map(
    (status): Row => ({
      is: 'a page of a proxy',
      status,
      body: page,
      kind: 'server',
      says: `The inference service is temporarily unavailable (${status}). Try again in a moment.`,
    }),
  ),
  {
    is: 'a page within JSON',
    status: 502,
    body: { error: { message: page } },
    kind: 'server',
    says: 'The inference service is temporarily unavailable (502). Try again in a moment.',
  },
  {
    is: 'nothing',
    status: 400,
    body: '',
    kind: 'invalidRequest',
    says: 'The service rejected the request without giving a reason (400). Check your parameters, or pick another model.',
  },
  {
    is: 'nothing, the service failing',
    status: 500,
    body: '',
    kind: 'server',
    says: 'The inference service failed (500). Try again.',
  },
  {
    is: 'a request that is too large, on a page',
    status: 413,
    body: page,
    kind: 'invalidRequest',
    says: 'The request is too large for the service. Send less text or fewer images.',
  },
  {
    is: 'a form of request that is not taken',
    status: 415,
    body: { detail: 'Unsupported Media Type' },
    kind: 'invalidRequest',
    facts: { serverMessage: 'Unsupported Media Type' },
    says:
      'The service does not accept this kind of request (415). ' +
      'Remove any images, or check the address of the inference service. Server response: Unsupported Media Type',
  },
  {
    is: 'a request that took too long to arrive',
    status: 408,
    body: '',
    kind: 'server',
    says: 'The service did not receive the whole request in time (408). Check the network and try again.',
  },
  {
    is: 'a refusal without a word',
    status: 403,
    body: '',
    kind: 'forbidden',
    says:
      'This account does not have permission to use the model "org/m". ' +
      'Pick another model, or ask an administrator for access.',
  },
  {
    is: 'credit by status 402',
    status: 402,
    body: '',
    kind: 'credit',
    says: 'The account has no credit left for this model. Add credit, or pick another model.',
  },
  {
    is: 'credit by 429 and error_type',
    status: 429,
    body: { error: { code: '429', error_type: 'INSUFFICIENT_CREDIT', message: 'No credit.', param: '' } },
    kind: 'credit',
    facts: { code: '429', errorType: 'INSUFFICIENT_CREDIT', serverMessage: 'No credit.' },
    says:
      'The account has no credit left for this model. Add credit, or pick another model. ' +
      'Server response: No credit.',
  },
  {
    is: 'credit by 429 and code',
    status: 429,
    body: { error: { message: 'See your plan.', type: 'x', code: 'insufficient_quota' } },
    kind: 'credit',
    facts: { code: 'insufficient_quota', errorType: 'x', serverMessage: 'See your plan.' },
    says:
      'The account has no credit left for this model. Add credit, or pick another model. ' +
      'Server response: See your plan.',
  },
  {
    is: 'rate by 429',
    status: 429,
    body: { error: { message: 'Slow down', error_type: 'RATE_LIMIT', code: '429' } },
    kind: 'rateLimited',
    facts: { code: '429', errorType: 'RATE_LIMIT', serverMessage: 'Slow down' },
    says: 'Too many requests. Wait a moment, then try again. Server response: Slow down',
  },
  {
    is: 'unsupported parameters, named in a list',
    status: 422,
    body: {
      error: {
        code: '422',
        error_type: 'UNSUPPORTED_OPENAI_PARAMS',
        message: 'The following parameters are not supported for this model: tools, tool_choice',
        param: 'tools, tool_choice',
      },
    },
    kind: 'unsupported',
    facts: {
      code: '422',
      errorType: 'UNSUPPORTED_OPENAI_PARAMS',
      param: 'tools, tool_choice',
      serverMessage: 'The following parameters are not supported for this model: tools, tool_choice',
    },
    says:
      'The model "org/m" does not support tools and tool_choice. Remove tools and tool_choice, or pick another model. ' +
      'Server response: The following parameters are not supported for this model: tools, tool_choice',
  },
  {
    is: 'one unsupported parameter, the code unlike the status',
    status: 400,
    body: { error: { code: '422', error_type: 'UNSUPPORTED_OPENAI_PARAMS', message: 'no', param: 'logprobs' } },
    kind: 'unsupported',
    facts: { code: '422', errorType: 'UNSUPPORTED_OPENAI_PARAMS', param: 'logprobs', serverMessage: 'no' },
    says: 'The model "org/m" does not support logprobs. Remove logprobs, or pick another model. Server response: no',
  },
  {
    is: 'a value that is not supported, with those that are',
    status: 400,
    body: {
      error: {
        message: 'Unsupported value: reasoning_effort. Supported values are low, medium, high.',
        type: 'invalid_request_error',
        param: 'reasoning_effort',
        code: 'unsupported_value',
      },
    },
    kind: 'unsupported',
    facts: {
      code: 'unsupported_value',
      errorType: 'invalid_request_error',
      param: 'reasoning_effort',
      serverMessage: 'Unsupported value: reasoning_effort. Supported values are low, medium, high.',
    },
    says:
      'The model "org/m" does not support this value of reasoning_effort. ' +
      'Change or remove reasoning_effort, or pick another model. ' +
      'Server response: Unsupported value: reasoning_effort. Supported values are low, medium, high.',
  },
  {
    is: 'unsupported without a name',
    status: 400,
    body: { error: { message: 'no images', code: 'unsupported_value' } },
    kind: 'unsupported',
    facts: { code: 'unsupported_value', serverMessage: 'no images' },
    says: 'The model "org/m" does not support this request. Change the request, or pick another model. Server response: no images',
  },
  {
    is: 'context overflow with both numbers',
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        code: 'context_length_exceeded',
      },
    },
    kind: 'contextOverflow',
    facts: {
      code: 'context_length_exceeded',
      serverMessage: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      contextLimit: 4096,
      contextRequested: 5000,
    },
    says:
      'The conversation is too long for this model: 5,000 tokens requested, the limit is 4,096. ' +
      'Start a new chat, send less, or ask for a shorter answer.',
  },
  {
    is: 'context overflow with the limit only',
    status: 400,
    body: { message: 'maximum context length is 4096' },
    kind: 'contextOverflow',
    facts: { serverMessage: 'maximum context length is 4096', contextLimit: 4096 },
    says:
      'The conversation is too long for this model: the limit is 4,096 tokens. ' +
      'Start a new chat, send less, or ask for a shorter answer.',
  },
  {
    is: 'context overflow by code alone',
    status: 400,
    body: { error: { message: 'too big', code: 'context_length_exceeded' } },
    kind: 'contextOverflow',
    facts: { code: 'context_length_exceeded', serverMessage: 'too big' },
    says:
      'The conversation is too long for this model. Start a new chat, send less, or ask for a shorter answer. ' +
      'Server response: too big',
  },
  {
    is: 'an unknown model',
    status: 404,
    body: { error: { message: 'The model `org/m` does not exist.', type: 'NotFoundError', param: null, code: 404 } },
    kind: 'notFound',
    facts: { code: '404', errorType: 'NotFoundError', serverMessage: 'The model `org/m` does not exist.' },
    says:
      'The model "org/m" does not exist, or you do not have access to it. Pick another model. ' +
      'Server response: The model `org/m` does not exist.',
  },
  {
    is: 'an unknown model, with 400',
    status: 400,
    body: { error: { message: 'Unknown model: x', code: '' } },
    kind: 'notFound',
    facts: { serverMessage: 'Unknown model: x' },
    says: 'The model "org/m" does not exist, or you do not have access to it. Pick another model. Server response: Unknown model: x',
  },
  {
    is: 'an unknown model, in the shape of the specification',
    status: 404,
    body: { error: { code: '404', error_type: 'NOT_FOUND', message: 'Not found', param: '' } },
    kind: 'notFound',
    facts: { code: '404', errorType: 'NOT_FOUND', serverMessage: 'Not found' },
    says: 'The model "org/m" does not exist, or you do not have access to it. Pick another model. Server response: Not found',
  },
  {
    is: 'tools that nobody takes',
    status: 404,
    body: { error: { message: 'No endpoints found that support tool use. Try another.', code: 404 } },
    kind: 'unsupported',
    facts: { code: '404', serverMessage: 'No endpoints found that support tool use. Try another.' },
    says:
      'The model "org/m" does not support tools. Pick another model, or disable the tools. ' +
      'Server response: No endpoints found that support tool use. Try another.',
  },
  {
    is: 'a form of request that is not taken, in the shape of the specification',
    status: 415,
    body: { error: { code: '415', error_type: 'UNSUPPORTED_MEDIA_TYPE', message: 'Send JSON', param: '' } },
    kind: 'invalidRequest',
    facts: { code: '415', errorType: 'UNSUPPORTED_MEDIA_TYPE', serverMessage: 'Send JSON' },
    says:
      'The service does not accept this kind of request (415). ' +
      'Remove any images, or check the address of the inference service. Server response: Send JSON',
  },
  ...(
    [
      [400, { error: { code: '401', error_type: 'UNAUTHORIZED', message: 'no' } }],
      [400, { error: 'access_denied', error_description: 'token is superseded' }],
      [400, { error: 'Unauthorized' }],
      [undefined, { error: { code: 'invalid_token', message: 'no' } }],
      [undefined, { code: 401, msg: 'token expired' }],
    ] as const
  ).map(([status, body]) => ({
    is: `a token that is not accepted, told as ${JSON.stringify(body)}`,
    status,
    body,
    kind: 'signedOut' as const,
    facts: 'any' as const,
    says: 'The inference service no longer accepts your sign-in. Sign in again.',
  })),
  {
    is: 'a token that is not accepted, or a model that is not open',
    status: 403,
    body: { error: { code: 'access_denied', error_type: 'FORBIDDEN', message: 'token is superseded' } },
    kind: 'signedOut',
    facts: { code: 'access_denied', errorType: 'FORBIDDEN', serverMessage: 'token is superseded' },
    says:
      'The inference service no longer accepts your sign-in. Sign in again. ' + 'Server response: token is superseded',
  },
  ...(
    [
      [{ error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"over capacity"}}' } } }],
      [{ error: { error: { message: 'Provider returned error: over capacity' } } }],
      [{ error: { error: 'Provider returned error: over capacity' } }],
      [{ msg: 'Provider returned error: over capacity' }],
      [{ error_code: 7, error_msg: 'Provider returned error: over capacity' }],
      [{ errors: [{ message: 'Provider returned error: over capacity' }] }],
      [{ error: { message: 'Provider returned error', failed_generation: 'over capacity' } }],
      [{ error: { message: { error: { message: 'Provider returned error: over capacity' } } } }],
      [{ error: { message: 'Provider returned error: over capacity', error: { message: 'over capacity' } } }],
    ] as const
  ).map(([body]) => ({
    is: `words in ${JSON.stringify(body)}`,
    status: 500,
    body,
    kind: 'server' as const,
    facts: 'any' as const,
    says: 'The inference service failed (500). Try again. Server response: Provider returned error: over capacity',
  })),
  {
    is: 'a wrong address, on a page',
    status: 404,
    body: page,
    kind: 'notFound',
    says: `No chat completion service was found at ${url}. Check the address of the inference service.`,
  },
  {
    is: 'a wrong address, of a framework',
    status: 404,
    body: { detail: 'Not Found' },
    kind: 'notFound',
    facts: { serverMessage: 'Not Found' },
    says: `No chat completion service was found at ${url}. Check the address of the inference service. Server response: Not Found`,
  },
  {
    is: 'a bad request told with 500',
    status: 500,
    body: { error: { message: 'n too large', type: 'invalid_request_error' } },
    kind: 'invalidRequest',
    facts: { errorType: 'invalid_request_error', serverMessage: 'n too large' },
    says: 'The service rejected the request (500). Check your parameters, or pick another model. Server response: n too large',
  },
];

describe('completions: errors of the service', () => {
  for (const { is, status, body, kind, facts, says } of rows) {
    it(`${is} (${status}): ${kind}`, () => {
      const error = refused(status, body);
      assert.equal(error.message, says);
      assert.equal(error.kind, kind);
      if (facts !== 'any') assert.deepEqual(error.details, { status, ...facts });
    });
  }

  it('ends with what helps, before the words of the service', () => {
    const step = /^(?:Add|Change|Check|Correct|Pick|Remove|Send|Sign in|Start|Try|Wait)\b/;
    for (const { is, says } of rows) {
      const sentences = says.replace(/ Server response: .*$/s, '').split(/(?<=\.) /);
      assert.equal(sentences.length, 2, is);
      assert.match(sentences[1] ?? '', step, is);
    }
  });

  it('quotes the service in a few words without secrets, also where it says what is supported', () => {
    const secret = `eyJhbGciOiJkaXIifQ.${'a'.repeat(40)}.b`;
    const message = `${secret} low, medium ${'long '.repeat(200)}`;
    const { message: shown } = refused(400, { error: { message, param: 'n', code: 'unsupported_value' } });
    assert.match(shown, / Server response: ‹hidden› low, medium long/);
    assert.ok(shown.length < MAX_SERVER_MESSAGE_LENGTH + 200, shown);
  });

  it('says how long to wait, rounded up to whole seconds', () => {
    const error = refused(429, '', { retryAfterMs: 1200 });
    assert.equal(error.message, 'Too many requests. Wait 2 seconds, then try again.');
    assert.deepEqual(error.details, { status: 429, retryAfterMs: 1200 });
  });

  it('decides by the code where there is no status, as in the middle of a stream', () => {
    assert.equal(refused(undefined, { error: { message: 'x', code: 401 } }).kind, 'signedOut');
    assert.equal(refused(undefined, { error: { message: 'x', code: '503' } }).kind, 'server');
    assert.equal(refused(undefined, { error: { message: 'x', code: 400 } }).kind, 'invalidRequest');
    const unknown = refused(undefined, { error: { message: 'engine died' } });
    assert.equal(unknown.message, 'The inference service failed. Try again. Server response: engine died');
    assert.deepEqual(unknown.details, { serverMessage: 'engine died' });
  });

  it('never shows a page, a token, control characters or a long text', () => {
    const secret = `eyJhbGciOiJkaXIifQ.${'a'.repeat(40)}.b`;
    const error = refused(400, {
      message: `bad ${secret} and Bearer opaque-token-1, \u001b[31m${'long '.repeat(200)}`,
    });
    assert.ok(error.message.includes('bad ‹hidden› and Bearer ‹hidden›, [31mlong'), error.message);
    assert.ok(!/[\p{Cc}]/u.test(error.message));
    assert.equal(error.details.serverMessage?.length, MAX_SERVER_MESSAGE_LENGTH);
    assert.ok(error.details.serverMessage?.endsWith('…'));
    for (const body of [page, `Error: ${page}`, { error: page }, { detail: page }]) {
      assert.equal(refused(503, body).details.serverMessage, undefined);
    }
  });
});

describe('completions: where an error stands in a body', () => {
  it('is not seen in an answer', () => {
    for (const body of [{ choices: [] }, { choices: [], error: null }, { choices: [], error: {} }, {}, { error: '' }]) {
      assert.equal(readErrorObject(body), undefined, JSON.stringify(body));
    }
    assert.equal(readErrorObject({ choices: [], message: 'hello', detail: 'x' }), undefined);
  });

  it('is seen beside choices', () => {
    assert.deepEqual(readErrorObject({ choices: [{}], error: { message: 'died' } }), { message: 'died' });
  });

  it('is read however deep it is nested', () => {
    const depth = 50_000;
    const nested = JSON.parse(`${'{"error":'.repeat(depth)}"died"${'}'.repeat(depth)}`);
    assert.equal(typeof readErrorObject(nested), 'object');
    assert.equal(typeof readErrorText(`${'['.repeat(depth)}${']'.repeat(depth)}`), 'object');
  });

  it('is seen where error is only true', () => {
    assert.deepEqual(readErrorObject({ error: true, message: 'died', code: 7 }), { message: 'died', code: '7' });
  });
});

describe('completions: which fields a service refuses', () => {
  const tools = ['tools', 'tool_choice'];
  const refuses = (status: number, error: object, own = tools) => refusedFields(refused(status, { error }), own);

  it('those it names, when it names no other', () => {
    const unsupported = { error_type: 'UNSUPPORTED_OPENAI_PARAMS', message: 'x' };
    assert.deepEqual(refuses(422, { ...unsupported, param: 'tools, tool_choice' }), tools);
    assert.deepEqual(refuses(422, { ...unsupported, param: 'tools' }), ['tools']);
    assert.deepEqual(refuses(422, { ...unsupported, param: 'tools, logprobs' }), []);
    assert.deepEqual(refuses(422, { ...unsupported, param: 'seed' }), []);
  });

  for (const message of [
    'The following parameters are not supported for this model: tools',
    'registry/library/m does not support tools',
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    'Unrecognized request argument supplied: tool_choice',
    'tools: Extra inputs are not permitted',
  ]) {
    it(`in words: ${message.slice(0, 60)}`, () => assert.equal(refuses(400, { message }).length, 1));
  }

  for (const message of [
    'tool calling is not supported with this model',
    'No endpoints found that support tool use',
    'This model does not support function calling.',
    'org/m doesn’t matter: tool use is unavailable here',
  ]) {
    it(`tools in words of one tool: ${message}`, () => {
      assert.deepEqual(refuses(400, { message, param: 'model' }), ['tools']);
      assert.deepEqual(refuses(404, { message }), ['tools']);
      assert.deepEqual(refuses(400, { message }, []), []);
    });
  }

  it('all of them at once, and an option by the field it stands in', () => {
    const own = ['stream', 'stream_options', ...tools];
    const error = {
      error_type: 'UNSUPPORTED_OPENAI_PARAMS',
      message: 'x',
      param: 'stream_options.include_usage, tools',
    };
    assert.deepEqual(refuses(422, error, own), ['stream_options', 'tools']);
    assert.deepEqual(refuses(422, error, tools), []);
    assert.deepEqual(refuses(400, { message: 'stream_options is not supported' }, own), ['stream_options']);
    assert.deepEqual(refuses(400, { message: 'stream is not supported' }, own), ['stream']);
  });

  it('not for what is only wrong with them', () => {
    assert.deepEqual(refuses(400, { message: 'tools[0].function.parameters: type must be object' }), []);
    assert.deepEqual(refuses(400, { message: "Invalid schema for function 'look'", param: 'tools' }), []);
    assert.deepEqual(refuses(400, { message: 'the user asked about tools' }), []);
    assert.deepEqual(refuses(400, { message: 'stop is not supported' }), []);
    assert.deepEqual(refuses(400, { message: 'the schema of your tool is not supported' }), []);
  });

  it('not for errors of another kind', () => {
    assert.deepEqual(refuses(503, { message: 'tools are not supported just now' }), []);
    assert.deepEqual(refuses(429, { message: 'tools not allowed', param: 'tools' }), []);
  });
});

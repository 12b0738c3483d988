import assert from 'node:assert/strict';
import { isCancelled } from '../../../../src/core/base/errors.ts';
import type { IdentityFact } from '../../../../src/core/diagnosis/facts.ts';
import { errorCodes } from '../../../../src/core/diagnosis/network.ts';
import { probeIdentity, probeInference } from '../../../../src/core/diagnosis/probe.ts';
import { loopbackServer } from '../base/loopbackServer.ts';
import { freePort } from '../base/ports.ts';

const never = new AbortController().signal;

describe('a request of a diagnosis', () => {
  const server = loopbackServer();
  const deps = { fetch: globalThis.fetch, now: Date.now };
  const ask = () => probeIdentity(deps, server.origin, never);

  const metadata = (more: object = {}) => ({
    issuer: server.origin,
    authorization_endpoint: `${server.origin}/oauth2/v2/authorization`,
    token_endpoint: `${server.origin}/oauth2/v2/token`,
    ...more,
  });

  function answering(status: number, body: unknown, headers: Record<string, string> = {}): void {
    server.answer = (_request, response) => {
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    };
  }

  it('carries no token and asks for what a sign-in asks for first', async () => {
    answering(200, metadata());
    const { probe } = await ask();
    assert.deepEqual(
      server.seen.map(({ method, path }) => `${method} ${path}`),
      ['GET /.well-known/openid-configuration'],
    );
    assert.equal(server.seen[0]?.headers.authorization, undefined);
    assert.deepEqual([probe.kind, probe.kind === 'answered' && probe.status], ['answered', 200]);
  });

  const discoveries: readonly (readonly [
    title: string,
    status: number,
    body: () => unknown,
    IdentityFact['discovery'],
  ])[] = [
    ['one of this issuer', 200, () => metadata(), { kind: 'found' }],
    ['an issuer with a slash more', 200, () => metadata({ issuer: `${server.origin}/` }), { kind: 'found' }],
    ['none', 404, () => 'no', { kind: 'absent', status: 404 }],
    ['one that is not for us', 403, () => ({ error: 'forbidden' }), { kind: 'absent', status: 403 }],
    [
      'a failing proxy',
      502,
      () => '<h1>Bad</h1>',
      { kind: 'unusable', problem: 'the service, or a proxy in front of it, returned 502' },
    ],
    [
      'a page',
      200,
      () => '<html>',
      { kind: 'unusable', problem: 'the response is not a metadata document; it may be from a proxy' },
    ],
    [
      'another document',
      200,
      () => ({ hello: 1 }),
      { kind: 'unusable', problem: 'the response is not a metadata document; it may be from a proxy' },
    ],
    [
      'another issuer',
      200,
      () => metadata({ issuer: 'https://other.example.com' }),
      {
        kind: 'unusable',
        problem: 'it reports https://other.example.com, another issuer than the configured address',
      },
    ],
    [
      'an endpoint elsewhere',
      200,
      () => metadata({ token_endpoint: 'https://other.example.com/token' }),
      { kind: 'unusable', problem: 'its token_endpoint is on another host, which is not allowed' },
    ],
  ];
  for (const [title, status, body, discovery] of discoveries) {
    it(`tells what discovery says: ${title}`, async () => {
      answering(status, body());
      assert.deepEqual((await ask()).discovery, discovery);
    });
  }

  it('does not follow a redirect', async () => {
    answering(302, '', { location: 'https://login.example.com/' });
    const { probe, discovery } = await ask();
    assert.deepEqual([probe.kind === 'answered' && probe.status, discovery?.kind], [302, 'unusable']);
    assert.equal(server.seen.length, 1);
  });

  const clocks: readonly (readonly [title: string, aheadMs: number])[] = [
    ['right', 0],
    ['ten minutes ahead', 600_000],
    ['a day behind', -86_400_000],
  ];
  for (const [title, aheadMs] of clocks) {
    it(`measures a clock of the service that is ${title}`, async () => {
      answering(404, '', { date: new Date(Date.now() + aheadMs).toUTCString() });
      const { probe } = await ask();
      assert.ok(probe.kind === 'answered' && probe.skewMs !== undefined);
      assert.ok(Math.abs(probe.skewMs - aheadMs) <= 1500, `${probe.skewMs}`);
    });
  }

  it('measures no clock where the service does not tell the time', async () => {
    server.answer = (_request, response) => {
      response.sendDate = false;
      response.writeHead(404).end();
    };
    const { probe } = await ask();
    assert.equal('skewMs' in probe, false);
  });

  it('asks the inference service below its prefix', async () => {
    answering(401, '{}');
    const probe = await probeInference(deps, `${server.origin}/prefix`, never);
    assert.deepEqual([probe.kind, server.seen[0]?.path], ['answered', '/prefix/v1/models']);
    assert.equal(server.seen[0]?.headers.authorization, undefined);
  });

  it('tells that nobody listens', async () => {
    const { probe, discovery } = await probeIdentity(deps, `http://127.0.0.1:${await freePort()}`, never);
    assert.ok(probe.kind === 'unreachable');
    assert.deepEqual([probe.codes, discovery], [['ECONNREFUSED'], undefined]);
  });

  it('tells what TLS says where something else answers', async () => {
    answering(200, metadata());
    const { probe } = await probeIdentity(deps, server.origin.replace('http:', 'https:'), never);
    assert.ok(probe.kind === 'unreachable');
    assert.match(probe.codes.join(), /ERR_SSL_|EPROTO/);
    assert.deepEqual(server.seen, []);
  });

  it('tells why a certificate was refused', async () => {
    const refused = async () => {
      const cause = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
      throw new TypeError('fetch failed', { cause });
    };
    const { probe } = await probeIdentity({ ...deps, fetch: refused }, server.origin, never);
    assert.ok(probe.kind === 'unreachable');
    assert.deepEqual(probe.codes, ['DEPTH_ZERO_SELF_SIGNED_CERT']);
    assert.match(probe.message, /self-signed/);
  });

  it('is stopped when the user stops it', async () => {
    server.answer = () => {};
    const stop = new AbortController();
    const asked = probeIdentity(deps, server.origin, stop.signal);
    stop.abort();
    await assert.rejects(asked, (error) => isCancelled(error) && errorCodes(error).length === 0);
  });
});

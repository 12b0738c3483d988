import assert from 'node:assert/strict';
import { problem, useSandbox } from './fixture.ts';
import { getList, signIn } from './walk.ts';

const path = (organization: string, list: string): string => `/api/v1/organizations/${organization}/${list}`;
const LISTS = ['groups', 'roles'];

const problemOf = async (response: Response): Promise<[number, string]> => {
  const [status, error] = await problem(response);
  return [status, error];
};

describe('sandbox identity: the API', () => {
  const sandbox = useSandbox({ groups: 30, roles: 5 });
  /** Access tokens of the administrator, the ordinary user and the administrator of the empty organization. */
  let tokens: [string, string, string];

  before(async () => {
    const [ada, ben, chiara] = await Promise.all([0, 1, 2].map((person) => signIn(sandbox.descriptor, { person })));
    tokens = [ada?.access_token ?? '', ben?.access_token ?? '', chiara?.access_token ?? ''];
  });

  for (const list of LISTS) {
    describe(`List ${list}`, () => {
      it(`200: an array for an administrator`, async () => {
        const response = await getList(sandbox.descriptor, path('meridian', list), tokens[0]);
        assert.equal(response.status, 200);
        assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
        const items = (await response.json()) as unknown[];
        assert.ok(Array.isArray(items) && items.length >= 8);
      });

      it('401 access_denied for a token the service never issued', async () => {
        assert.deepEqual(await problemOf(await getList(sandbox.descriptor, path('meridian', list), 'x'.repeat(1500))), [
          401,
          'access_denied',
        ]);
      });

      it('403 forbidden for a user without privileges', async () => {
        assert.deepEqual(await problemOf(await getList(sandbox.descriptor, path('meridian', list), tokens[1])), [
          403,
          'forbidden',
        ]);
      });

      it('403 forbidden for an organization the caller has no part in', async () => {
        assert.deepEqual(await problemOf(await getList(sandbox.descriptor, path('meridian', list), tokens[2])), [
          403,
          'forbidden',
        ]);
      });

      for (const unknown of ['nowhere', 'MERIDIAN', '%6Deridian%2F', '%ff', '..']) {
        it(`403 forbidden for the unknown organization ${unknown}`, async () => {
          // `fetch` would resolve `..` away, so it goes encoded.
          const id = unknown === '..' ? '%2E%2E%2F' : unknown;
          assert.deepEqual(await problemOf(await getList(sandbox.descriptor, path(id, list), tokens[0])), [
            403,
            'forbidden',
          ]);
        });
      }

      it('500 server_error on demand', async () => {
        const response = await getList(sandbox.descriptor, path('meridian', list), tokens[0], {
          'x-rolecall-sandbox-fault': 'status',
        });
        assert.deepEqual(await problemOf(response), [500, 'server_error']);
      });

      it('400 invalid_request without an Authorization header', async () => {
        assert.deepEqual(await problemOf(await fetch(`${sandbox.descriptor.identity}${path('meridian', list)}`)), [
          400,
          'invalid_request',
        ]);
      });

      for (const malformed of ['Bearer', 'Bearer two words', 'token', 'Basic YTpi', 'Bearer "quoted"']) {
        it(`400 invalid_request for the header "${malformed}"`, async () => {
          const response = await fetch(`${sandbox.descriptor.identity}${path('meridian', list)}`, {
            headers: { authorization: malformed },
          });
          assert.deepEqual(await problemOf(response), [400, 'invalid_request']);
        });
      }

      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        it(`405 method_not_allowed for ${method}`, async () => {
          const response = await fetch(`${sandbox.descriptor.identity}${path('meridian', list)}`, { method });
          assert.equal(response.headers.get('allow'), 'GET');
          assert.deepEqual(await problemOf(response), [405, 'method_not_allowed']);
        });
      }
    });
  }

  describe('the other paths', () => {
    for (const nothing of [
      '/api',
      '/api/v1',
      '/api/v2/organizations/meridian/groups',
      '/api/v1/organizations/meridian',
      '/api/v1/organizations/meridian/groups/',
      '/api/v1/organizations//groups',
      '/api/v1/organizations/meridian/users',
    ]) {
      it(`404 not_found for ${nothing}`, async () => {
        assert.deepEqual(await problemOf(await getList(sandbox.descriptor, nothing, tokens[0])), [404, 'not_found']);
      });
    }

    it('takes an encoded organization id for what it means', async () => {
      assert.equal((await getList(sandbox.descriptor, path('%6Deridian', 'groups'), tokens[0])).status, 200);
    });

    it('answers an empty list of groups with [] and an empty list of roles with null', async () => {
      assert.equal(await (await getList(sandbox.descriptor, path('empty-nest', 'groups'), tokens[2])).text(), '[]');
      assert.equal(await (await getList(sandbox.descriptor, path('empty-nest', 'roles'), tokens[2])).text(), 'null');
    });

    it('lists the organizations of the caller, and only those', async () => {
      const idsOf = async (token: string): Promise<string[]> => {
        const response = await getList(sandbox.descriptor, '/api/v1/organizations', token);
        assert.equal(response.status, 200);
        const items = (await response.json()) as { metadata: { id: string; name: string }; spec: object }[];
        for (const { metadata, spec } of items) {
          assert.ok(metadata.name);
          assert.deepEqual(spec, {});
        }
        return items.map(({ metadata }) => metadata.id);
      };
      assert.deepEqual(await Promise.all(tokens.map(idsOf)), [['meridian', 'big-sky'], ['meridian'], ['empty-nest']]);
    });

    it('names every organization in the sandbox.descriptor, whoever may read it', () => {
      assert.deepEqual(sandbox.descriptor.organizations, ['meridian', 'empty-nest', 'big-sky']);
    });

    it('takes a service token like an access token, beside every session, until all sessions are ended', async () => {
      const body = { person: sandbox.descriptor.people[2]?.id, seconds: 600 };
      const issued = await sandbox.control('POST', '/service-tokens', body);
      const { token, expires_in } = (await issued.json()) as { token: string; expires_in: number };
      assert.equal(expires_in, 600);
      assert.equal((await getList(sandbox.descriptor, path('empty-nest', 'groups'), token)).status, 200);
      await signIn(sandbox.descriptor, { person: 2 });
      assert.equal((await getList(sandbox.descriptor, path('empty-nest', 'groups'), token)).status, 200);
      await sandbox.control('POST', '/sessions/end');
      assert.equal((await getList(sandbox.descriptor, path('empty-nest', 'groups'), token)).status, 401);
    });
  });
});

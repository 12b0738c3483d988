import assert from 'node:assert/strict';
import {
  availableMethods,
  editorLinkUri,
  SIGN_IN_METHODS,
  type SignInMethodId,
  type UnavailableReason,
  unavailableReason,
} from '../../../../src/core/oauth/signInMethods.ts';

const LOOPBACK = 'http://127.0.0.1:18155/callback';
const LINK = 'vscode://rolecall.rolecall/callback';
const PAGE = 'https://portal.example.com/signed-in';

describe('the ways to sign in', () => {
  it('use the browser, but for a service token', () => {
    assert.deepEqual(
      SIGN_IN_METHODS.map(({ id, usesBrowser }) => [id, usesBrowser]),
      [
        ['loopback', true],
        ['editorLink', true],
        ['paste', true],
        ['serviceToken', false],
      ],
    );
  });

  it('the link is that of this editor', () => {
    assert.equal(editorLinkUri('vscode-insiders'), 'vscode-insiders://rolecall.rolecall/callback');
  });

  type Row = [what: string, redirectUri: string, clientId: string, isWeb: boolean, open: SignInMethodId[]];
  const rows: readonly Row[] = [
    ['the default on the desktop', LOOPBACK, 'c', false, ['loopback', 'paste', 'serviceToken']],
    ['the default in a browser', LOOPBACK, 'c', true, ['loopback', 'paste', 'serviceToken']],
    ['localhost', 'http://localhost:18155/cb', 'c', false, ['loopback', 'paste', 'serviceToken']],
    ['the other family', 'http://[::1]:18155/cb', 'c', false, ['loopback', 'paste', 'serviceToken']],
    ['a link on the desktop', LINK, 'c', false, ['editorLink', 'paste', 'serviceToken']],
    ['a link in a browser', LINK, 'c', true, ['paste', 'serviceToken']],
    ['the link of another editor', 'vscodium://rolecall.rolecall/callback', 'c', false, ['paste', 'serviceToken']],
    ['a link that is nearly right', `${LINK}/`, 'c', false, ['paste', 'serviceToken']],
    ['a page somewhere', PAGE, 'c', false, ['paste', 'serviceToken']],
    ['https on this machine, which we cannot serve', 'https://127.0.0.1:1/cb', 'c', false, ['paste', 'serviceToken']],
    ['no client', LOOPBACK, '', false, ['serviceToken']],
  ];
  for (const [what, redirectUri, clientId, isWeb, open] of rows) {
    it(`${what}: ${open.join(', ')}`, () => {
      const place = { connection: { clientId, redirectUri }, uriScheme: 'vscode', isWeb };
      assert.deepEqual(
        availableMethods(place).map(({ id }) => id),
        open,
      );
    });
  }

  const refusals: readonly [SignInMethodId, string, boolean, UnavailableReason | undefined][] = [
    ['loopback', PAGE, false, 'redirectUriIsNoLoopback'],
    ['loopback', LINK, false, 'redirectUriIsNoLoopback'],
    ['editorLink', LOOPBACK, false, 'redirectUriIsNoLink'],
    ['editorLink', LINK, true, 'linksDoNotArrive'],
    ['paste', PAGE, true, undefined],
  ];
  for (const [id, redirectUri, isWeb, refusal] of refusals) {
    it(`${id} with ${redirectUri}${isWeb ? ' in a browser' : ''}: ${refusal ?? 'open'}`, () => {
      const method = SIGN_IN_METHODS.find((each) => each.id === id) ?? assert.fail();
      const place = { connection: { clientId: 'c', redirectUri }, uriScheme: 'vscode', isWeb };
      assert.equal(unavailableReason(method, place), refusal);
      if (id !== 'paste')
        assert.equal(unavailableReason(method, { ...place, connection: { clientId: '', redirectUri } }), 'noClient');
    });
  }
});

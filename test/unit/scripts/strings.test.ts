import assert from 'node:assert/strict';
import { unextractable } from '../../../scripts/strings.ts';

describe('strings to translate', () => {
  for (const [call, isRefused] of [
    ["l10n.t('Sign in')", false],
    ["vscode.l10n.t('It\\'s {0}', name)", false],
    ["l10n.t(\n  'Sign in to {0} first.',\n  name,\n)", false],
    ['l10n.t`Sign in to $' + '{name} first.`', false],
    ["l10n.t({ message: 'Open', comment: ['A verb'] })", false],
    ['l10n.t(message)', true],
    ["l10n.t(isOpen ? 'Open' : 'Closed')", true],
    ["l10n.t('Sign in ' + name)", true],
    ['l10n.t(`Sign in to $' + '{name}`)', true],
  ] as const) {
    it(`${call.replaceAll('\n', ' ')} ${isRefused ? 'is refused' : 'is extracted'}`, () => {
      assert.deepEqual(unextractable(`const a = 1;\nconst b = ${call};`), isRefused ? [2] : []);
    });
  }
});

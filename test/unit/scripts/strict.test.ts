import assert from 'node:assert/strict';
import { strictText } from '../../../scripts/editor/strict.ts';

/** As it stands in the bundles, with one set of minified names. */
const check = (name: string, a: string, b: string): string =>
  `function ${name}(${a},${b}){return!0}function M(${a},${b}){if(!${name}(${a},${b}))throw new Error(\`Extension '\${${a}.identifier.value}' CANNOT use API proposal: \${${b}}.\`)}`;

describe('strictText', () => {
  it('makes the check ask for what the extension declares', () => {
    const text = strictText(`function Xy(a,b){return!0}${check('Oe', 'i', 't')}var z=1;`, 'file.js', false);
    const allows = new Function(`${text}return Oe;`)() as (extension: object, proposal: string) => boolean;
    assert.equal(allows({}, 'chatProvider'), false);
    assert.equal(allows({ enabledApiProposals: ['other'] }, 'chatProvider'), false);
    assert.equal(allows({ enabledApiProposals: ['chatProvider'] }, 'chatProvider'), true);
    assert.match(text, /function Xy\(a,b\)\{return!0\}/);
  });

  it('finds it under other minified names, and switches the proposals for all off', () => {
    const source = `x._envEnablesProposedApiForAll=!0;${check('$a', 'e', 'n')}`;
    const text = strictText(source, 'file.js', true);
    assert.match(text, /_envEnablesProposedApiForAll=!1/);
    assert.match(text, /enabledApiProposals\.includes\(n\)/);
  });

  const refused: ReadonlyArray<readonly [title: string, source: string, switchesOn: boolean]> = [
    ['no check', 'var a=1;', false],
    ['two checks', check('a', 'b', 'c') + check('d', 'e', 'f'), false],
    ['a missing switch', check('a', 'b', 'c'), true],
    ['a text that is strict already', strictText(check('a', 'b', 'c'), 'file.js', false), false],
  ];
  for (const [title, source, switchesOn] of refused) {
    it(`refuses ${title}`, () => assert.throws(() => strictText(source, 'file.js', switchesOn), /file\.js/));
  }
});

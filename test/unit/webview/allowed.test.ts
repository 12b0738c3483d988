import assert from 'node:assert/strict';
import { address, alignmentOf, attributeOf, type Fate, fateOf } from '../../../src/webview/answer/allowed.ts';

describe('what of an answer is shown', () => {
  const fates: Readonly<Record<Fate, readonly string[]>> = {
    keep: 'p h1 ul ol li blockquote pre code table td a em strong del details'.split(' '),
    keepMath: 'math mi mfrac mtable'.split(' '),
    picture: ['img'],
    box: ['input'],
    drop: ['annotation'],
    unwrap: 'picture source center font label section x-element script iframe svg'.split(' '),
  };
  for (const [fate, names] of Object.entries(fates)) {
    it(`${fate}: ${names.join(', ')}`, () => {
      assert.deepEqual(
        names.map((name) => [name, fateOf(name, [])]),
        names.map((name) => [name, fate]),
      );
    });
  }

  it('drops the half of a formula that wants styles', () => {
    assert.equal(fateOf('span', ['katex-html']), 'drop');
    assert.equal(fateOf('span', ['katex-mathml']), 'keep');
  });

  const attributes: readonly (readonly [element: string, name: string, value: string, kept: string | undefined])[] = [
    ['a', 'href', 'https://a.example/b', 'https://a.example/b'],
    ['a', 'href', 'command:workbench.action.files.newUntitledFile', undefined],
    ['p', 'href', 'https://a.example/b', undefined],
    ['code', 'class', 'code-line language-ts', 'language-ts'],
    ['span', 'class', 'hljs-string', 'hljs-string'],
    ['span', 'class', 'picture', undefined],
    ['span', 'class', 'xhljs-string', undefined],
    ['ol', 'start', '3', '3'],
    ['ol', 'start', '3em', undefined],
    ['ul', 'start', '3', undefined],
    ['details', 'open', 'x', ''],
    ['p', 'style', 'background:url(https://a.example)', undefined],
    ['p', 'onclick', 'alert(1)', undefined],
    ['p', 'id', 'main', undefined],
    ['a', 'target', '_top', undefined],
    ['a', 'ping', 'https://a.example', undefined],
    ['td', 'background', 'https://a.example', undefined],
    ['q', 'cite', 'https://a.example', undefined],
    ['math', 'display', 'block', 'block'],
    ['math', 'href', 'https://a.example', undefined],
  ];
  for (const [element, name, value, kept] of attributes) {
    it(`${kept === undefined ? 'leaves out' : 'keeps'} <${element} ${name}="${value}">`, () => {
      assert.equal(attributeOf(element, name, value), kept);
    });
  }

  it('takes the alignment of cells, and nothing else, out of a style', () => {
    assert.equal(alignmentOf('td', 'text-align:right'), 'right');
    assert.equal(alignmentOf('th', 'text-align: center;'), 'center');
    assert.equal(alignmentOf('td', 'text-align:right;background:url(https://a.example)'), undefined);
    assert.equal(alignmentOf('p', 'text-align:right'), undefined);
  });
});

describe('where a link of an answer may lead', () => {
  for (const kept of ['https://a.example/', 'http://a.example/x?y=z#w', 'mailto:a@a.example']) {
    it(`to ${kept}`, () => assert.equal(address(kept), kept));
  }
  const refused = [
    ...[
      'command:x',
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'java\nscript:alert(1)',
      ' command:x',
      'data:text/html,x',
    ],
    ...['file:///etc/passwd', 'vscode://rolecall.rolecall/callback', 'vscode-resource:/x', 'blob:https://a.example/1'],
    ...['rotate.py', '/etc/passwd', '#main', '//a.example/x', ''],
  ];
  for (const value of refused) {
    it(`not to ${JSON.stringify(value)}`, () => assert.equal(address(value), undefined));
  }
});

import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  alignmentOf,
  attributeOf,
  escapeTags,
  linkTarget,
  type TagAction,
  tagAction,
} from '../../../src/webview/page/sanitize.ts';

describe('what of an answer is shown', () => {
  const fates: Readonly<Record<TagAction, readonly string[]>> = {
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
        names.map((name) => [name, tagAction(name, [])]),
        names.map((name) => [name, fate]),
      );
    });
  }

  it('drops the half of a formula that wants styles', () => {
    assert.equal(tagAction('span', ['katex-html']), 'drop');
    assert.equal(tagAction('span', ['katex-mathml']), 'keep');
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
    it(`to ${kept}`, () => assert.equal(linkTarget(kept), kept));
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
    it(`not to ${JSON.stringify(value)}`, () => assert.equal(linkTarget(value), undefined));
  }
});

describe('the tags of an answer', () => {
  const kept = [
    '<p data-line="0" class="code-line" dir="auto">a &lt; b</p>',
    '<PRE><code class="language-ts"><span class="hljs-string">x</span></code></PRE>',
    '<a href="https://a.example" data-href=\'x\'>y</a><br><br/><hr />',
    '<math xmlns="x"><semantics><mi>x</mi><annotation encoding="application/x-tex">x</annotation></semantics></math>',
    '<ul><li><input type="checkbox" checked="" disabled=""><label for="x">a</label></li></ul>',
    '<picture><source srcset="x"><img src="y" alt="z"></picture>',
  ];
  for (const html of kept) it(`stay: ${html}`, () => assert.equal(escapeTags(html), html));

  const words = [
    ...['<object>', '</object>', '<string>', '<T>', '<script>', '<title>', '<TEXTAREA>', '<svg/onload=x>', '<form>'],
    ...['<!--', '<!doctype html>', '<?php', '<![CDATA[', '</', '<', '< p>', '<p', '<p title="', "<p title='x", '<p/x>'],
    ...['<a>', '</a>', '</p>', '<img>', '<input name="childNodes">', '<mi>', '<annotation>', '<annotation-xml>'],
    ...['<label>', '<input type="text" title=" type=checkbox2">', '<p\u000b>x', '<pé>'],
  ];
  for (const html of words) {
    it(`are words: ${html}`, () => assert.equal(escapeTags(html), html.replaceAll('<', '&lt;')));
  }

  it('that are left open take in no tag behind them', () => {
    assert.equal(escapeTags('<div class="\n\n<p class="a">b</p>'), '&lt;div class="\n\n<p class="a">b</p>');
    assert.equal(escapeTags('<div class="<p>b</p>">'), '&lt;div class="<p>b</p>">');
    assert.equal(escapeTags("<div class='<p>b</p>'>"), "&lt;div class='<p>b</p>'>");
  });

  it('are told in time that grows with the text alone', () => {
    for (const piece of ['<p ', ' ', 'a ', 'a=', '<p a=b ', '<math>', '</p', '"']) {
      const html = `<p ${piece.repeat(100_000)}`;
      assert.equal(escapeTags(html).replaceAll('&lt;', '<'), html);
    }
  });

  it('become nothing but words, and no word is lost', () => {
    const piece = fc.constantFrom(
      ...'< > / " \' = - ! ? p a math mi script title x input type checkbox'.split(' '),
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const html = pieces.join('');
        const escaped = escapeTags(html);
        assert.equal(escaped.replaceAll('&lt;', '<'), html);
        assert.doesNotMatch(escaped, /<(?!\/?(?:p|a|math|mi|input)\b[^<]*>)/);
      }),
    );
  });
});

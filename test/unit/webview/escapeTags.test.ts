import assert from 'node:assert/strict';
import fc from 'fast-check';
import { escapeTags } from '../../../src/webview/answer/escapeTags.ts';

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

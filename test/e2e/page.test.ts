import assert from 'node:assert/strict';
import type { Page } from '@playwright/test';
import { bundlePage } from '../../esbuild.mjs';
import { type ToPage, versioned } from '../../src/webview/page/protocol.ts';
import { test } from '../harness/workbench.ts';

/** What follows in each answer: whatever came before, it is there. */
const AFTER = '<p>after</p>';

test.describe('the page of answers and documents', () => {
  let page: Page;
  /** What the page asked for beyond itself, and what it threw. */
  const requests: string[] = [];
  const errors: string[] = [];
  let script: string;
  let style: string;

  test.beforeAll(async ({ browser }) => {
    ({ script, style } = await bundlePage('page'));
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(String(error)));
    await begin('log');
  });

  /** Begins the page, as the host does for an answer or for a document. */
  async function begin(role: 'log' | 'main'): Promise<void> {
    await page.goto('about:blank');
    await page.setContent(`<!doctype html><header><h1></h1><p id="about"></p></header><main role="${role}"></main>`);
    await page.evaluate(
      'globalThis.sent = []; globalThis.acquireVsCodeApi = () => ({ postMessage: (each) => sent.push(each), getState() {}, setState() {} })',
    );
    await page.addScriptTag({ content: script });
  }
  test.beforeEach(async () => {
    requests.length = 0;
    errors.length = 0;
    await page.evaluate('document.querySelector("main").replaceChildren(); globalThis.ran = undefined;');
  });
  test.afterAll(() => page.close());

  /** What `main` holds once the page has read the message. */
  const shown = (html: string, ...more: ToPage['parts']) => held({ parts: [{ html }, ...more] });
  async function held(content: Partial<ToPage>): Promise<string> {
    const words = { picture: 'Picture: {0}' };
    const empty = { heading: '', about: [], parts: [], isWhole: true, words };
    const message = { type: 'content', revision: 1, ...empty, ...content } as ToPage;
    const text = await page.evaluate(`(async () => {
      const read = new Promise((done) => window.addEventListener('message', done, { once: true }));
      window.postMessage(${JSON.stringify(versioned(message))}, '*');
      await read;
      await new Promise(requestAnimationFrame); // Later in the frame in which the page draws.
      return document.querySelector('main').innerHTML;
    })()`);
    return text as string;
  }
  const same = (html: string) => [html, html] as const;
  const words = (html: string) => [html, html.replace(/<(?!\/?p>)/g, '&lt;').replace(/(?<!<\/?p)>/g, '&gt;')] as const;

  const tags = [
    ...'string object template title select textarea script style frameset iframe noscript plaintext xmp svg'.split(
      ' ',
    ),
    ...'video head body html base form annotation-xml table-x mi annotation a label option marquee dialog'.split(' '),
  ];
  const link = '<a href="https://a.example/" title="https://a.example/">x</a>';
  const deep = (count: number) => `${'<span>'.repeat(count)}x${'</span>'.repeat(count)}`;
  const formula = '<math><semantics><mrow><mi>x</mi></mrow></semantics></math>';
  const rows: readonly (readonly [title: string, html: string, shown: string])[] = [
    [
      'what Markdown is made of',
      ...same('<h2>a</h2><ul><li><strong>b</strong> <em>c</em></li></ul><pre tabindex="0">d</pre>'),
    ],
    ...tags.map((tag) => [`<${tag}> in words`, ...words(`<p>Map<${tag}> x</p>`)] as const),
    ...tags.map((tag) => [`<${tag}> on its own`, ...words(`<${tag}>`)] as const),
    ['an end tag in words', ...words('<p>the </a> tag</p>')],
    ['a comment', ...words('<p><!-- x</p>')],
    ['a declaration', ...words('<p><!DOCTYPE x</p>')],
    ['an instruction', ...words('<p><?php x</p>')],
    ['an attribute left open', '<div title="', '&lt;div title="'],
    ['a script', ...words('<script>globalThis.ran = 1</script>')],
    [
      'an event',
      '<p onclick="ran=1">x</p><img src="x" onerror="ran=1" alt="y">',
      '<p>x</p><span class="picture">Picture: y</span>',
    ],
    ['a frame', ...words('<iframe src="https://a.example/">x</iframe>')],
    ['a drawing', ...words('<svg onload="ran=1"><text>x</text></svg>')],
    ['a form that names its children', ...words('<form><input name="childNodes"></form>')],
    ['a form that names its classes', ...words('<form><input name="classList"></form>')],
    ['a picture that calls itself the body', '<img name="body" alt="x">', '<span class="picture">Picture: x</span>'],
    [
      'a picture that calls itself a method',
      '<img name="querySelector" alt="x">',
      '<span class="picture">Picture: x</span>',
    ],
    ['what positions itself', '<p id="main" class="x" style="position:fixed" hidden>x</p>', '<p>x</p>'],
    ['a link', '<a href="https://a.example/">x</a>', link],
    ...[
      'javascript:ran=1',
      'command:a.b',
      'vscode://a.b/c',
      'file:///etc/passwd',
      'data:text/html,x',
      '#x',
      'a.ts',
    ].map((href) => [`a link to ${href}`, `<p><a href="${href}">x</a></p>`, '<p>x</p>'] as const),
    [
      'a link in a link',
      `<p><a href="https://a.example/">x<a href="https://a.example/">x</a></a></p>`,
      `<p>${link}${link}</p>`,
    ],
    [
      'a picture in a link',
      '<a href="https://a.example/"><img src="https://b.example/c.png" alt="x"></a>',
      '<a href="https://a.example/" title="https://a.example/"><span class="picture">Picture: x</span></a>',
    ],
    [
      'a picture of several',
      '<picture><source srcset="https://b.example/d.png"><img src="https://b.example/c.png" alt="x"></picture>',
      '<a class="picture" href="https://b.example/c.png" title="https://b.example/c.png">Picture: x</a>',
    ],
    [
      'a description with dollars',
      '<img alt="$& $1 $$ {0}">',
      '<span class="picture">Picture: $&amp; $1 $$ {0}</span>',
    ],
    [
      'a list of tasks',
      '<ul><li><input type="checkbox" checked="" disabled=""><label for="x">a</label></li><li><input type="checkbox">b</li></ul>',
      '<ul><li>☑ a</li><li>☐ b</li></ul>',
    ],
    [
      'a formula',
      `<p><span class="katex"><span class="katex-mathml">${formula.replace('</semantics>', '<annotation encoding="application/x-tex">x</annotation></semantics>')}</span>` +
        '<span class="katex-html" aria-hidden="true"><span class="mord"><svg width="1em"><path d="M1"></path></svg>x</span></span></span></p>',
      `<p><span><span>${formula}</span></span></p>`,
    ],
    [
      'a formula with a menclose',
      '<math><menclose notation="box"><mi>x</mi></menclose></math>',
      '<math><mi>x</mi></math>',
    ],
    [
      'a link of MathML',
      '<math href="https://a.example/"><mi href="javascript:ran=1">x</mi></math>',
      '<math><mi>x</mi></math>',
    ],
    [
      'a code word',
      '<pre><code class="x language-ts"><span class="hljs-keyword">a</span></code></pre>',
      '<pre tabindex="0"><code class="language-ts"><span class="hljs-keyword">a</span></code></pre>',
    ],
    [
      'a cell to the right',
      '<table><tbody><tr><td style="text-align:right">x</td></tr></tbody></table>',
      '<table><tbody><tr><td data-align="right">x</td></tr></tbody></table>',
    ],
  ];
  for (const [title, html, expected] of rows) {
    test(`shows ${title}, and what follows`, async () => {
      assert.equal(await shown(html + AFTER), expected + AFTER);
      assert.deepEqual([errors, requests, await page.evaluate('globalThis.ran')], [[], [], undefined]);
    });
  }

  const hiding = [
    '<span class="katex-html">',
    '<math><mphantom><mtext>',
    '<math><annotation><mtext>',
    '<math><semantics><annotation encoding="text/html">',
    '<ul><li><blockquote><table>',
    '<details><summary>',
    '<a href="https://a.example/">',
    deep(600).replaceAll('</span>', ''),
  ];
  for (const html of hiding) {
    test(`shows to the eye what follows ${html.slice(0, 60)}`, async () => {
      await shown(html + AFTER);
      assert.ok(await page.getByText('after', { exact: true }).isVisible());
      assert.deepEqual(errors, []);
    });
  }

  test('shows an answer within 5000 elements', async () => {
    await shown(`<p>${deep(5000)}</p>${AFTER}`);
    assert.equal(await page.evaluate('document.querySelector("main").textContent'), 'xafter');
  });

  test('shows a line of Rolecall’s own as no model can: as words, with a mark that no text gets', async () => {
    const line = '<b>Used</b> f.';
    const held = await shown('<p class="own">Used f.</p>', { own: line }, { html: '<p>y</p><div class="own">z</div>' });
    assert.equal(held, '<p>Used f.</p><p class="own">&lt;b&gt;Used&lt;/b&gt; f.</p><p>y</p><div>z</div>');
  });

  test('shows as it is, wrapped, what nothing renders', async () => {
    const text = '# <b>x</b>\n| a |';
    assert.equal(
      await held({ parts: [{ plain: text }] }),
      `<pre class="plain">${text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</pre>`,
    );
  });

  test('draws a document in which no name is markup, and tells only the number of a link', async () => {
    const evil = '<img src=x onerror=ran=1>';
    const link = { text: evil, link: 3, title: 'Show in the tree' };
    const text = await held({
      revision: 7,
      heading: evil,
      about: [{ text: 'meridian', link: 0, title: '' }, ` · ${evil}`],
      parts: [
        {
          blocks: [
            { kind: 'heading', text: evil },
            { kind: 'notice', text: evil },
            { kind: 'paragraph', line: [{ strong: evil }, ' and ', { small: evil }] },
            { kind: 'list', lines: [[link]] },
            { kind: 'table', columns: [evil], rows: [[[link]]] },
          ],
        },
      ],
    });
    const said = evil.replace('<', '&lt;').replace('>', '&gt;');
    const button = `<a role="link" tabindex="0" title="Show in the tree" data-link="3">${said}</a>`;
    assert.equal(
      text,
      `<h2>${said}</h2><p class="notice">${said}</p><p><strong>${said}</strong> and <small>${said}</small></p><ul><li>${button}</li></ul>` +
        `<table><thead><tr><th scope="col">${said}</th></tr></thead><tbody><tr><td>${button}</td></tr></tbody></table>`,
    );
    assert.equal(await page.evaluate('document.querySelector("header").textContent'), `${evil}meridian · ${evil}`);
    await page.evaluate('sent.length = 0');
    await page.locator('table a').click();
    await page.locator('#about a').focus();
    await page.keyboard.press('Enter');
    assert.deepEqual(await page.evaluate('sent'), [
      versioned({ type: 'follow', revision: 7, link: 3 }),
      versioned({ type: 'follow', revision: 7, link: 0 }),
    ]);
    assert.deepEqual([errors, requests, await page.evaluate('globalThis.ran')], [[], [], undefined]);
  });

  test('has no link of its own in what a model wrote', async () => {
    await page.evaluate('sent.length = 0');
    await shown('<button data-link="0">x</button><p data-link="0">y</p><a data-link="0" href="#">z</a>');
    await page.getByText('y').click();
    await page.getByText('x').click();
    assert.deepEqual(await page.evaluate('[sent, document.querySelectorAll("[data-link]").length]'), [[], 0]);
  });

  test('follows the link that a document has now', async () => {
    const table = (first: number) =>
      held({
        revision: first,
        parts: [{ blocks: [{ kind: 'list', lines: [[{ text: 'x', link: first, title: '' }]] }] }],
      });
    await table(1);
    await table(2);
    await page.evaluate('sent.length = 0');
    await page.locator('main a').click();
    assert.deepEqual(await page.evaluate('sent'), [versioned({ type: 'follow', revision: 2, link: 2 })]);
  });

  test('keeps what stays while an answer grows', async () => {
    await shown('<p>a</p><p>b');
    await page.evaluate('globalThis.first = document.querySelector("main").firstChild');
    assert.equal(await shown('<p>a</p><p>b</p><p>c</p>'), '<p>a</p><p>b</p><p>c</p>');
    assert.equal(await page.evaluate('first === document.querySelector("main").firstChild'), true);
  });

  test('shows the text as it came when it cannot be rebuilt', async () => {
    await page.evaluate(
      'globalThis.made = Document.prototype.createDocumentFragment; Document.prototype.createDocumentFragment = null',
    );
    try {
      assert.equal(await shown('<p>x</p>'), '<pre class="plain">&lt;p&gt;x&lt;/p&gt;</pre>');
    } finally {
      await page.evaluate('Document.prototype.createDocumentFragment = made');
    }
    assert.equal(await shown('<p>x</p>'), '<p>x</p>');
  });

  test('shows every column of a document in a narrow tab, and its names whole', async () => {
    await begin('main');
    await page.addStyleTag({ content: style });
    await page.setViewportSize({ width: 500, height: 800 });
    const row = [['max_completion_tokens'], ['{"include_usage":true}'], ['Rolecall: this workspace’s tools']];
    const columns = ['Field', 'Sent', 'Source'];
    await held({ parts: [{ blocks: [{ kind: 'table', columns, rows: [row] }] }] });
    const fits =
      '(() => { const { scrollWidth, clientWidth } = document.querySelector("table"); return scrollWidth <= clientWidth; })()';
    assert.equal(await page.evaluate(fits), true);
    const lines =
      'document.querySelector("td").getClientRects().length === 1 && document.querySelector("td").scrollHeight < 60';
    assert.equal(await page.evaluate(lines), true);
  });

  test('breaks IDs in a wider tab, and no other words', async () => {
    await begin('main');
    await page.addStyleTag({ content: style });
    await page.setViewportSize({ width: 760, height: 800 });
    const id = [{ small: '5d0f3c1a-7b52-4f0e-9c43-1f6f2f7c8a01' }, ' of ', { small: 'https://accounts.example' }];
    const row = [['ada.moreau@meridian.example'], ['subject'], ['administrators'], id];
    const columns = ['Name', 'Kind', 'Through', 'ID'];
    await held({ parts: [{ blocks: [{ kind: 'table', columns, rows: [row] }] }] });
    const lines = await page.evaluate<number[]>(
      `[...document.querySelectorAll('td')].map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 10))).size;
      })`,
    );
    assert.deepEqual(lines.slice(0, 3), [1, 1, 1]);
    assert.ok(Number(lines[3]) > 1);
  });

  test('is at the end of an answer that grows, and at the beginning of a document', async () => {
    const long = '<p>x</p>'.repeat(200);
    await begin('log');
    await shown(long);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollTop')) > 0);
    await begin('main');
    await shown(long);
    assert.equal(await page.evaluate('document.documentElement.scrollTop'), 0);
  });
});

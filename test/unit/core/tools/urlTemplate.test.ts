// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RolecallError } from '../../../../src/core/base/errors.ts';
import { fillUrl, parseUrlTemplate } from '../../../../src/core/tools/templates.ts';
import { runs } from '../../runs.ts';

const fill = (template: string, args: Record<string, unknown> = {}) => fillUrl(template, args).href;
const isRefusal = (error: unknown) => error instanceof RolecallError && error.kind === 'tool';

describe('templates of addresses', () => {
  const filled: [template: string, args: Record<string, unknown>, url: string][] = [
    ['https://a.example', {}, 'https://a.example/'],
    ['HTTPS://A.Example:443/x', {}, 'https://a.example/x'],
    ['https://a.example/${id}', { id: 7 }, 'https://a.example/7'],
    ['https://a.example/x/${id}/y', { id: 'a/b?c#d' }, 'https://a.example/x/a%2Fb%3Fc%23d/y'],
    ['https://a.example/${id}', { id: '%2e%2e' }, 'https://a.example/%252e%252e'],
    ['https://a.example/${id}', { id: '..\\x' }, 'https://a.example/..%5Cx'],
    ['https://a.example/${id}.json', { id: '.' }, 'https://a.example/..json'],
    ['https://a.example?q=${q}', { q: 'x&y=z +é' }, 'https://a.example/?q=x%26y%3Dz%20%2B%C3%A9'],
    ['https://a.example/?q=${q}&n=1', {}, 'https://a.example/?n=1'],
    ['https://a.example/?q=${q}', { q: null }, 'https://a.example/'],
    ['https://a.example/?q=${q}', { q: '' }, 'https://a.example/?q='],
    ['https://a.example/?q=${q}', { q: ['a', 1] }, 'https://a.example/?q=%5B%22a%22%2C1%5D'],
    ['https://a.example/?${name}=${value}', { name: 'a=b', value: true }, 'https://a.example/?a%3Db=true'],
    ['https://a.example/?a?b=${q}', { q: 'c' }, 'https://a.example/?a?b=c'],
    ['https://a.example/${a/b?c}', { 'a/b?c': 'x' }, 'https://a.example/x'],
    ['http://127.0.0.1:8080/%2f/${id}', { id: 'x' }, 'http://127.0.0.1:8080/%2f/x'],
  ];
  for (const [template, args, url] of filled) {
    it(`${template} with ${JSON.stringify(args)} is ${url}`, () => assert.equal(fill(template, args), url));
  }

  const invalid: [template: string, message: RegExp][] = [
    ['', /must begin with/],
    ['${url}', /must begin with/],
    ['ftp://a.example/', /must begin with/],
    ['file:///etc/passwd', /must begin with/],
    ['https:a.example', /must begin with/],
    ['${scheme}://a.example/', /must begin with/],
    ['https://${host}/', /before the path/],
    ['https://a.example${rest}', /before the path/],
    ['https://a.example:${port}/', /before the path/],
    ['https://', /must have a host/],
    ['https:///x', /must have a host/],
    ['https://user:pass@a.example/', /without a user name/],
    ['https://@a.example/', /without a user name/],
    ['https://a.example\\@b.example/', /without a user name/],
    ['https://a.example:99999/', /must have a host/],
    ['https://a.example/x#${y}', /must not contain "#"/],
    ['https://a.example/x\\y', /backslashes/],
    ['https://a.example/x\ty', /control characters/],
    ['https://a.example/%2${x}', /"%" must be followed/],
    ['https://a.example/${x', /no closing "}"/],
  ];
  for (const [template, message] of invalid) {
    it(`refuses ${JSON.stringify(template)}`, () => {
      const parsed = parseUrlTemplate(template);
      assert.match(parsed.kind === 'invalid' ? parsed.message : '', message);
      assert.throws(() => fillUrl(template, { x: 'x', y: 'y', host: 'h', port: 1 }), isRefusal);
    });
  }

  const refused: [template: string, args: Record<string, unknown>, message: RegExp][] = [
    ['https://a.example/x/${id}', { id: '..' }, /segment/],
    ['https://a.example/x/${id}', { id: '.' }, /segment/],
    ['https://a.example/x/.${id}', { id: '.' }, /segment/],
    ['https://a.example/x/%2e${id}', { id: '.' }, /segment/],
    ['https://a.example/x/${a}${b}', { a: '.', b: '.' }, /segment/],
    ['https://a.example/users/${id}/delete', { id: '' }, /must not be empty/],
    ['https://a.example/users/${id}', {}, /must not be empty/],
    ['https://a.example/?q=${q}', { q: '\ud800' }, /surrogate/],
    ['https://a.example/${q}', { q: 'a\0' }, /NUL/],
  ];
  for (const [template, args, message] of refused) {
    it(`refuses ${JSON.stringify(args)} in ${template}`, () => {
      assert.throws(
        () => fillUrl(template, args),
        (error) => isRefusal(error) && message.test(String(error)),
      );
    });
  }

  const nasty = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#', '&', '=', '@', ':', '\t', '\n', ' '),
    }),
  );

  it('stay what they are, whatever a value is: one segment, one pair, the same host', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, (segment, name, value) => {
        let url: URL;
        try {
          url = fillUrl('https://a.example:8443/x/${segment}/y?one=1&${name}=${value}&two=2', { segment, name, value });
        } catch (error) {
          assert.ok(isRefusal(error), String(error));
          return;
        }
        assert.equal(url.origin, 'https://a.example:8443');
        assert.deepEqual([url.username, url.password, url.hash], ['', '', '']);
        const segments = url.pathname.split('/');
        assert.equal(segments.length, 4);
        assert.equal(decodeURIComponent(segments[2] ?? ''), segment);
        const pairs = url.search.slice(1).split('&');
        assert.equal(pairs.length, 3);
        assert.deepEqual(pairs[1]?.split('=').map(decodeURIComponent), [name, value]);
      }),
      runs(500),
    );
  });

  it('without a refusal say the value itself: nothing ordinary is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (value) => {
        fc.pre(!/^\.{1,2}$/.test(value) && !value.includes('\0') && !/\p{Surrogate}/u.test(value));
        assert.equal(fill('https://a.example/${value}', { value }), `https://a.example/${encodeURIComponent(value)}`);
      }),
    );
  });

  it('that are parsed never leave their origin, whatever the template is', () => {
    const template = fc
      .array(
        fc.constantFrom(
          'https://',
          'http://',
          'a.example',
          ':80',
          '/',
          '?',
          '&',
          '=',
          '${v}',
          '.',
          '%2e',
          '@',
          '\\',
          '#',
          '$${',
        ),
        {
          maxLength: 10,
        },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(template, nasty, (text, v) => {
        const parsed = parseUrlTemplate(text);
        if (parsed.kind === 'invalid') return;
        let url: URL;
        try {
          url = fillUrl(text, { v });
        } catch (error) {
          assert.ok(isRefusal(error), String(error));
          return;
        }
        assert.equal(url.origin, parsed.origin);
        assert.equal(url.origin, new URL(text.split('$')[0] ?? '').origin);
      }),
      runs(500),
    );
  });
});

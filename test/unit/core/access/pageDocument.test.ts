import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  documentMarkdown,
  escapeDocumentText,
  joinLines,
  notice,
  paragraph,
  table,
} from '../../../../src/core/access/pageDocument.ts';
import { oneLine } from '../../../../src/core/base/text.ts';
import { runs } from '../../runs.ts';

describe('a document about access, as Markdown', () => {
  it('reads well as it stands', () => {
    const text = documentMarkdown({
      title: 'Who has cluster-operator',
      about: [{ text: 'meridian', link: 0 }, ' · read by ada.moreau@meridian.example'],
      blocks: [
        notice('The roles could not be read.'),
        paragraph(
          { strong: '2 subjects' },
          ' through ',
          ...joinLines([[{ text: 'a_b', link: 1 }], ['c (error)']]),
          '.',
        ),
        table(
          ['Name', 'ID'],
          [
            [[{ text: 'dora-h@x.example', link: 2 }], [{ small: 'sub|1' }]],
            [['bot'], []],
          ],
          'Nobody.',
        ),
        table(['Name'], [], 'Nobody.'),
        { kind: 'list', lines: [['one'], [{ small: 'r-1' }]] },
      ],
    });
    assert.deepEqual(text.split('\n'), [
      '# Who has cluster-operator',
      '',
      'meridian · read by ada.moreau@meridian.example',
      '',
      '> **Note:** The roles could not be read.',
      '',
      '**2 subjects** through a_b, c (error).',
      '',
      '| Name | ID |',
      '| --- | --- |',
      '| dora-h@x.example | sub\\|1 |',
      '| bot |  |',
      '',
      'Nobody.',
      '',
      '- one',
      '- `r-1`',
      '',
    ]);
  });

  const rows: readonly (readonly [text: string, escaped: string])[] = [
    ['ada.moreau+x@meridian.example', 'ada.moreau+x@meridian.example'],
    ['site-reliability (2)', 'site-reliability (2)'],
    ['snake_case_name', 'snake_case_name'],
    ['_a_ *b* `c` ~~d~~ $e$', '\\_a\\_ \\*b\\* \\`c\\` \\~\\~d\\~\\~ \\$e\\$'],
    ['[a](command:x) <img> | &lt; & so', '\\[a\\](command:x) \\<img> \\| \\&lt; & so'],
    ['https://a.example www.a.example', 'https\\://a.example www\\.a.example'],
    ['# a', '\\# a'],
    ['- a', '\\- a'],
    ['12. a', '12\\. a'],
    ['0.25', '0.25'],
    ['> a', '\\> a'],
    ['a\nb', 'a\\\\u{a}b'],
  ];
  for (const [text, expected] of rows)
    it(`${JSON.stringify(text)} is ${expected}`, () => assert.equal(escapeDocumentText(text), expected));

  it('loses no character of a name, and leaves none of them to be markup', () => {
    const unit = fc.constantFrom(...'\\`*_[]<>|~$&:/.#-+=1a ;w\n!(){}"');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const written = escapeDocumentText(text);
        assert.equal(written.replace(/\\(.)/g, '$1'), oneLine(text));
        assert.doesNotMatch(written.replace(/\\./g, 'x'), /[\\`*[\]<|~$]|:\/\/|^\s*[#>+=-]|^\s*\d{1,9}[.)](?:\s|$)/);
      }),
      runs(500),
    );
  });
});

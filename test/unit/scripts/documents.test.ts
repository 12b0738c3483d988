import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { withoutRelativeLinks } from '../../../scripts/extension.ts';
import { at, root } from '../../../scripts/paths.ts';
import { exitCodeMeanings } from '../../../src/cli/exitCodes.ts';

const textOf = (file: string): string => fs.readFileSync(at(file), 'utf8');

/** What is written for people who use or change Rolecall. */
const documents = [
  ...fs.globSync('*.md', { cwd: root }),
  ...fs.globSync('{docs,src,media}/**/*.md', { cwd: root }),
].map((file) => file.replaceAll('\\', '/'));

const code = fs.globSync('src/**/*.ts', { cwd: root }).map(textOf).join('\n');

/** The words that are a whole value of the code, such as the `kind` of an error. */
const values = new Set([...code.matchAll(/'(\w+)'/g)].map(([, value = '']) => value));

/** The identifiers of the code: comments and quoted texts are left out, because any word can be in them. */
const identifiers = new Set(
  code.replace(/^\s*(?:\/?\*|\/\/).*$|(?<=\s)\/\/ .*$|'(?:\\.|[^'\\\n])*'/gm, '').match(/\b[A-Za-z_]\w*/g),
);

/** The part of a Markdown text that is not code. */
const proseOf = (markdown: string) => markdown.replace(/^```[\s\S]*?^```/gm, '');

describe('the documents', () => {
  for (const file of documents) {
    it(`${file} links and shows only what exists`, () => {
      const targets = [...proseOf(textOf(file)).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
      const missing = targets.filter((target) => !fs.existsSync(path.join(path.dirname(at(file)), target)));
      assert.deepEqual(missing, []);
    });
  }

  it('README says beside "no GitHub account" that messages begin with @rolecall', () => {
    const paragraphs = textOf('README.md').split(/\n{2,}/);
    const about = paragraphs.filter((paragraph) => /don't need a GitHub account/.test(paragraph));
    assert.equal(about.length, 1);
    assert.match(about[0] ?? '', /Begin each message in chat with `@rolecall`/);
  });

  it('README has the exit codes of the help', () => {
    const rows = [...textOf('README.md').matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning]) => [
      code,
      meaning,
    ]);
    assert.deepEqual(rows, Object.entries(exitCodeMeanings));
  });

  it('README points at nothing that is missing in a VSIX', () => {
    const packed = withoutRelativeLinks(textOf('README.md'));
    assert.deepEqual(packed.match(/!\[|!The|\]\((?!https:)[^)]*\)/g), null);
    assert.match(packed, /^CONTRIBUTING says what/m);
    assert.ok(packed.length > 6000);
  });
});

describe('ARCHITECTURE.md', () => {
  const words = [...textOf('ARCHITECTURE.md').matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);

  it('names files and folders that exist', () => {
    const paths = words.filter((word) => /^(?:src|test|docs)\//.test(word)).map((word) => word.replace(/\/\*$/, ''));
    assert.ok(paths.length > 50);
    assert.deepEqual(
      paths.filter((file) => !fs.existsSync(at(file))),
      [],
    );
  });

  it('names symbols that are exported where it says', () => {
    const rows = textOf('ARCHITECTURE.md').matchAll(/^\| (.*`src\/.*?) \| [^|]+ \| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm);
    const missing = [...rows].flatMap(([, rooms = '', symbols = '']) => {
      const code = [...rooms.matchAll(/`(src\/[^`]+)`/g)]
        .flatMap(([, room = '']) => fs.globSync(`${room}/**/*.ts`, { cwd: root }))
        .map(textOf)
        .join('\n');
      return [...symbols.matchAll(/`(\w+)`/g)]
        .map(([, symbol = '']) => symbol)
        .filter((symbol) => !new RegExp(`^export (?:async )?(?:\\w+\\*?) ${symbol}\\b`, 'm').test(code))
        .map((symbol) => `${rooms}: ${symbol}`);
    });
    assert.deepEqual(missing, []);
    const everything = fs.globSync('src/**/*.ts', { cwd: root }).map(textOf).join('\n');
    const names = words.filter((word) => /^[A-Z]?[a-z]+[A-Z]\w+$|^[A-Z_]{4,}$/.test(word));
    assert.deepEqual(
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(everything)),
      [],
    );
  });
});

describe('the README of a room', () => {
  // Names of HTTP, of programs and of operating systems.
  const foreign = new Set(['Host', 'NODE_OPTIONS', 'LD_PRELOAD', 'AppData']);

  const allFiles = fs.globSync('{src,test}/**/*.ts', { cwd: root }).map((name) => name.replaceAll('\\', '/'));

  for (const file of documents.filter((document) => /^src\/.*README\.md$/.test(document))) {
    it(`${file} names symbols and files that exist`, () => {
      const words = [...proseOf(textOf(file)).matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
      const symbols = words
        .filter((word) => !/\.(?:ts|js|key|sealed|json|yaml)$/.test(word))
        .filter((word) => /^(?:[A-Z][a-z]\w*|[a-z]+[A-Z]\w*|[A-Z]+(?:_[A-Z]+)+)(?:\.\w+)?$/.test(word))
        .flatMap((word) => word.split('.'));
      assert.deepEqual(
        symbols.filter((symbol) => !foreign.has(symbol) && !identifiers.has(symbol) && !values.has(symbol)),
        [],
      );
      const files = words.filter((word) => /^[\w/]+(?:\.test)?\.ts$/.test(word));
      assert.deepEqual(
        files.filter((name) => !allFiles.some((path) => `/${path}`.endsWith(`/${name}`))),
        [],
      );
    });
  }
});

describe('the comments of the code', () => {
  it('link to symbols that exist', () => {
    const links = fs
      .globSync('{src,test/harness}/**/*.ts', { cwd: root })
      .flatMap((file) => [...textOf(file).matchAll(/\{@link ([\w.#]+)/g)].map(([, name = '']) => ({ file, name })));
    assert.ok(links.length > 40, `${links.length}`);
    assert.deepEqual(
      links.filter(({ name }) => !name.split(/[.#]/).every((part) => part === '' || identifiers.has(part))),
      [],
    );
  });
});

describe('CONTRIBUTING.md', () => {
  it('lists terms that the code has', () => {
    const everything = fs.globSync('src/**/*.ts', { cwd: root }).map(textOf).join('\n');
    const [, terms = ''] = /^\| Term \| Meaning \| In code \|\n(.*?)\n\n/ms.exec(textOf('CONTRIBUTING.md')) ?? [];
    const names = [...terms.matchAll(/`([A-Za-z.]+)`(?=[^|]*\|$)/gm)].flatMap(([, name = '']) => name.split('.'));
    assert.ok(names.length > 35);
    const isDeclared = (name: string) => new RegExp(`^(?:export .*|\\s+readonly )\\b${name}\\b`, 'm').test(everything);
    assert.deepEqual(
      names.filter((name) => !isDeclared(name)),
      [],
    );
  });
});

describe('docs/troubleshooting.md', () => {
  const page = textOf('docs/troubleshooting.md');
  const checks = textOf('src/core/diagnosis/checks.ts');
  // Of all texts, only findings are sentences.
  const findings = [...checks.matchAll(/l10n\.t\(\s*'([^']+\.)'/g)].map(([, sentence = '']) => sentence);

  it('says what to do about every finding', () => {
    assert.ok(findings.length > 12, `${findings.length}`);
    const explained = [...page.matchAll(/^\| [^|]+ \| ([^|]+?)(?: …)? \|/gm)].map(([, start = '']) => start);
    // The request failed for a reason without advice of its own: the row "unreachable"; a finding that begins with
    // another text: the row of its check.
    const others = /^(?:Set rolecall|The request failed before|The file|\{0\})/;
    const silent = findings.filter(
      (finding) => !others.test(finding) && !explained.some((start) => start.length > 10 && finding.startsWith(start)),
    );
    assert.deepEqual(silent, []);
  });
});

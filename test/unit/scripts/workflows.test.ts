import assert from 'node:assert/strict';
import fs from 'node:fs';
import { at } from '../../../scripts/paths.ts';

/** What `actionlint` cannot know. */
describe('the workflows', () => {
  const folder = at('.github', 'workflows');
  const texts = fs.readdirSync(folder).map((file) => fs.readFileSync(`${folder}/${file}`, 'utf8'));
  const all = texts.join('\n');
  const manifest = JSON.parse(fs.readFileSync(at('package.json'), 'utf8'));
  const matches = (pattern: RegExp): string[] => [...all.matchAll(pattern)].map(([, found = '']) => found);

  it('pin every action of others by its commit, with its version beside it, and each the same everywhere', () => {
    const used = matches(/uses: (?!\.\/)(.+)/g);
    assert.ok(used.length > 5);
    for (const action of used) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const names = new Set(used.map((action) => action.split('@')[0]));
    assert.equal(new Set(used).size, names.size);
  });

  it('call scripts that there are', () => {
    const called = matches(/npm (?:run )?(?!ci\b)(\w+)/g);
    assert.ok(called.length >= 4);
    for (const name of called) assert.ok(name in manifest.scripts, name);
  });

  it('test in the oldest editor that is supported', () => {
    const [oldest] = matches(/vscode: \['([\d.]+)', stable\]/g);
    assert.equal(`^${oldest}`, manifest.engines.vscode);
  });

  it('give each job the least it needs, and no checkout a token', () => {
    for (const text of texts) assert.match(text, /^permissions:\n {2}contents: read$/m);
    assert.equal(matches(/(actions\/checkout@)/g).length, matches(/(persist-credentials: false)/g).length);
    assert.deepEqual(matches(/: (write)$/gm).length, 2, 'id-token and attestations, of the job that publishes');
  });

  it('publish with the packager that the tests ran with', () => {
    const publish = JSON.parse(fs.readFileSync(at('scripts', 'publish', 'package.json'), 'utf8'));
    assert.equal(publish.dependencies['@vscode/vsce'], manifest.devDependencies['@vscode/vsce']);
  });
});

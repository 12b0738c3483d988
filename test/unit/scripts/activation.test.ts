import assert from 'node:assert/strict';
import fs from 'node:fs';
import { bundleExtension } from '../../../esbuild.mjs';
import { freshFolder } from '../../../scripts/paths.ts';
import { type ActivationRun, activateInNode } from '../../bench/activate.ts';

/** Room for a feature or two, and less than half of what the editor's own authentication extension reads. */
const MAX_BYTES = 100_000;

describe('what every window reads when the extension is activated', function () {
  this.timeout(60_000);
  let folder: string;
  let bundle: Awaited<ReturnType<typeof bundleExtension>>;
  let run: ActivationRun;

  before(async () => {
    folder = freshFolder('activation');
    bundle = await bundleExtension(folder);
    run = await activateInNode(bundle.files[0] ?? assert.fail('nothing was bundled'));
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('is the entry and one file, and none of what is read later', () => {
    assert.equal(bundle.files.length, 2);
    assert.deepEqual(new Set(run.files), new Set(bundle.files));
    assert.deepEqual(run.filesAfterwards, run.files, 'while nothing is configured and nobody asks for anything');
    assert.ok(fs.readdirSync(folder).length > 20, 'the rest stands in files of its own');
  });

  it(`is less than ${MAX_BYTES / 1000} kB`, () => {
    assert.ok(run.bytes > 10_000 && run.bytes < MAX_BYTES, `${run.bytes} bytes`);
  });

  it('holds no package, and nothing of the sandbox or of a page', () => {
    const foreign = bundle.modules.filter((file) => !/^src\/(?:extension\.ts$|ids\.ts$|core\/|host\/)/.test(file));
    assert.deepEqual(foreign, []);
  });

  const later: readonly (readonly [string, RegExp])[] = [
    ['how a sign-in goes', /^src\/core\/oauth\/(?:authorizationServer|loopbackListener|signIn|serviceToken)\.ts$/],
    ['how windows share a session', /^src\/core\/oauth\/rotation\/(?:sharedParts|exclusion|peers|rotate|seal)\.ts$/],
    ['how the services are asked', /^src\/core\/(?:identity\/identityClient|completions\/(?:client|models))\.ts$/],
    ['how tools run', /^src\/core\/tools\//],
    ['how access is told', /^src\/core\/access\/(?:answers|filter|matrix|queries|review\w*|difference\w*|words)\.ts$/],
    ['the doctor', /^src\/core\/diagnosis\/(?:diagnose|report|probe)\.ts$/],
    [
      'answers in chat and editor',
      /^src\/host\/(?:chat\/(?:participant|modelResponse)|editor\/(?:rewrite|ask\w+))\.ts$/,
    ],
    ['the matrix', /^src\/host\/matrix\/matrix\w*\.ts$/],
    ['the nodes of the tree', /^src\/host\/tree\/(?:organizationsView|children|items|\w+Commands)\.ts$/],
  ];
  for (const [what, files] of later) {
    it(`does not hold ${what}`, () => {
      assert.deepEqual(
        bundle.modules.filter((file) => files.test(file)),
        [],
      );
      const there = fs
        .readdirSync('src', { recursive: true })
        .map((file) => `src/${String(file).replaceAll('\\', '/')}`);
      assert.ok(
        there.some((file) => files.test(file)),
        'the files are called so',
      );
    });
  }

  it('loads no module of Node’s but what every process has, and the editor’s interface once', () => {
    assert.deepEqual(run.builtins, []);
    assert.deepEqual([...bundle.requires].sort(), ['node:os', 'node:path', 'vscode']);
    for (const file of fs.readdirSync(folder).filter((each) => each.endsWith('.cjs'))) {
      const uses = fs.readFileSync(`${folder}/${file}`, 'utf8').match(/.{0,9}require\("vscode"\)/g) ?? [];
      assert.ok(uses.length <= 1 && uses.every((use) => /=\s?require/.test(use)), `${file}: ${uses.join(' ')}`);
    }
  });
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';
import { canonicalJson, definitionHash } from '../../../../src/core/tools/definitionHash.ts';

const run: ProcessRun = {
  kind: 'process',
  command: ['node', '--import=./hook.mjs', 'scripts/x.mjs', '${file}', '../secret'],
  cwd: '.',
  env: { A: '1', B: '2' },
  timeoutSeconds: 5,
  outputLimit: 1000,
  stdin: 'none',
};
const definition = {
  name: 'x',
  description: 'd',
  parameters: { type: 'object' as const, properties: { file: { type: 'string' } }, required: [] },
  run,
  folder: '/space',
};
const spec = {
  executable: { path: '/usr/bin/node', realPath: '/usr/bin/node' },
  root: '/real/space',
  cwd: '/real/space',
};

const listed = (values: string[]) => ({
  type: 'object' as const,
  properties: { file: { type: 'string' }, name: { type: 'string', enum: values } },
  required: ['name'] as never[],
});

interface Case {
  definition?: Partial<typeof definition>;
  run?: Partial<ProcessRun>;
  spec?: Partial<typeof spec>;
  files?: Record<string, string>;
  folders?: string[];
  /** Instead of what is there. */
  list?: () => Promise<undefined>;
}

const files: Record<string, string> = {
  '/real/space/scripts/x.mjs': 'one',
  '/real/space/hook.mjs': 'hook',
  '/real/secret': 's',
  '/usr/bin/node': 'elf',
  '/real/space/${file}': 'never',
};

async function hash(changes: Case = {}) {
  const read: string[] = [];
  const asked: string[] = [];
  const all = { ...files, ...changes.files };
  const result = await definitionHash(
    { ...definition, ...changes.definition, run: { ...run, ...changes.run } },
    { ...spec, ...changes.spec },
    {
      folders: changes.folders ?? [],
      read: async (file) => {
        read.push(file);
        return all[file] === undefined ? undefined : Buffer.from(all[file]);
      },
      isFolder: async (wanted) => {
        asked.push(wanted);
        return Object.keys(all).some((file) => file.startsWith(`${wanted}/`));
      },
      list: async (folder) => {
        asked.push(folder);
        if (changes.list) return changes.list();
        const within = Object.keys(all).filter((file) => file.startsWith(`${folder}/`));
        return within.map((file) => file.slice(folder.length + 1).split('/')[0] ?? '');
      },
    },
  );
  return { ...result, read, asked: [...asked, ...read] };
}

describe('definitionHash', () => {
  it('covers the files of the workspace that the command names, and reads no other', async () => {
    const result = await hash();
    assert.match(result.hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(result.files, ['/real/space/hook.mjs', '/real/space/scripts/x.mjs']);
    assert.ok(result.read.every((file) => file.startsWith('/real/space/')));
  });

  it('covers a program of the workspace, also behind a link out of it and in a folder that is a link', async () => {
    const inside = { path: '/space/bin/run', realPath: '/elsewhere/run' };
    const result = await hash({ spec: { executable: inside }, files: { '/space/bin/run': '#!' } });
    assert.ok(result.files.includes('/space/bin/run'));
  });

  const changes: [title: string, change: Case][] = [
    ['the name', { definition: { name: 'y' } }],
    ['the description', { definition: { description: 'e' } }],
    ['the parameters', { definition: { parameters: { ...definition.parameters, required: ['file'] as never } } }],
    ['the folder', { definition: { folder: '/other' } }],
    ['an argument', { run: { command: ['node', 'scripts/x.mjs', '-v'] } }],
    [
      'the order of arguments',
      { run: { command: ['node', 'scripts/x.mjs', '--import=./hook.mjs', '${file}', '../secret'] } },
    ],
    ['the working folder', { run: { cwd: 'a' } }],
    ['a variable', { run: { env: { A: '1', B: '3' } } }],
    ['the time limit', { run: { timeoutSeconds: 6 } }],
    ['the input', { run: { stdin: 'json' } }],
    ['the program found in PATH', { spec: { executable: { path: '/usr/local/bin/node', realPath: '/usr/bin/node' } } }],
    ['the target of the program', { spec: { executable: { path: '/usr/bin/node', realPath: '/opt/node' } } }],
    ['the script', { files: { '/real/space/scripts/x.mjs': 'two' } }],
    ['a file named behind =', { files: { '/real/space/hook.mjs': 'two' } }],
  ];
  for (const [title, change] of changes) {
    it(`is another when ${title} changes`, async () => assert.notEqual((await hash(change)).hash, (await hash()).hash));
  }

  const unchanged: [title: string, change: Case][] = [
    ['the order of variables', { run: { env: { B: '2', A: '1' } } }],
    ['a file outside of the workspace', { files: { '/usr/bin/node': 'new', '/real/secret': 'new' } }],
    ['a file nobody names', { files: { '/real/space/readme': 'new', '/real/space/${file}': 'new' } }],
  ];
  for (const [title, change] of unchanged) {
    it(`stays when ${title} changes`, async () => assert.equal((await hash(change)).hash, (await hash()).hash));
  }

  const variables: [value: string, file: string][] = [
    ['start.py', 'start.py'],
    ['./start.py', 'start.py'],
    ['/space/start.py', '/space/start.py'],
    ['--require ./x.js --no-warnings', 'x.js'],
    ['--no-warnings --require=./x.js', 'x.js'],
    ['--require "./x.js"', 'x.js'],
    ['a.so:lib/b.so', 'lib/b.so'],
    ['a.so;lib/b.so', 'lib/b.so'],
    ['my start.sh', 'my start.sh'],
    ['a=b.sh', 'a=b.sh'],
    ['-javaagent:agent.jar=x', 'agent.jar'],
    ['file=a:b.sh', 'a:b.sh'],
  ];
  for (const [value, name] of variables) {
    it(`is another when ${name} changes, named by a variable as ${value}`, async () => {
      const file = name.startsWith('/') ? name : `/real/space/${name}`;
      const env = { NAME: value };
      const before = await hash({ run: { env }, files: { [file]: 'one' } });
      const after = await hash({ run: { env }, files: { [file]: 'two' } });
      assert.ok(before.files.includes(file));
      assert.notEqual(after.hash, before.hash);
    });
  }

  it('reads no file outside of the workspace that a variable names', async () => {
    const { read } = await hash({ run: { env: { NAME: '../secret:/usr/bin/node' } } });
    assert.ok(read.length > 0 && read.every((file) => file.startsWith('/real/space/')));
  });

  const named: [command: string[], file: string, more?: Case][] = [
    [['bash', '-c', './build.sh --fast'], 'build.sh'],
    [['bash', '-c', 'set -e;./build.sh&&echo'], 'build.sh'],
    [['bash', '-c', 'cd a && cd b && ./build.sh'], 'a/b/build.sh'],
    [['env', 'X=./build.sh', 'ls'], 'build.sh'],
    [['node', './script'], 'script.js'],
    [['node', '.'], 'index.js'],
    [['node', '.'], 'package.json'],
    [['node', 'src'], 'src/index.mjs'],
    [['node', 'src'], 'src/lib/start.js', { files: { '/real/space/src/package.json': '{"main":"lib/start"}' } }],
    [['node', 'src'], 'src/lib/index.js', { files: { '/real/space/src/package.json': '{"main":"./lib"}' } }],
    [['node', '-r./hook', 'x.js'], 'hook.cjs'],
    [['python3', '-m', 'tool'], 'tool.py'],
    [['python3', '-m', 'pack.tool'], 'pack/tool.py'],
    [['python3', '-m', 'pack.tool'], 'pack/__init__.py'],
    [['python3', '-m', 'pack'], 'pack/__main__.py'],
    [['python3', '-mtool'], 'tool.py'],
    [['python3', '-c', 'import tool; tool.main()'], 'tool.py'],
    [['python3', '-m', 'tool'], 'src/tool.py', { run: { env: { PYTHONPATH: 'src' } } }],
    [['npm', 'run', 'build'], 'package.json'],
    [['npm', 'run', 'build'], '.npmrc'],
    [['npm', '--prefix', 'web', 'run', 'build'], 'web/package.json'],
    [['timeout', '5', 'npx', 'eslint', '.'], 'package.json'],
    [['make', 'deploy'], 'Makefile'],
    [['make', '-f', 'deploy.mk'], 'deploy.mk'],
    [['make', '-C', 'sub', 'all'], 'sub/makefile'],
    [['make', 'all'], 'GNUmakefile', { spec: { cwd: '/real/space/a/b' } }],
    [['cargo', 'run'], 'build.rs'],
    [['sh', '../other/run.sh'], '/real/other/run.sh', { folders: ['/real/other'] }],
    [['sh', '/two/run.sh'], '/two/run.sh', { folders: ['/two'] }],
    [['sh', '${name}'], 'b.sh', { definition: { parameters: listed(['a.sh', 'b.sh']) } }],
  ];
  for (const [command, name, more = {}] of named) {
    it(`is another when ${name} changes, named by ${command.join(' ')}`, async () => {
      const file = name.startsWith('/') ? name : `/real/space/${name}`;
      const of = (content: string): Case => {
        return {
          ...more,
          run: { env: {}, ...more.run, command: command as [string] },
          files: { ...more.files, [file]: content },
        };
      };
      const before = await hash(of('one'));
      assert.ok(before.files.includes(file), before.files.join());
      assert.notEqual((await hash(of('two'))).hash, before.hash);
    });
  }

  it('asks the file system little, whatever a script says of however many folders', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `pack${index}`);
    const script = names.map((name) => `(cd ${name} && ./build.sh --fast && echo done with ${name}/all)`).join('; ');
    const more = Array.from({ length: 300 }, (_, index) => `word${index} some/path${index}`).join(' ');
    const built = Object.fromEntries(names.map((name) => [`/real/space/${name}/build.sh`, name]));
    const result = await hash({ run: { env: {}, command: ['bash', '-c', `${script}; echo ${more}`] }, files: built });
    assert.ok(names.every((name) => result.files.includes(`/real/space/${name}/build.sh`)));
    // Nine folders and the one around them, each listed once and asked for its entries, and nine scripts.
    assert.ok(result.asked.length < 100, `${result.asked.length} questions`);
    assert.ok(result.asked.every((file) => file === '/real/space' || file.startsWith('/real/space/')));
  });

  it('finds a file by another case of its name, where the file system does, and in a folder that hides its list', async () => {
    const { read } = await hash({ run: { command: ['sh', 'BUILD.sh'] }, files: { '/real/space/build.sh': '' } });
    assert.ok(read.includes('/real/space/BUILD.sh'));
    const hidden = await hash({ list: async () => undefined });
    assert.equal(hidden.hash, (await hash()).hash);
  });

  it('reads nothing above the folders of the workspace', async () => {
    const { asked } = await hash({ run: { command: ['make', '-C', '..', '../../x'] }, folders: ['/two'] });
    assert.ok(asked.length > 0 && asked.every((file) => /^\/(?:real\/space|two)(?:\/|$)/.test(file)), asked.join());
  });

  it('ends with folders that hold each other’s names', async () => {
    const deep = `/real/space/${'a/'.repeat(300)}x`;
    const { files: found } = await hash({ run: { command: ['sh', '-c', 'cd a && ./x'] }, files: { [deep]: '' } });
    assert.ok(!found.includes(deep));
  });

  it('is another when the script is removed', async () => {
    const { hash: without } = await definitionHash(definition, spec, {
      folders: [],
      read: async () => undefined,
      isFolder: async () => false,
      list: async () => [],
    });
    assert.notEqual(without, (await hash()).hash);
  });
});

describe('canonicalJson', () => {
  it('is the same for equal values, whatever the order, and reads back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
        const turned = JSON.parse(JSON.stringify(value), (_, member: unknown) =>
          typeof member === 'object' && member !== null && !Array.isArray(member)
            ? Object.fromEntries(Object.entries(member).reverse())
            : member,
        );
        assert.equal(canonicalJson(turned), text);
      }),
    );
  });
});

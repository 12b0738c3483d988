// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import type { ProcessRun } from '../../../../src/core/tools/definition.ts';
import { unwatchedCommand, unwatchedProgram } from '../../../../src/core/tools/runners.ts';

const run: ProcessRun = {
  kind: 'process',
  command: ['x'],
  cwd: '.',
  env: {},
  timeoutSeconds: 5,
  outputLimit: 1000,
  stdin: 'none',
};
const parameters = {
  type: 'object' as const,
  properties: { a: { type: 'string' }, listed: { enum: ['ls', 'make'] } },
  required: ['a', 'listed'],
};

function unwatched(command: string[], realPath = '/usr/bin/x'): string | undefined {
  const definition = { parameters, run: { ...run, command: command as [string] } };
  return unwatchedProgram(definition, { executable: { path: '/usr/bin/x', realPath } });
}

describe('unwatchedProgram', () => {
  const rows: [command: string[], program: string | undefined][] = [
    [['npm', 'run', 'build'], 'npm'],
    [['/usr/bin/npm', 'ci'], 'npm'],
    [['npm.cmd', 'test'], 'npm'],
    [['yarn'], 'yarn'],
    [['pnpm', 'build'], 'pnpm'],
    [['npx', 'eslint', '${a}'], 'npx'],
    [['node_modules/.bin/tool', '.'], 'node_modules/.bin/tool'],
    [['./node_modules/.bin/eslint', '.'], 'eslint'],
    [['node', 'node_modules/tool/cli.js'], 'node_modules/tool/cli.js'],
    [['.venv/bin/tool'], '.venv/bin/tool'],
    [['node', '--run', 'build'], 'node'],
    [['node', '--test'], 'node'],
    [['make', 'deploy'], 'make'],
    [['env', 'A=1', 'make', '-j4'], 'make'],
    [['timeout', '5', 'nice', '-n', '5', 'make'], 'make'],
    [['bash', '-c', 'cd sub && make all'], 'make'],
    [['bash', '-c', 'if true; then A=1 npm test; fi'], 'npm'],
    [['bash', '-c', 'echo $(make -s version)'], 'make'],
    [['sh', '-c', "bash -c 'make all'"], 'make'],
    [['sh', '-c', 'sudo -u x make'], 'make'],
    [['python3', '-c', "import os; os.system('make all')"], 'make'],
    [['awk', 'BEGIN { system("make") }'], 'make'],
    [['env', '${listed}', '-s'], 'make'],
    [['python3', '-m', 'pytest', '-k', '${a}'], 'pytest'],
    [['python3', '-munittest'], 'unittest'],
    [['python3', 'setup.py', 'build'], 'setup.py'],
    [['pytest', '${a}'], 'pytest'],
    [['cargo', 'test'], 'cargo'],
    [['go', 'run', '.'], 'go'],
    [['./gradlew', 'build'], 'gradlew'],
    [['mvn', 'test'], 'mvn'],
    [['docker', 'compose', 'up'], 'docker'],
    [['git', 'commit', '-m', '${a}'], 'git'],
    [['find', '.', '-name', '*.sh', '-exec', '{}', ';'], 'find'],
    [['find', '.', '-exec', 'sh', '{}', ';'], 'find'],
    [['find', '.', '-execdir', 'make', ';'], 'make'],
    [['bash', '-c', 'for f in *.sh; do sh $f; done'], 'bash'],
    [['bash', '-c', '. ./*.sh'], 'bash'],
    [['bash', '-c', '"$1"', 'x', '${a}'], 'bash'],
    [['bash', '-c', 'cd "$(git rev-parse --show-toplevel)" && ./build.sh'], 'bash'],
    [['wc', '-w', '--', '${a}'], undefined],
    [['grep', '-r', 'make', '.'], undefined],
    [['ls', 'node_modules/.bin'], undefined],
    [['node', 'script.mjs', '${a}'], undefined],
    [['.venv/bin/python', 'script.py'], undefined],
    [['python3', '-m', 'json.tool', '${a}'], undefined],
    [['python3', '-c', 'print(next(iter([1])))'], undefined],
    [['bash', 'build.sh', '--fast'], undefined],
    [['bash', '-c', './build.sh --fast'], undefined],
    [['bash', '-c', 'cd sub && ./build.sh; echo make'], undefined],
    [['bash', '-c', 'cat *.txt | wc -l'], undefined],
    [['bash', '-c', 'echo "$1"', 'x', '${a}'], undefined],
    [['env', 'A=1', 'grep', 'make', '${a}'], undefined],
    [['find', '.', '-exec', 'wc', '-w', '{}', ';'], undefined],
    [['git', 'log', '--oneline', '${a}'], undefined],
    [['go', 'vet'], undefined],
    [['docker', 'ps'], undefined],
  ];
  for (const [command, program] of rows) {
    it(`${command.join(' ')}: ${program ?? 'all of it is watched'}`, () => assert.equal(unwatched(command), program));
  }

  it('ends soon, however often a program is launched', () => {
    const nested = Array.from({ length: 60 }, () => ['-exec', 'find']).flat();
    assert.equal(unwatched(['find', ...nested, 'x']), undefined);
    assert.equal(unwatched(['find', ...nested, '-exec', 'make']), 'make');
  });

  it('looks behind a link with another name', () => {
    assert.equal(unwatched(['./build'], '/usr/bin/make'), 'make');
    assert.equal(unwatched(['./tool'], '/w/node_modules/tool/cli.js'), '/w/node_modules/tool/cli.js');
  });
});

describe('unwatchedCommand', () => {
  const rows: [command: string, isUnwatched: boolean][] = [
    ['workbench.action.tasks.runTask', true],
    ['workbench.action.tasks.build', true],
    ['workbench.action.debug.start', true],
    ['workbench.action.terminal.runActiveFile', true],
    ['testing.runAll', true],
    ['npm.runSelectedScript', true],
    ['workbench.action.files.saveAll', false],
    ['editor.action.formatDocument', false],
    ['workbench.action.terminal.clear', false],
  ];
  for (const [command, isUnwatched] of rows) {
    it(`${command}: ${isUnwatched ? 'asked each time' : 'may be allowed'}`, () =>
      assert.equal(unwatchedCommand(command), isUnwatched ? command : undefined));
  }
});

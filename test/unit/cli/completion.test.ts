import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { useCommandLine } from './harness.ts';

describe('an old Node.js', function () {
  this.timeout(60_000);
  const commandLine = useCommandLine();

  it('is wrong use, said before anything that it cannot read', () => {
    const preload = path.join(commandLine.folder, 'old.cjs');
    fs.writeFileSync(
      preload,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });",
    );
    const { status, stderr } = spawnSync(process.execPath, ['--require', preload, commandLine.program, '--version']);
    assert.equal(status, 2);
    assert.equal(String(stderr), 'error: rolecall needs Node.js 22.19 or later; this is 20.1.0.\n');
  });
});

describe('completion in a shell', function () {
  this.timeout(60_000);
  const commandLine = useCommandLine();

  it('has a script for each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await commandLine.start(['completion', shell]).ended;
      assert.equal(code, 0);
      assert.match(stdout, /rolecall complete -- /, shell);
    }
    assert.equal((await commandLine.start(['completion', 'other']).ended).code, 2);
  });

  it('knows commands, options and their values', async () => {
    const candidates = async (...words: string[]) => {
      const { stdout } = await commandLine.start(['complete', '--', ...words]).ended;
      return stdout.split('\n').flatMap((line) => (/^[\w-]/.test(line) ? [line.split('\t')[0]] : []));
    };
    assert.deepEqual(await candidates('who'), ['who-has', 'whoami']);
    assert.ok((await candidates('chat', '--')).includes('--model'));
    assert.deepEqual(await candidates('review', '--format', ''), ['md', 'csv', 'json']);
  });

  it('works in bash', async function () {
    if (spawnSync('bash', ['--version']).status !== 0) this.skip();
    const { stdout: script } = await commandLine.start(['completion', 'bash']).ended;
    const file = path.join(commandLine.folder, 'completion.sh');
    fs.writeFileSync(file, script);
    // What the package bash-completion gives.
    const typed = `
      rolecall() { "$NODE" "$PROGRAM" "$@"; }
      _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
      compopt() { :; }
      source "$1"
      COMP_WORDS=(rolecall who); COMP_CWORD=1
      __rolecall_complete
      echo "\${COMPREPLY[@]}"`;
    const env = { PATH: process.env.PATH, NODE: process.execPath, PROGRAM: commandLine.program };
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', typed, 'bash', file], { env });
    assert.equal(stdout, 'who-has whoami\n');
  });
});

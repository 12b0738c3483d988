// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates of tools are written like this.
import assert from 'node:assert/strict';
import { parameterInCode } from '../../../../src/core/tools/interpreters.ts';

describe('parameterInCode', () => {
  const rows: [command: string[], index: number | undefined][] = [
    [['sh', '-c', 'echo ${a}'], 2],
    [['/bin/bash', '-lc', 'echo ${a}'], 2],
    [['bash', '-c', '-x', 'echo ${a}'], 3],
    [['zsh', '-ec', '${a}'], 2],
    [['env', 'bash', '-c', '${a}'], 3],
    [['docker', 'exec', 'box', 'sh', '-c', 'ls ${a}'], 5],
    [['busybox', 'sh', '-c', '${a}'], 3],
    [['sudo', '-u', 'x', 'ssh', 'host', '${a}'], 5],
    [['ssh', 'host', 'ls', '${a}'], 3],
    [['cmd', '/c', 'dir', '${a}'], 3],
    [['C:\\Windows\\System32\\cmd.exe', '/c', '${a}'], 2],
    [['powershell', '-Command', 'Get-Item ${a}'], 2],
    [['pwsh', '-NoProfile', '${a}'], 2],
    [['python3.12', '-c', 'print("${a}")'], 2],
    [['node', '-e', '${a}'], 2],
    [['node', '--eval=${a}'], 1],
    [['perl', '-ne', '${a}'], 2],
    [['php', '-r', '${a}'], 2],
    [['sh', '-c', 'echo "$1"', 'sh', '${a}'], undefined],
    [['bash', 'script.sh', '${a}'], undefined],
    [['python3', 'script.py', '-c', '${a}'], 3],
    [['node', 'script.mjs', '${a}'], undefined],
    [['pwsh', '-File', 'x.ps1', '${a}'], undefined],
    [['brew', 'info', 'ssh', '${a}'], undefined],
    [['git', 'grep', '-e', '${a}'], undefined],
    [['sh', '-c', 'echo $${a}'], undefined],
  ];
  for (const [command, index] of rows) {
    it(`${index === undefined ? 'lets pass' : 'finds'} ${command.join(' ')}`, () => {
      assert.equal(parameterInCode(command)?.index, index);
    });
  }
});

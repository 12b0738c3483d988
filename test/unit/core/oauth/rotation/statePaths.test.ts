import assert from 'node:assert/strict';
import { socketPath } from '../../../../../src/core/oauth/rotation/ipc.ts';
import {
  connectionFolderName,
  type MachineInfo,
  stateRoot,
} from '../../../../../src/core/oauth/rotation/statePaths.ts';

describe('the place of the shared state', () => {
  const machines: [name: string, machine: MachineInfo, root: string][] = [
    [
      'Linux',
      { platform: 'linux', homedir: '/home/ada', hostname: 'Tower.example' },
      '/home/ada/.local/state/rolecall/tower.example',
    ],
    [
      'a Linux container',
      { platform: 'linux', homedir: '/home/ada', hostname: '3f2a9c' },
      '/home/ada/.local/state/rolecall/3f2a9c',
    ],
    [
      'a host name that is no file name',
      { platform: 'linux', homedir: '/root', hostname: '../we ird' },
      '/root/.local/state/rolecall/__we_ird',
    ],
    ['no host name', { platform: 'linux', homedir: '/root', hostname: '' }, '/root/.local/state/rolecall/localhost'],
    [
      'macOS, whose home folders are not shared',
      { platform: 'darwin', homedir: '/Users/ada', hostname: 'Adas-Mac.local' },
      '/Users/ada/Library/Application Support/Rolecall',
    ],
    [
      'Windows',
      { platform: 'win32', homedir: 'C:\\Users\\Ada', hostname: 'TOWER' },
      'C:\\Users\\Ada\\AppData\\Local\\Rolecall',
    ],
  ];
  for (const [name, machine, root] of machines) {
    it(`on ${name}: ${root}`, () => assert.equal(stateRoot(machine), root));
  }

  it('has one folder per identity service and client, whose name tells neither', () => {
    const name = connectionFolderName('https://identity.example.com', 'client');
    assert.match(name, /^[0-9a-f]{32}$/);
    assert.notEqual(name, connectionFolderName('https://identity.example.com', 'client2'));
    assert.notEqual(name, connectionFolderName('https://identity.example.org', 'client'));
  });

  const sockets: [folder: string, accepted: boolean][] = [
    ['/tmp/rlc-a1b2c3', true],
    ['/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/rlc-a1b2c3', true],
    [`/tmp/${'x'.repeat(93)}`, true],
    [`/tmp/${'x'.repeat(94)}`, false],
    [`/tmp/${'é'.repeat(47)}`, false],
  ];
  for (const [folder, accepted] of sockets) {
    it(`${accepted ? 'takes' : 'refuses'} a socket in a folder of ${Buffer.byteLength(folder)} bytes`, () => {
      assert.equal(socketPath(folder) !== undefined, accepted);
    });
  }
});

import assert from 'node:assert/strict';
import {
  chooseEditor,
  chooseHost,
  desktopTestCommand,
  type EditorChoice,
  type EditorFacts,
  type HostChoice,
  type HostFacts,
  launcherCommand,
} from '../../../scripts/editor/chooseHost.ts';
import { desktopPrograms } from '../../../scripts/editor/findDesktop.ts';

describe('chooseHost', () => {
  const bare: HostFacts = {
    desktopAsked: false,
    version: undefined,
    named: undefined,
    found: undefined,
    platform: 'linux',
    display: undefined,
    xvfbRun: undefined,
  };
  const desktop = (executable?: string, xvfbRun?: string, version?: string): HostChoice => ({
    kind: 'desktop',
    executable,
    version,
    xvfbRun,
  });
  const rows: ReadonlyArray<readonly [title: string, facts: Partial<HostFacts>, choice: HostChoice | 'none']> = [
    ['a bare Linux serves the editor', {}, { kind: 'served' }],
    ['an installed editor changes nothing by itself', { found: '/code', display: ':0' }, { kind: 'served' }],
    ['macOS serves it too', { platform: 'darwin' }, { kind: 'served' }],
    ['--desktop downloads where there is none', { desktopAsked: true, display: ':0' }, desktop()],
    ['--desktop takes the installed one', { desktopAsked: true, display: ':0', found: '/code' }, desktop('/code')],
    ['--desktop makes a display', { desktopAsked: true, xvfbRun: '/xvfb-run' }, desktop(undefined, '/xvfb-run')],
    ['a display goes before a made one', { desktopAsked: true, display: ':0', xvfbRun: '/x' }, desktop()],
    ['--desktop needs some display on Linux', { desktopAsked: true, found: '/code' }, 'none'],
    ['--desktop needs no display on macOS', { desktopAsked: true, platform: 'darwin' }, desktop()],
    ['a named editor is used unasked', { named: '/mine', display: ':0' }, desktop('/mine')],
    ['a named one goes before a found one', { named: '/mine', found: '/code', display: ':0' }, desktop('/mine')],
    ['a named one without a display is an error, not another host', { named: '/mine' }, 'none'],
    ['Windows takes what is installed', { platform: 'win32', found: 'Code.exe' }, desktop('Code.exe')],
    ['Windows without an editor is told what to do', { platform: 'win32' }, 'none'],
    ['Windows downloads with --desktop', { platform: 'win32', desktopAsked: true }, desktop()],
    [
      'a version is downloaded, whatever is there',
      { version: '1.122.0', named: '/mine', found: '/code', display: ':0' },
      desktop(undefined, undefined, '1.122.0'),
    ],
    ['a version gets its display', { version: 'stable', xvfbRun: '/x' }, desktop(undefined, '/x', 'stable')],
    [
      'a version needs none on macOS',
      { version: 'stable', platform: 'darwin' },
      desktop(undefined, undefined, 'stable'),
    ],
  ];
  for (const [title, facts, choice] of rows) {
    it(title, () => {
      const chosen = chooseHost({ ...bare, ...facts });
      if (choice === 'none') {
        assert.equal(chosen.kind, 'none');
      } else {
        assert.deepEqual(chosen, choice);
      }
    });
  }
});

describe('the command of the host tests in a desktop editor', () => {
  const bare = { kind: 'desktop', executable: undefined, version: undefined, xvfbRun: undefined } as const;
  const rows: ReadonlyArray<readonly [choice: Partial<HostChoice & { kind: 'desktop' }>, command: readonly string[]]> =
    [
      [{}, ['node', 'desktop.ts']],
      [{ executable: 'C:\\VS Code\\Code.exe' }, ['node', 'desktop.ts', '--executable', 'C:\\VS Code\\Code.exe']],
      [{ version: '1.122.0', xvfbRun: '/xvfb-run' }, ['/xvfb-run', '-a', 'node', 'desktop.ts', '--version', '1.122.0']],
    ];
  for (const [choice, command] of rows) {
    it(command.join(' '), () =>
      assert.deepEqual(desktopTestCommand({ ...bare, ...choice }, ['node', 'desktop.ts']), command),
    );
  }
});

describe('a desktop editor', () => {
  const parameters = ['--wait', 'C:\\Users\\Ada Byron\\clone'];

  it('is started through a shell on Windows, as one line that keeps a path with spaces whole', () => {
    assert.deepEqual(launcherCommand('C:\\VS Code\\bin\\code.cmd', parameters, 'win32'), {
      program: '"C:\\VS Code\\bin\\code.cmd" "--wait" "C:\\Users\\Ada Byron\\clone"',
      all: [],
      shell: true,
    });
  });

  it('is started without one elsewhere', () => {
    assert.deepEqual(launcherCommand('/bin/code', parameters, 'linux'), {
      program: '/bin/code',
      all: parameters,
      shell: false,
    });
  });

  it('is looked for where its installers put it', () => {
    const places = desktopPrograms('win32', 'C:\\Users\\Ada Byron\\AppData\\Local');
    assert.equal(places[0], 'C:\\Users\\Ada Byron\\AppData\\Local\\Programs\\Microsoft VS Code\\Code.exe');
    assert.ok(desktopPrograms('darwin', '').every((place) => place.startsWith('/Applications/')));
    assert.ok(desktopPrograms('linux', '').includes('/usr/share/code/code'));
  });
});

describe('chooseEditor', () => {
  const bare: EditorFacts = {
    asked: undefined,
    servedAsked: false,
    found: undefined,
    platform: 'linux',
    display: undefined,
  };
  const rows: ReadonlyArray<readonly [title: string, facts: Partial<EditorFacts>, choice: EditorChoice | 'none']> = [
    ['serves where there is no editor', {}, { kind: 'served' }],
    ['opens the editor on PATH', { found: 'code', display: ':0' }, { kind: 'desktop', command: 'code' }],
    ['serves where nobody could see it', { found: 'code' }, { kind: 'served' }],
    ['serves when asked to', { found: 'code', display: ':0', servedAsked: true }, { kind: 'served' }],
    [
      'opens the named editor, display or not',
      { asked: '/mine', found: 'code' },
      { kind: 'desktop', command: '/mine' },
    ],
    ['macOS needs no display', { platform: 'darwin', found: 'code' }, { kind: 'desktop', command: 'code' }],
    ['Windows cannot serve', { platform: 'win32' }, 'none'],
  ];
  for (const [title, facts, choice] of rows) {
    it(title, () => {
      const chosen = chooseEditor({ ...bare, ...facts });
      if (choice === 'none') {
        assert.equal(chosen.kind, 'none');
      } else {
        assert.deepEqual(chosen, choice);
      }
    });
  }
});

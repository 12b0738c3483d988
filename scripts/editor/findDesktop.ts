import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findOnPath } from '../find.ts';
import type { HostFacts } from './chooseHost.ts';

const commands = ['code', 'code-insiders', 'codium'];

/** The command that opens a desktop editor (a launcher script, as a person types it), or undefined. */
export function findDesktopCommand(): string | undefined {
  return commands.map((name) => findOnPath(name)).find((found) => found !== undefined);
}

/** The program of a desktop editor itself, which @vscode/test-electron wants instead of the launcher script. */
export function findDesktopProgram(): string | undefined {
  const local = process.env.LOCALAPPDATA ?? path.join(os.homedir(), 'AppData', 'Local');
  const places = {
    linux: [
      '/usr/share/code/code',
      '/usr/share/code-insiders/code-insiders',
      '/usr/share/codium/codium',
      '/opt/visual-studio-code/code',
    ],
    darwin: [
      '/Applications/Visual Studio Code.app/Contents/MacOS/Electron',
      '/Applications/Visual Studio Code.app/Contents/MacOS/Code',
      '/Applications/VSCodium.app/Contents/MacOS/Electron',
    ],
    win32: [
      path.join(local, 'Programs', 'Microsoft VS Code', 'Code.exe'),
      'C:\\Program Files\\Microsoft VS Code\\Code.exe',
    ],
  }[process.platform as string];
  return places?.find((place) => fs.existsSync(place));
}

/** What `chooseHost` needs to know of this machine. */
export function hostFacts(desktopAsked: boolean): HostFacts {
  return {
    desktopAsked,
    named: nonEmpty(process.env.ROLECALL_VSCODE),
    found: findDesktopProgram(),
    platform: process.platform,
    display: nonEmpty(process.env.DISPLAY) ?? nonEmpty(process.env.WAYLAND_DISPLAY),
    xvfbRun: findOnPath('xvfb-run'),
  };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

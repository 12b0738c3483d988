import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findOnPath } from '../find.mjs';
import type { HostFacts } from './chooseHost.ts';

/** The program of a desktop editor itself, which @vscode/test-electron wants instead of the launcher script. */
export function findDesktopProgram(): string | undefined {
  const local = process.env.LOCALAPPDATA ?? path.join(os.homedir(), 'AppData', 'Local');
  return desktopPrograms(process.platform, local).find((place) => fs.existsSync(place));
}

/** The possible places; `local` is Windows' folder of the user's own programs. */
export function desktopPrograms(platform: NodeJS.Platform, local: string): readonly string[] {
  switch (platform) {
    case 'linux':
      return [
        '/usr/share/code/code',
        '/usr/share/code-insiders/code-insiders',
        '/usr/share/codium/codium',
        '/opt/visual-studio-code/code',
      ];
    case 'darwin':
      return [
        '/Applications/Visual Studio Code.app/Contents/MacOS/Electron',
        '/Applications/Visual Studio Code.app/Contents/MacOS/Code',
        '/Applications/VSCodium.app/Contents/MacOS/Electron',
      ];
    case 'win32':
      return [
        path.win32.join(local, 'Programs', 'Microsoft VS Code', 'Code.exe'),
        'C:\\Program Files\\Microsoft VS Code\\Code.exe',
      ];
    default:
      return [];
  }
}

/** The facts about this machine for `chooseHost`. */
export function hostFacts(desktopAsked: boolean, version?: string): HostFacts {
  return {
    desktopAsked,
    version,
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

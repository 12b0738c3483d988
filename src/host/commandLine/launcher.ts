import fs from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { cancelled, RolecallError, systemErrorCode } from '../../core/base/errors.ts';
import { joiningFolder } from '../../core/oauth/joining/messages.ts';
import { ensurePrivateFolder, readFileIfExists, replaceFileAtomically } from '../../core/oauth/rotation/files.ts';
import { stateRoot, thisMachine } from '../../core/oauth/rotation/statePaths.ts';
import { showInformationMessage, showWarningMessage } from '../dialogs.ts';

/** Identifies a launcher of ours. */
const MARK = 'Written by "Rolecall: Install Command Line…"';

export interface LauncherPlaces {
  readonly platform: NodeJS.Platform;
  readonly homedir: string;
  /** The `PATH` with which the editor was started. */
  readonly searched: string;
  /** The editor's program, which contains Node. */
  readonly editor: string;
  readonly extensionPath: string;
  /** The folder of this user's shared state. */
  readonly state: string;
}

/** The launcher for this editor and user. */
export function createLauncher(extensionPath: string, state: string | undefined): Launcher {
  const machine = thisMachine();
  const { PATH = '', Path = PATH } = process.env;
  return new Launcher({
    ...machine,
    ...(state !== undefined && { homedir: state }), // Tests leave nothing in the user's home.
    searched: Path,
    editor: process.execPath,
    extensionPath,
    state: state ?? stateRoot(machine),
  });
}

/**
 * The program `rolecall` for terminals: a script in the user's own folder for programs, which starts the command line of the newest
 * installed version with the Node of the editor, or with `node` where that is no longer there.
 */
export class Launcher {
  readonly #places: LauncherPlaces;
  readonly file: string;
  readonly #chooser: string;

  constructor(places: LauncherPlaces) {
    const { platform, homedir, state } = places;
    this.#places = places;
    this.#chooser = path.join(joiningFolder(state), 'launch.cjs');
    this.file =
      platform === 'win32'
        ? path.join(homedir, 'AppData', 'Local', 'Rolecall', 'bin', 'rolecall.cmd')
        : path.join(homedir, '.local', 'bin', 'rolecall');
  }

  /** @throws RolecallError `cancelled` when another program of that name is kept; `storage`. */
  async installAndTell(): Promise<void> {
    if ((await this.#installed()) === 'foreign') {
      const replace = vscode.l10n.t('Replace');
      const question = vscode.l10n.t('Replace {0}? It was not installed by Rolecall.', this.file);
      if ((await showWarningMessage(question, { modal: true }, replace)) !== replace) throw cancelled();
    }
    await this.install();
    const folder = path.dirname(this.file);
    void showInformationMessage(
      this.#isSearched()
        ? vscode.l10n.t('Installed {0}. Run "rolecall --help" in a terminal.', this.file)
        : vscode.l10n.t(
            'Installed {0}. Add {1} to your PATH, then run "rolecall --help" in a new terminal.',
            this.file,
            folder,
          ),
    ); // No buttons, so nothing to wait for.
  }

  async uninstallAndTell(): Promise<void> {
    const installed = await this.#installed();
    if (installed === 'ours') await this.uninstall();
    void showInformationMessage(
      installed === 'ours'
        ? vscode.l10n.t('Removed {0}.', this.file)
        : vscode.l10n.t('The command line is not installed.'),
    ); // No buttons, so nothing to wait for.
  }

  async install(): Promise<void> {
    const { state } = this.#places;
    try {
      for (const folder of [state, joiningFolder(state)]) await ensurePrivateFolder(folder);
      await replaceFileAtomically(this.#chooser, chooserText(this.#places.extensionPath), false);
      await fs.mkdir(path.dirname(this.file), { recursive: true });
      await replaceFileAtomically(this.file, this.#script(), false);
      await fs.chmod(this.file, 0o755);
    } catch (cause) {
      if (cause instanceof RolecallError) throw cause;
      const message = vscode.l10n.t('{0} could not be written ({1}).', this.file, systemErrorCode(cause) ?? '');
      throw new RolecallError('storage', message, { cause });
    }
  }

  async uninstall(): Promise<void> {
    for (const file of [this.file, this.#chooser]) await fs.rm(file, { force: true });
  }

  async #installed(): Promise<'ours' | 'foreign' | 'nothing'> {
    const text = (await readFileIfExists(this.file))?.toString('utf8');
    if (text === undefined) return 'nothing';
    return text.includes(MARK) ? 'ours' : 'foreign';
  }

  #isSearched(): boolean {
    const { searched, platform } = this.#places;
    return searched.split(platform === 'win32' ? ';' : ':').includes(path.dirname(this.file));
  }

  #script(): string {
    const { platform, editor } = this.#places;
    if (platform === 'win32') {
      return [
        '@echo off',
        `rem ${MARK}`,
        'setlocal',
        'set ELECTRON_RUN_AS_NODE=1',
        `if exist "${editor}" ("${editor}" "${this.#chooser}" %*) else (node "${this.#chooser}" %*)`,
        '',
      ].join('\r\n');
    }
    return [
      '#!/bin/sh',
      `# ${MARK}`,
      `if [ -x ${quoted(editor)} ]; then`,
      `  ELECTRON_RUN_AS_NODE=1 exec ${quoted(editor)} ${quoted(this.#chooser)} "$@"`,
      'fi',
      `exec node ${quoted(this.#chooser)} "$@"`,
      '',
    ].join('\n');
  }
}

/** The text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Starts the newest version in the folder of installed extensions; else the one that installed it. */
function chooserText(extensionPath: string): string {
  const [folder, name] = [path.dirname(extensionPath), path.basename(extensionPath)];
  return `// ${MARK}
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const folder = ${JSON.stringify(folder)};
const numbers = (name) => name.split('-')[1].split('.').map(Number);
const byVersion = (one, other) => {
  const [a, b] = [numbers(one), numbers(other)];
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
};
let names = [];
try {
  names = fs.readdirSync(folder).filter((name) => /^rolecall\\.rolecall-\\d+\\.\\d+\\.\\d+(-[a-z0-9-]+)?$/.test(name));
} catch {}
const programs = [...names.sort(byVersion), ${JSON.stringify(name)}].map((name) => path.join(folder, name, 'dist', 'cli.cjs'));
const program = programs.find((file) => fs.existsSync(file));
if (program === undefined) {
  process.stderr.write('error: Rolecall is no longer installed in the editor.\\n');
  process.exitCode = 3;
} else {
  process.argv[1] = program;
  require(program);
}
`;
}

import fs from 'node:fs';
import path from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';

/** What a new profile begins with; afterwards the file is the user's. */
const first: Readonly<Record<string, unknown>> = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.ignoreRecommendations': true,
  // The example workspace lies inside the project's own repository.
  'git.openRepositoryInParentFolders': 'never',
};

/** Writes the defined values into the profile's user settings; everything else there, comments too, stays as it is. */
export function writeSettings(userDataDir: string, values: Readonly<Record<string, string | undefined>>): void {
  const file = path.join(userDataDir, 'User', 'settings.json');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : `${JSON.stringify(first, undefined, 2)}\n`;
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) {
      // One segment: a setting's name is one key, dots and all.
      const formattingOptions = { insertSpaces: true, tabSize: 2 };
      text = applyEdits(text, modify(text, [name], value, { formattingOptions }));
    }
  }
  fs.writeFileSync(file, text);
}

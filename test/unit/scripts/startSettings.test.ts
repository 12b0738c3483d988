import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { writeSettings } from '../../../scripts/startSettings.ts';

describe('the settings of npm start', () => {
  let folder: string;
  const file = (): string => path.join(folder, 'User', 'settings.json');

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rolecall-start-'));
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('begin with a quiet editor and hold what was asked', () => {
    writeSettings(folder, { 'rolecall.identity.url': 'https://id.example', 'rolecall.inference.url': undefined });
    const settings = JSON.parse(fs.readFileSync(file(), 'utf8')) as Record<string, unknown>;
    assert.equal(settings['rolecall.identity.url'], 'https://id.example');
    assert.equal(settings['telemetry.telemetryLevel'], 'off');
    assert.ok(!('rolecall.inference.url' in settings));
  });

  it('keep what the user wrote, comments too', () => {
    fs.mkdirSync(path.dirname(file()));
    fs.writeFileSync(
      file(),
      '{\n  // mine\n  "editor.tabSize": 3,\n  "rolecall.identity.url": "https://old.example"\n}\n',
    );
    writeSettings(folder, { 'rolecall.identity.url': 'https://new.example' });
    const text = fs.readFileSync(file(), 'utf8');
    assert.match(text, /\/\/ mine/);
    assert.match(text, /"editor.tabSize": 3/);
    assert.match(text, /"rolecall.identity.url": "https:\/\/new.example"/);
    assert.doesNotMatch(text, /old\.example/);
  });
});

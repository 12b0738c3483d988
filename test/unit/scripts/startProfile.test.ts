import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { freshFolder } from '../../../scripts/paths.ts';
import { openProfile } from '../../../scripts/startEditors.ts';

describe('the workspace of npm start', () => {
  let folder: string;

  beforeEach(() => {
    folder = freshFolder('profile');
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('is a copy of the example, tools and all', () => {
    const { workspace } = openProfile(folder, {});
    assert.ok(workspace.startsWith(folder));
    assert.deepEqual(
      fs.readdirSync(workspace, { recursive: true }).sort(),
      fs.readdirSync('examples/workspace', { recursive: true }).sort(),
    );
  });

  it('is the user’s own from then on', () => {
    const { workspace } = openProfile(folder, {});
    fs.writeFileSync(path.join(workspace, 'handover.md'), 'mine');
    fs.rmSync(path.join(workspace, 'rotate.py'));
    openProfile(folder, {});
    assert.equal(fs.readFileSync(path.join(workspace, 'handover.md'), 'utf8'), 'mine');
    assert.ok(!fs.existsSync(path.join(workspace, 'rotate.py')));
  });

  it('is whole also when an earlier start was interrupted while copying', () => {
    fs.mkdirSync(path.join(folder, 'workspace-new'));
    fs.writeFileSync(path.join(folder, 'workspace-new', 'half'), '');
    const { workspace } = openProfile(folder, {});
    assert.ok(fs.existsSync(path.join(workspace, 'handover.md')));
    assert.ok(!fs.existsSync(path.join(workspace, 'half')));
  });
});

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { WatchedFiles } from '../../src/host/watchedFiles.ts';
import { shownProblems } from './rules/scene.ts';
import { FakeLog } from './support/fakes.ts';
import { usePatches } from './support/patches.ts';
import { workspaceFile } from './support/workspace.ts';

describe('the files of a pattern', () => {
  const patches = usePatches();
  const file = workspaceFile('watched.txt');

  it('are read again with all that they are judged by, and searched for when there may be others', async () => {
    const [created, changed, deleted, judged] = Array.from({ length: 4 }, () => new vscode.EventEmitter<vscode.Uri>());
    assert.ok(created && changed && deleted && judged);
    const [onDidCreate, onDidChange, onDidDelete] = [created.event, changed.event, deleted.event];
    const watcher = { onDidCreate, onDidChange, onDidDelete, dispose: () => {} };
    patches.set(vscode.workspace, 'createFileSystemWatcher', () => watcher);
    shownProblems(patches);
    let searches = 0;
    patches.set(vscode.workspace, 'findFiles', async () => {
      searches += 1;
      return [file.uri()];
    });
    let reads = 0;
    const read = (_uri: vscode.Uri, text: string) => {
      reads += 1;
      return text;
    };
    const recheckOn = (recheck: () => void) => judged.event(recheck);
    const kind = { pattern: '**/watched.txt', name: 'watched', read, diagnosticsOf: () => [], recheckOn };
    const files = new WatchedFiles(kind, new FakeLog());
    const counts = async (...events: vscode.EventEmitter<vscode.Uri>[]) => {
      const checked = new Promise<void>((resolve) => files.onDidCheck(resolve));
      for (const event of events) event.fire(file.uri());
      await checked;
      return { searches, reads };
    };
    try {
      await file.write('one');
      assert.deepEqual(await counts(judged), { searches: 1, reads: 1 });
      assert.deepEqual(await counts(judged, judged, changed), { searches: 1, reads: 2 }, 'once for all of them');
      assert.deepEqual(await counts(created), { searches: 2, reads: 3 });
      assert.deepEqual(await counts(deleted), { searches: 3, reads: 4 });
      await file.remove();
      assert.deepEqual(await counts(judged), { searches: 4, reads: 4 }, 'no event told of its deletion');
      assert.deepEqual(files.all, []);
      await file.write('two');
      assert.deepEqual(await counts(judged), { searches: 5, reads: 5 });
      assert.deepEqual(await counts(judged), { searches: 5, reads: 6 });
      await files.check();
      assert.deepEqual({ searches, reads }, { searches: 6, reads: 7 });
      assert.deepEqual(files.all, ['two']);
    } finally {
      files.dispose();
    }
  });
});

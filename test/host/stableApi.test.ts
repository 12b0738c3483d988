import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('the host these tests run in', () => {
  it('refuses proposed API, as every editor of a user does', () => {
    // Proposed `timeline`. Were it allowed here, a test could pass on something that no user has.
    const workspace = vscode.workspace as unknown as {
      registerTimelineProvider(scheme: string, provider: object): vscode.Disposable;
    };
    assert.throws(
      () => workspace.registerTimelineProvider('file', { id: 'a', label: 'a', provideTimeline: () => undefined }),
      /CANNOT use API proposal: timeline/,
    );
  });
});

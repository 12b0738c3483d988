import * as vscode from 'vscode';
import type { AccessData } from '../accessData.ts';
import type { Settings } from '../settings.ts';

/**
 * Reads what is shown again every so many minutes (`rolecall.refreshMinutes`), only while the view is visible: in other
 * windows nothing is asked for.
 */
export function refreshAtIntervals(data: AccessData, settings: Settings, isLookedAt: () => boolean): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  let minutes = 0;
  const start = () => {
    const wanted = settings.refreshMinutes();
    if (wanted === minutes) return;
    minutes = wanted;
    clearInterval(timer);
    timer = undefined;
    if (minutes === 0) return;
    timer = setInterval(() => {
      if (!isLookedAt()) return;
      for (const { model } of data.all) data.refresh(model.organization);
    }, minutes * 60_000);
  };
  start();
  const subscription = settings.onDidChange(start);
  return new vscode.Disposable(() => {
    clearInterval(timer);
    subscription.dispose();
  });
}

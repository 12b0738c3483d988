import { defineConfig } from '@playwright/test';
import { launchOptions } from '../../scripts/editor/browser.ts';
import { at } from '../../scripts/paths.ts';

const minute = 60_000;

// biome-ignore lint/style/noDefaultExport: Playwright takes a configuration that is exported so.
export default defineConfig({
  testDir: '.',
  testMatch: '*.test.ts',
  outputDir: at('out', 'e2e'),
  reporter: at('scripts', 'playwright', 'reporter.ts'),
  // A file of tests shares a window, so files run side by side and their tests in order.
  workers: 2,
  // What failed and then passed is told as flaky, with the picture of the failure and a trace of the second run.
  retries: 1,
  forbidOnly: process.env.CI !== undefined,
  // All limits are for a busy machine: nothing waits longer than it has to.
  timeout: 5 * minute,
  expect: { timeout: minute },
  use: {
    launchOptions: await launchOptions(),
    actionTimeout: minute,
    navigationTimeout: minute,
    screenshot: 'only-on-failure',
    // Recording every test would double what a test costs.
    trace: { mode: 'on-first-retry', screenshots: false, snapshots: false, sources: false },
  },
});

import { at } from '../../scripts/paths.ts';
import { openWorkbenches } from './workbench.ts';

/** Pictures every window of every open workbench when a test fails, before its hooks close them. Mocha loads this file. */
export const mochaHooks: Mocha.RootHookObject = {
  async afterEach(this: Mocha.Context) {
    const test = this.currentTest;
    if (test?.state !== 'failed') {
      return;
    }
    const name = test
      .fullTitle()
      .replaceAll(/[^\w-]+/g, '-')
      .slice(0, 100);
    const pages = [...openWorkbenches].flatMap(({ context }) => context.pages());
    for (const [index, page] of pages.entries()) {
      const path = at('out', 'screenshots', 'failed', `${name}-${index}.png`);
      // A window that is closing cannot be pictured; the failure itself is what is told.
      await page.screenshot({ path, timeout: 5000 }).then(
        () => console.log(`      pictured in ${path}`),
        () => undefined,
      );
    }
  },
};

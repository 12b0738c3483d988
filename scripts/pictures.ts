// npm run pictures -- [NAME…]: refreshes the pictures of README.md, or those named, from the screenshots of the last `npm test -- e2e`.
import fs from 'node:fs';
import path from 'node:path';
import { launchBrowser } from './editor/browser.ts';
import { at, root } from './paths.ts';

/** Screenshots in out/screenshots that become media/pictures/NAME.png. */
const pictures = [
  'chat-tool',
  'dialog-contained',
  'dialog-uncontained',
  'prompt-tests',
  'prompt-tokens',
  'access-rules',
  'access-review',
];
/** Pixels at most; the screenshots of a whole window are 1440 wide. */
const width = 1080;

const named = process.argv.slice(2);
const wanted = pictures.filter((name) => named.length === 0 || named.includes(name));
const missing = wanted.filter((name) => !fs.existsSync(screenshot(name)));
if (missing.length > 0) {
  console.error(`No screenshot of ${missing.join(', ')} in out/screenshots: run npm test -- e2e first.`);
  process.exit(1);
}
const browser = await launchBrowser();
try {
  const page = await browser.newPage({ viewport: { width, height: 100 } });
  fs.mkdirSync(at('media', 'pictures'), { recursive: true });
  for (const name of wanted) {
    // The browser that took the screenshot also makes it smaller.
    const source = fs.readFileSync(screenshot(name)).toString('base64');
    await page.setContent(`<body style="margin:0"><img src="data:image/png;base64,${source}" style="max-width:100%">`);
    const target = at('media', 'pictures', `${name}.png`);
    await page.locator('img').screenshot({ path: target });
    console.log(`${path.relative(root, target)}  ${(fs.statSync(target).size / 1024).toFixed(1)} KiB`);
  }
} finally {
  await browser.close();
}

function screenshot(name: string): string {
  return at('out', 'screenshots', `${name}.png`);
}

import fs from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type LaunchOptions } from '@playwright/test';
import { installBrowser, ownBrowser } from '../browser/install.ts';
import { findOnPath } from '../find.mjs';

/** The window of every test and picture, in CSS pixels. */
export const viewport: { readonly width: number; readonly height: number } = { width: 1440, height: 900 };

/** Runs in every page: the editor does the same with less work. */
export const lighterPage = `
  // What moves or fades has the whole window drawn 60 times a second, a bar of progress as long as it lasts.
  const style = 'animation-duration: 1ms !important; animation-iteration-count: 1 !important; transition: none !important';
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after {' + style + '}');
  document.adoptedStyleSheets.push(sheet);

  // The editor gets each message of its server as a Blob and reads it with a FileReader, which makes the page wait for the
  // browser's main process every time. Here the message is an ArrayBuffer, which a FileReader gives back.
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.binaryType = 'arraybuffer';
    }
  };
  const { readAsArrayBuffer } = FileReader.prototype;
  FileReader.prototype.readAsArrayBuffer = function (data) {
    if (!(data instanceof ArrayBuffer)) return readAsArrayBuffer.call(this, data);
    Object.defineProperty(this, 'result', { configurable: true, value: data });
    queueMicrotask(() => this.dispatchEvent(new ProgressEvent('load')));
  };`;

const names = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser', 'microsoft-edge'];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

interface Found {
  readonly executablePath: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A headless Chromium: ROLECALL_CHROMIUM, else an installed one, else the one from npm (Linux x64). */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch(await launchOptions());
}

/** How it is launched, also for Playwright's own tests. */
export async function launchOptions(): Promise<LaunchOptions> {
  const { executablePath, env } = await findBrowser();
  return {
    executablePath,
    env: definedOnly(env),
    // Generous: the machine may be busy.
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Wheel and smooth scrolling finish at once, so that a picture never shows half of it.
      '--disable-smooth-scrolling',
      '--font-render-hinting=none',
    ],
  };
}

async function findBrowser(): Promise<Found> {
  const asked = process.env.ROLECALL_CHROMIUM;
  if (asked !== undefined && asked !== '') {
    if (!fs.existsSync(asked)) {
      throw new Error(`ROLECALL_CHROMIUM names ${asked}, which does not exist.`);
    }
    return { executablePath: asked, env: process.env };
  }
  const installed =
    names.map((name) => findOnPath(name)).find((found) => found !== undefined) ??
    places.find((place) => fs.existsSync(place));
  if (installed !== undefined) {
    return { executablePath: installed, env: process.env };
  }
  await installBrowser();
  const own = path.join(ownBrowser, 'chromium');
  if (!fs.existsSync(own)) {
    throw new Error('No Chrome or Chromium was found: install one, or name it in ROLECALL_CHROMIUM.');
  }
  return {
    executablePath: own,
    env: {
      ...process.env,
      LD_LIBRARY_PATH: path.join(ownBrowser, 'al2023', 'lib'),
      FONTCONFIG_PATH: path.join(ownBrowser, 'fonts'),
    },
  };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

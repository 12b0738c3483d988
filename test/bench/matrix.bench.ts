// The access matrix of 10,000 groups × 200 roles: making its data, its first picture in a real browser, and scrolling it.
import assert from 'node:assert/strict';
import type { Browser, Page } from '@playwright/test';
import { bundlePage } from '../../esbuild.mjs';
import { launchBrowser } from '../../scripts/editor/browser.ts';
import { groupMatrix } from '../../src/core/access/matrix.ts';
import { type AccessModel, buildModel } from '../../src/core/access/model.ts';
import { readGroups, readRoles } from '../../src/core/identity/schemas.ts';
import { PAGE_BODY } from '../../src/host/matrix/matrixCommand.ts';
import { filterPositions, matrixMessage } from '../../src/host/matrix/matrixMessages.ts';
import { TEXT_NAMES, versioned } from '../../src/webview/matrix/protocol.ts';
import { type Figure, median } from './figure.ts';
import { bigOrganization } from './organization.ts';

const GROUPS = 10_000;
const ROLES = 200;
const ROUNDS = 7;
/** The rival draws a tenth of the rows: all of them take a browser many seconds and more than a gigabyte. */
const PLAIN_ROWS = 1000;
const FRAME_MS = 1000 / 60;

export async function matrixBench(): Promise<Figure[]> {
  const model = bigModel();
  const { script, style } = await bundlePage();
  const html = `<!doctype html><style>${style}</style><body style="height:800px">${PAGE_BODY}</body>`;
  const made = timesOf(() => dataOf(model));
  const written = timesOf(() => JSON.stringify(groupMatrix(model)));
  const data = dataOf(model);
  const browser = await launchBrowser();
  try {
    const first: number[] = [];
    const plain: number[] = [];
    const frames: number[] = [];
    for (let round = -1; round < ROUNDS; round += 1) {
      const own = await firstPaint(browser, html, script, data);
      const rival = await plainTable(browser);
      if (round < 0) continue; // Only warms up.
      first.push(own.paint);
      frames.push(own.frame);
      plain.push(rival);
    }
    const figure = (name: string, value: number, against: string, rival: number, aim: number): Figure => {
      return { name, value, unit: 'ms', against, ratio: value / rival, aim, higherIsBetter: false };
    };
    return [
      figure(
        'matrix of 10,000 × 200: data for the page',
        made,
        'the same matrix written as JSON, without filter and order',
        written,
        2,
      ),
      figure(
        'matrix of 10,000 × 200: from posted data to the picture after its first rows',
        median(first),
        'a plain table of a tenth of it, 1,000 × 200, in the same browser',
        median(plain),
        0.5,
      ),
      figure(
        'matrix of 10,000 × 200: a picture while a whole page of rows is scrolled for each',
        median(frames),
        'a picture at 60 a second',
        FRAME_MS,
        1.25,
      ),
    ];
  } finally {
    await browser.close();
  }
}

export const bench = matrixBench;

function bigModel(): AccessModel {
  const { groups, roles } = bigOrganization(GROUPS, ROLES, 5 * GROUPS);
  const reading = { malformed: 0, at: 0 };
  const model = buildModel({
    organization: 'big',
    groups: { ...reading, items: readGroups(JSON.parse(groups))?.items },
    roles: { ...reading, items: readRoles(JSON.parse(roles))?.items },
  });
  assert.deepEqual([model.groups.length, model.roles.length], [GROUPS, ROLES]);
  return model;
}

function dataOf(model: AccessModel) {
  const matrix = matrixMessage(model, 'c', 'groups', { ofGroup: () => '', ofPrincipal: () => '' });
  return { matrix, view: filterPositions(model, 'groups', '', 'service') };
}

function timesOf(run: () => unknown): number {
  const times: number[] = [];
  for (let round = -2; round < ROUNDS; round += 1) {
    const began = performance.now();
    run();
    if (round >= 0) times.push(performance.now() - began);
  }
  return median(times);
}

/** In a fresh page each time. What a message costs to copy and check is in it; what the editor's own hops cost is not. */
async function firstPaint(
  browser: Browser,
  html: string,
  script: string,
  { matrix, view }: ReturnType<typeof dataOf>,
): Promise<{ readonly paint: number; readonly frame: number }> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  try {
    await page.setContent(html);
    await page.evaluate('globalThis.acquireVsCodeApi = () => ({ postMessage() {}, getState() {}, setState() {} })');
    await page.addScriptTag({ content: script });
    const texts = Object.fromEntries(TEXT_NAMES.map((name) => [name, name]));
    const plain = {
      texts: versioned({ type: 'texts', texts, locale: 'en' } as Parameters<typeof versioned>[0]),
      matrix: versioned({ ...matrix, bits: [] as never }),
      bits: [...matrix.bits],
      view: {
        ...versioned({ type: 'view', mode: 'groups', ...view, filter: '', answered: 0, empty: '' }),
        rows: [...view.rows],
        columns: [...view.columns],
      },
    };
    await page.evaluate(`globalThis.given = ${JSON.stringify(plain)};`);
    return (await page.evaluate(MEASURE)) as { paint: number; frame: number };
  } finally {
    await page.close();
  }
}

const MEASURE = `(async () => {
  const { texts, matrix, bits, view } = given;
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const messages = [
    { ...matrix, bits: Uint8Array.from(bits) },
    { ...view, rows: Uint32Array.from(view.rows), columns: Uint32Array.from(view.columns) },
  ];
  window.postMessage(texts, '*');
  await frame();
  await frame();
  const began = performance.now();
  for (const message of messages) window.postMessage(message, '*');
  while (document.querySelector('[role=gridcell]') === null) await frame();
  await frame(); // The one before has drawn the rows.
  const paint = performance.now() - began;
  const grid = document.getElementById('grid');
  if (grid.getAttribute('aria-rowcount') !== '10001') throw new Error('it shows something else');
  const times = [];
  let last = await frame();
  for (let step = 0; step < 60; step += 1) {
    grid.scrollTop += grid.clientHeight;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  const row = Math.floor(grid.scrollTop / 24) + 2;
  await frame();
  if (document.querySelector('[aria-rowindex="' + row + '"]') === null) throw new Error('it does not follow');
  return { paint, frame: times.sort((one, other) => one - other)[Math.floor(times.length / 2)] };
})()`;

async function plainTable(browser: Browser): Promise<number> {
  const page: Page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  try {
    await page.setContent('<!doctype html><body>');
    return (await page.evaluate(`(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      await frame();
      const began = performance.now();
      const cells = '<td></td>'.repeat(${ROLES});
      document.body.innerHTML = '<table>' + ('<tr><th>team-operators</th>' + cells + '</tr>').repeat(${PLAIN_ROWS}) + '</table>';
      await frame();
      await frame();
      return performance.now() - began;
    })()`)) as number;
  } finally {
    await page.close();
  }
}

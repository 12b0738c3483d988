// The page of the access matrix. Runs in a browser frame of VS Code; everything it knows comes in messages.
import '../noEval.ts';

import * as z from 'zod/mini';
import { createElement, elementById } from './dom.ts';
import { Grid } from './grid.ts';
import './matrix.css';
import type { GridPosition } from './layout.ts';
import { Localizer } from './localizer.ts';
import { MatrixTable } from './matrix.ts';
import {
  type MatrixMessage,
  MODES,
  type Mode,
  readToPage,
  type ToHost,
  type ViewMessage,
  versioned,
} from './protocol.ts';
import { findingMark } from './rowView.ts';
import { Toolbar } from './toolbar.ts';

interface Host {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

/** The state that is kept while the tab is hidden: positions only, no names. */
const stateSchema = z.object({
  mode: z.enum(MODES),
  top: z.number(),
  left: z.number(),
  row: z.number(),
  column: z.number(),
});

const host = acquireVsCodeApi();
const stored = z.safeParse(stateSchema, host.getState());
const post = (message: ToHost) => host.postMessage(versioned(message));
/** How long the user must rest on a cell before its detail is requested, in milliseconds. */
const RESTING = 60;

let mode: Mode = stored.success ? stored.data.mode : 'groups';
let words: Localizer | undefined;
let message: MatrixMessage | undefined;
let shown: MatrixTable | undefined;
let sequence = 0;
let detailRequest = 0;
let isRestored = !stored.success;
let resting: number | undefined;

const detail = elementById('detail', HTMLElement);
const legendOfFindings = createElement('li', '');
legendOfFindings.hidden = true;
const toolbar = new Toolbar({
  mode: (wanted) => {
    mode = wanted;
    post({ type: 'mode', mode });
  },
  filter: (text) => {
    sequence += 1;
    post({ type: 'filter', text, sequence });
  },
  refresh: () => post({ type: 'refresh' }),
  leave: () => grid.focus(),
});
const grid = new Grid(elementById('grid', HTMLElement), {
  choose: (place) => {
    if (shown) post({ type: 'reveal', ...keysOf(shown, place) });
  },
  change: () => {
    keep();
    window.clearTimeout(resting);
    resting = window.setTimeout(askForDetail, RESTING);
  },
});

window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  const read = readToPage(data);
  if (read === undefined) return; // Of another version, or from an unknown sender.
  if (read.type === 'texts') return begin(new Localizer(read.texts, read.locale));
  if (words === undefined) return;
  switch (read.type) {
    case 'matrix':
      message = read;
      return;
    case 'view':
      return show(read, words);
    case 'notices':
      return toolbar.tell(read, words);
    case 'detail':
      if (read.place === detailRequest) detail.textContent = read.text;
      return;
  }
});
post({ type: 'ready', mode });

function begin(localizer: Localizer): void {
  words = localizer;
  const title = localizer.text('title');
  document.title = title;
  elementById('title', HTMLElement).textContent = title;
  toolbar.label(localizer);
  toolbar.mode = mode;
  const legend = elementById('legend', HTMLElement);
  legend.setAttribute('aria-label', localizer.text('legend'));
  const states = ['granted', 'grantedUnlisted', 'notGranted'] as const;
  legend.replaceChildren(
    ...states.map((state) => {
      const item = createElement('li', '');
      const sample = createElement('span', 'cell');
      sample.dataset.state = state;
      item.append(sample, createElement('span', '', localizer.text(state)));
      return item;
    }),
    legendOfFindings,
  );
  legendOfFindings.replaceChildren(findingMark(), createElement('span', '', localizer.text('finding')));
  elementById('footer', HTMLElement).hidden = false;
}

function show(view: ViewMessage, localizer: Localizer): void {
  if (message?.mode !== view.mode || view.mode !== mode) return; // The user has turned to the other rows meanwhile.
  // Text that the user is typing has precedence over the answer to earlier text.
  if (!toolbar.isTyping && view.answered === sequence) toolbar.filter = view.filter;
  shown = new MatrixTable(message, view);
  const { rows, columns } = message;
  toolbar.explanation = mode === 'people' ? localizer.text('samePeople') : '';
  toolbar.counts = [
    localizer.count(mode === 'groups' ? 'groupCount' : 'peopleCount', shown.rows.length, rows.keys.length),
    localizer.count('roleCount', shown.columns.length, columns.keys.length),
    localizer.text('grantCount', shown.grants),
  ].join(' · ');
  const isEmpty = shown.rows.length === 0;
  elementById('grid', HTMLElement).hidden = isEmpty;
  const empty = elementById('empty', HTMLElement);
  empty.hidden = !isEmpty;
  empty.textContent = view.empty;
  legendOfFindings.hidden = !shown.hasFindings;
  grid.show(shown, localizer);
  if (!isRestored && stored.success) {
    grid.restore(stored.data, stored.data);
    isRestored = true;
  }
  askForDetail();
}

function keysOf(matrix: MatrixTable, { row, column }: GridPosition) {
  return {
    mode: matrix.message.mode,
    row: row < 0 ? null : matrix.row(row).key,
    column: column < 0 ? null : matrix.column(column).key,
  };
}

function askForDetail(): void {
  if (shown === undefined) return;
  detailRequest += 1;
  post({ type: 'active', place: detailRequest, ...keysOf(shown, grid.active) });
}

function keep(): void {
  host.setState({ mode, ...grid.scroll, ...grid.active });
}

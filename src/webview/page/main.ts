// A page with an answer or a document. Runs in a browser frame of VS Code; everything it knows comes in messages.
import '../noEval.ts';

import * as z from 'zod/mini';
import { linkAt, renderBlocks, renderLine } from './render.ts';
import './page.css';
import { type PagePart, readToPage, type ToHost, type ToPage, versioned } from './protocol.ts';
import { sanitizedFragment } from './render.ts';

interface Host {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

/** The state that is kept while the tab is hidden. */
const stateSchema = z.object({ top: z.number(), isFollowing: z.boolean() });
/** A reader within this many pixels of the end follows the answer. */
const NEAR = 32;

/** Marks lines of Rolecall's own: `rebuild` leaves no class to a model. */
const OWN = 'own';

const host = acquireVsCodeApi();
const stored = z.safeParse(stateSchema, host.getState());
const page = document.documentElement;
const heading = document.querySelector('h1');
const about = document.getElementById('about');
const main = document.querySelector('main');
/** A document is read from its beginning; what a model writes grows at the end. */
const grows = main?.role === 'log';
document.body.classList.toggle('document', !grows);

/** A reader at the end follows new text; one who has scrolled away stays. */
let isFollowing = stored.success ? stored.data.isFollowing : true;
let restore = stored.success ? stored.data.top : undefined;
/** The position when the page was last visible. */
let top = 0;
let revision = 0;
/** The content of the next frame: a model may be faster than the page can be laid out. */
let newest: ToPage | undefined;

function look(): void {
  top = page.scrollTop;
  isFollowing = page.scrollHeight - top - window.innerHeight <= NEAR;
}
window.addEventListener('scroll', () => {
  look();
  host.setState({ top, isFollowing });
});
window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  const read = readToPage(data);
  if (read === undefined) return; // Of another version, or not from the extension.
  if (newest === undefined) requestAnimationFrame(draw);
  newest = read;
});
document.addEventListener('click', follow);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') follow(event);
});
post({ type: 'ready' });

function follow(event: Event): void {
  const link = linkAt(event);
  if (link !== undefined) post({ type: 'follow', revision, link });
}

function post(message: ToHost): void {
  host.postMessage(versioned(message));
}

function draw(): void {
  if (newest !== undefined) show(newest);
  newest = undefined;
}

function show(content: ToPage): void {
  if (main === null || heading === null || about === null) return;
  if (page.scrollTop !== top) look(); // Scrolled a moment ago: the event is still to come.
  const { parts, isWhole, words } = content;
  revision = content.revision;
  heading.textContent = content.heading;
  about.replaceChildren(...renderLine(content.about));
  try {
    const fresh = document.createDocumentFragment();
    for (const part of parts) fresh.append(shown(part, words));
    update(main, fresh);
  } catch {
    // Better than a page that stays blank.
    main.replaceChildren(...parts.map(asText));
  }
  main.setAttribute('aria-busy', String(!isWhole));
  if (grows && isFollowing) page.scrollTop = page.scrollHeight;
  else if (restore !== undefined) page.scrollTop = restore;
  top = page.scrollTop;
  restore = undefined;
}

function shown(part: PagePart, { picture }: ToPage['words']): Node {
  if ('html' in part) return sanitizedFragment(part.html, (description) => picture.replace('{0}', () => description));
  return 'blocks' in part ? renderBlocks(part.blocks) : asText(part);
}

/** A part as it was sent. */
function asText(part: PagePart): HTMLElement {
  if ('own' in part) return Object.assign(document.createElement('p'), { className: OWN, textContent: part.own });
  const textContent = 'html' in part ? part.html : 'plain' in part ? part.plain : JSON.stringify(part.blocks);
  return Object.assign(document.createElement('pre'), { className: 'plain', textContent });
}

/**
 * Makes the children of `shown` like those of `fresh` and touches only what differs, so that selections, scroll
 * positions and expanded parts of the rest stay.
 */
function update(shown: Node, fresh: Node): void {
  const after = [...fresh.childNodes];
  const before = [...shown.childNodes];
  for (const surplus of before.slice(after.length)) surplus.remove();
  for (const [index, next] of after.entries()) {
    const current = before[index];
    if (current === undefined) shown.appendChild(next);
    else if (!current.isEqualNode(next)) change(current, next);
  }
}

function change(current: ChildNode, next: ChildNode): void {
  if (current instanceof Text && next instanceof Text) grow(current, next.data);
  else if (current instanceof Element && next instanceof Element && isAlike(current, next)) update(current, next);
  else current.replaceWith(next);
}

function grow(current: Text, text: string): void {
  if (text.startsWith(current.data)) current.appendData(text.slice(current.data.length));
  else current.data = text;
}

function isAlike(one: Element, other: Element): boolean {
  // The user expands `details`.
  const attributes = (element: Element) =>
    [...element.attributes].filter(({ name }) => name !== 'open').map(({ name, value }) => `${name}=${value}`);
  return one.localName === other.localName && attributes(one).join('\n') === attributes(other).join('\n');
}

// The page of an answer. Runs in a browser frame of VS Code; everything it knows comes in messages.
import '../noEval.ts';

import * as z from 'zod/mini';
import './answer.css';
import { readToPage, type ToHost, type ToPage, versioned } from './protocol.ts';
import { rebuild } from './rebuild.ts';
import { update } from './update.ts';

interface Host {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

/** What survives while the tab is out of sight. */
const stateSchema = z.object({ top: z.number(), isFollowing: z.boolean() });
/** Pixels from the end within which one is taken to read the end. */
const NEAR = 32;

/** Marks lines of Rolecall's own: `rebuild` leaves no class to a model. */
const OWN = 'own';

const host = acquireVsCodeApi();
const kept = z.safeParse(stateSchema, host.getState());
const page = document.documentElement;
const heading = document.querySelector('h1');
const about = document.getElementById('about');
const main = document.querySelector('main');

/** Whoever reads the end sees what is added; whoever has scrolled away stays there. */
let isFollowing = kept.success ? kept.data.isFollowing : true;
let restore = kept.success ? kept.data.top : undefined;
/** Where the page stood when it was last looked at. */
let top = 0;
/** What the next frame shows: a model may be faster than the page can be laid out. */
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
  if (read === undefined) return; // Of another version, or of nobody we know.
  if (newest === undefined) requestAnimationFrame(draw);
  newest = read;
});
const ready: ToHost = { type: 'ready' };
host.postMessage(versioned(ready));

function draw(): void {
  if (newest !== undefined) show(newest);
  newest = undefined;
}

function show({ parts, isWhole, picture, ...head }: ToPage): void {
  if (main === null || heading === null || about === null) return;
  if (page.scrollTop !== top) look(); // Scrolled a moment ago: the event is still to come.
  heading.textContent = head.heading;
  about.textContent = head.about;
  try {
    const fresh = document.createDocumentFragment();
    for (const part of parts) {
      if ('own' in part) fresh.append(ownLine(part.own));
      else fresh.append(rebuild(part.html, (description) => picture.replace('{0}', () => description)));
    }
    update(main, fresh);
  } catch {
    // Better than a page that stays blank.
    main.replaceChildren(
      ...parts.map((part) =>
        'own' in part ? ownLine(part.own) : Object.assign(document.createElement('pre'), { textContent: part.html }),
      ),
    );
  }
  main.setAttribute('aria-busy', String(!isWhole));
  if (isFollowing) page.scrollTop = page.scrollHeight;
  else if (restore !== undefined) page.scrollTop = restore;
  top = page.scrollTop;
  restore = undefined;
}

function ownLine(text: string): HTMLElement {
  return Object.assign(document.createElement('p'), { className: OWN, textContent: text });
}

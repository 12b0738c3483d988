import { createElement, elementById } from './dom.ts';
import type { Localizer } from './localizer.ts';
import { MODES, type Mode, type NoticesMessage } from './protocol.ts';

export interface ToolbarEvents {
  readonly mode: (mode: Mode) => void;
  /** The content of the filter, some time after it was typed. */
  readonly filter: (text: string) => void;
  readonly refresh: () => void;
  /** Moves to the grid. */
  readonly leave: () => void;
}

/** While the user types, matrix and tree are updated after this delay, in milliseconds. */
const TYPING = 150;

/** The controls above the grid: rows, filter, counts, age, and what is missing in the data. */
export class Toolbar {
  readonly #filter = elementById('filter', HTMLInputElement);
  readonly #refresh = elementById('refresh', HTMLButtonElement);
  readonly #radios = new Map<Mode, HTMLInputElement>();
  readonly #events: ToolbarEvents;
  #typing: number | undefined;

  constructor(events: ToolbarEvents) {
    this.#events = events;
    this.#filter.addEventListener('input', () => {
      window.clearTimeout(this.#typing);
      this.#typing = window.setTimeout(() => this.#send(), TYPING);
    });
    this.#filter.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
      event.preventDefault();
      if (this.#typing !== undefined) this.#send();
      events.leave();
    });
    this.#refresh.addEventListener('click', () => events.refresh());
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      this.#filter.focus();
      this.#filter.select();
    });
  }

  /** Whether something was typed that was not sent yet. */
  get isTyping(): boolean {
    return this.#typing !== undefined;
  }

  label(words: Localizer): void {
    elementById('modes-name', HTMLElement).textContent = words.text('rows');
    this.#filter.setAttribute('aria-label', words.text('filter'));
    this.#filter.placeholder = words.text('filterHint');
    this.#refresh.setAttribute('aria-label', words.text('refresh'));
    this.#refresh.title = words.text('refresh');
    if (this.#radios.size === 0) for (const mode of MODES) this.#addMode(mode, words);
    elementById('toolbar', HTMLElement).hidden = false;
  }

  set mode(mode: Mode) {
    const radio = this.#radios.get(mode);
    if (radio) radio.checked = true;
  }

  /** Sets a filter that was changed elsewhere, such as in the tree. */
  set filter(text: string) {
    if (this.#filter.value.trim() !== text) this.#filter.value = text;
  }

  /** The explanation of the words for the rows; empty if they need none. */
  set explanation(text: string) {
    const explanation = elementById('explanation', HTMLElement);
    explanation.textContent = text;
    explanation.hidden = text === '';
  }

  set counts(text: string) {
    elementById('counts', HTMLElement).textContent = text;
  }

  tell({ read, isReading, notices }: NoticesMessage, words: Localizer): void {
    elementById('read', HTMLElement).textContent = isReading ? words.text('reading') : read;
    document.body.classList.toggle('reading', isReading);
    const list = notices.map(({ kind, text }) => createElement('p', `notice ${kind}`, text));
    elementById('notices', HTMLElement).replaceChildren(...list);
  }

  #addMode(mode: Mode, words: Localizer): void {
    const label = createElement('label', 'mode');
    const radio = createElement('input', '');
    radio.type = 'radio';
    radio.name = 'mode';
    radio.value = mode;
    radio.addEventListener('change', () => this.#events.mode(mode));
    label.append(radio, createElement('span', '', words.text(mode)));
    elementById('modes', HTMLElement).append(label);
    this.#radios.set(mode, radio);
  }

  #send(): void {
    window.clearTimeout(this.#typing);
    this.#typing = undefined;
    this.#events.filter(this.#filter.value);
  }
}

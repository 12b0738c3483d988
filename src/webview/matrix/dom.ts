/** The element with this ID, which is in the page from the beginning. */
export function elementById<T extends HTMLElement>(id: string, kind: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${id}.`);
  return element;
}

/** A new element. Visible text is set as text, never as markup. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (className !== '') element.className = className;
  if (text !== '') element.textContent = text;
  return element;
}

/** Sets an attribute if it differs: the page redraws everything that is set. */
export function updateAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function updateText(element: Element, value: string): void {
  if (element.textContent !== value) element.textContent = value;
}

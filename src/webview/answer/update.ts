/**
 * Makes the children of `shown` like those of `fresh` and touches only what differs, so that what is selected, scrolled or
 * unfolded in the part that stays, stays.
 */
export function update(shown: Node, fresh: Node): void {
  const after = [...fresh.childNodes];
  const before = [...shown.childNodes];
  for (const gone of before.slice(after.length)) gone.remove();
  for (const [index, next] of after.entries()) {
    const known = before[index];
    if (known === undefined) shown.appendChild(next);
    else if (!known.isEqualNode(next)) change(known, next);
  }
}

function change(known: ChildNode, next: ChildNode): void {
  if (known instanceof Text && next instanceof Text) grow(known, next.data);
  else if (known instanceof Element && next instanceof Element && isAlike(known, next)) update(known, next);
  else known.replaceWith(next);
}

function grow(known: Text, text: string): void {
  if (text.startsWith(known.data)) known.appendData(text.slice(known.data.length));
  else known.data = text;
}

function isAlike(one: Element, other: Element): boolean {
  // The user unfolds `details`.
  const attributes = (element: Element) =>
    [...element.attributes].filter(({ name }) => name !== 'open').map(({ name, value }) => `${name}=${value}`);
  return one.localName === other.localName && attributes(one).join('\n') === attributes(other).join('\n');
}

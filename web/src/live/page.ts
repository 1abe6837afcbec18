// Elements of the page.

type Child = Node | string;

/** An element with a class (or none) and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/** A card with a heading. */
export function card(title: string, ...children: Child[]): HTMLElement {
  return make("section", "card", make("h2", "", title), ...children);
}

/** Shows a text, and touches the page only where it differs. */
export function show(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

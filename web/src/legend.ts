// The legend below a chart: each entry is a button that hides its series, and says what it reads at the cursor.

import { button } from "./element";

export class Legend {
  private readonly values: HTMLElement[] = [];
  private readonly hidden = new Set<number>();

  /** Makes a page's list of names a list of buttons. */
  constructor(
    private readonly list: HTMLElement,
    changed: () => void,
    emphasised: (index: number | undefined) => void,
  ) {
    [...list.children].forEach((item, index) => {
      const toggle = button("", () => {
        this.toggle(index, toggle);
        changed();
      });
      toggle.append(...item.childNodes, this.addValue());
      toggle.setAttribute("aria-pressed", "true");
      toggle.addEventListener("pointerenter", () => emphasised(this.hidden.has(index) ? undefined : index));
      toggle.addEventListener("pointerleave", () => emphasised(undefined));
      item.append(toggle);
    });
  }

  private addValue(): HTMLElement {
    const value = document.createElement("output");
    this.values.push(value);
    return value;
  }

  private toggle(index: number, toggle: HTMLElement): void {
    const isHidden = !this.hidden.delete(index);
    if (isHidden) this.hidden.add(index);
    toggle.setAttribute("aria-pressed", String(!isHidden));
  }

  isHidden(index: number): boolean {
    return this.hidden.has(index);
  }

  /** Shows what each series reads; nothing where there is no cursor. */
  show(texts: (string | undefined)[] | undefined): void {
    this.list.classList.toggle("reading", texts !== undefined);
    this.values.forEach((value, index) => {
      value.textContent = texts ? (texts[index] ?? "\u2013") : "";
    });
  }
}

// The keyboard on a chart: arrows move the cursor from point to point, + and - zoom, Escape shows all again.

export interface Steps {
  /** Moves the cursor to the next point before (-1) or after (1) it. */
  step(direction: -1 | 1): void;
  /** Moves the cursor by a tenth of what is shown. */
  leap(direction: -1 | 1): void;
  /** Moves the cursor to the begin (0) or the end (1) of what is shown. */
  jump(end: 0 | 1): void;
  /** Shows so many times as much of the axis, around the cursor. */
  scale(factor: number): void;
  escape(): void;
}

export function listen(element: HTMLElement, on: Steps): void {
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = action(event, on);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function action(event: KeyboardEvent, on: Steps): (() => void) | undefined {
  const move = (direction: -1 | 1) => (event.shiftKey ? on.leap(direction) : on.step(direction));
  switch (event.key) {
    case "ArrowLeft":
      return () => move(-1);
    case "ArrowRight":
      return () => move(1);
    case "Home":
      return () => on.jump(0);
    case "End":
      return () => on.jump(1);
    case "+":
    case "=":
      return () => on.scale(0.5);
    case "-":
      return () => on.scale(2);
    case "0":
    case "Escape":
      return () => on.escape();
    default:
      return undefined;
  }
}

// Tables wider than the page: the keyboard reaches them, and a line of text says that they scroll.

/** Follows the width of each; only those that scroll are a stop of the Tab key. */
export function follow(places: Iterable<HTMLElement>): void {
  const observer = new ResizeObserver((entries) => {
    for (const entry of entries) mark(entry.target as HTMLElement);
  });
  for (const place of places) {
    mark(place);
    observer.observe(place);
  }
}

function mark(place: HTMLElement): void {
  const scrolls = place.scrollWidth > place.clientWidth + 1;
  place.classList.toggle("scrolls", scrolls);
  if (scrolls) {
    place.tabIndex = 0;
    place.setAttribute("role", "region");
    place.setAttribute("aria-label", place.dataset["name"] ?? "Table");
  } else {
    for (const key of ["tabindex", "role", "aria-label"]) place.removeAttribute(key);
  }
}

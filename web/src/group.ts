// Charts with the same horizontal axis: they share the cursor and what is shown of the axis.

import type { Range } from "./scale";

export interface Member {
  /** Shows the cursor at a value of the horizontal axis; undefined hides it. */
  showCursor(x: number | undefined): void;
  /** Shows a part of the horizontal axis; undefined shows all. */
  showRange(range: Range | undefined): void;
}

export class Group {
  private readonly members: Member[] = [];

  add(member: Member): void {
    this.members.push(member);
  }

  /** Moves the cursor of all charts. Browsers send one move of the pointer a frame of the screen, so none is left out. */
  pointAt(x: number | undefined): void {
    for (const member of this.members) member.showCursor(x);
  }

  zoomTo(range: Range | undefined): void {
    for (const member of this.members) member.showRange(range);
  }
}

const groups = new Map<string, Group>();

/** The group of all charts whose horizontal axis is this one. */
export function groupOf(axis: string): Group {
  const group = groups.get(axis) ?? new Group();
  groups.set(axis, group);
  return group;
}

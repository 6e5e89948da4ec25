import { Store } from "../../ui/store.ts";
import type { Filters } from "./select-rows.ts";

/** Filters under a name. */
export interface View {
  readonly name: string;
  readonly filters: Filters;
}

const PLACE = "countersign.views";
const MOST = 20;

/** The views that somebody has saved, in this browser. */
export const views: Store<readonly View[]> = new Store<readonly View[]>(recall());

export function saveView(name: string, filters: Filters): void {
  keep([...views.value.filter((view) => view.name !== name), { name, filters }].slice(-MOST));
}

export function removeView(name: string): void {
  keep(views.value.filter((view) => view.name !== name));
}

function keep(next: readonly View[]): void {
  views.set(next);
  try {
    window.localStorage.setItem(PLACE, JSON.stringify(next));
  } catch {
    // A browser that keeps nothing forgets them on reload.
  }
}

function recall(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(kept) ? (kept as readonly View[]) : [];
  } catch {
    return [];
  }
}

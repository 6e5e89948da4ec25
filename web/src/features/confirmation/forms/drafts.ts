import { useState } from "react";

const PLACE = "countersign.draft.";
const OWNER = "countersign.drafts-of";

/** What somebody has typed about a request: it survives a reload of this tab, and is forgotten once it was sent. */
export function useDraft<Value>(
  id: string,
  name: string,
  initial: Value,
): readonly [Value, (value: Value) => void] {
  const place = `${PLACE}${id} ${name}`;
  const [value, setValue] = useState<Value>(() => (recall(place) as Value | undefined) ?? initial);
  return [
    value,
    (next) => {
      setValue(next);
      keep(place, next);
    },
  ];
}

/** Forgets what was typed about these. */
export function forgetDrafts(ids: readonly string[]): void {
  forget((place) => ids.some((id) => place.startsWith(`${PLACE}${id} `)));
}

/**
 * Drafts are one person's: what somebody else typed in this tab before is forgotten, so that nobody sends it as their own
 * word. Gives whether there was any of it.
 */
export function ownDrafts(person: string): boolean {
  try {
    const before = window.sessionStorage.getItem(OWNER);
    window.sessionStorage.setItem(OWNER, person);
    return before !== null && before !== person && forget((place) => place.startsWith(PLACE));
  } catch {
    return false;
  }
}

function forget(isMeant: (place: string) => boolean): boolean {
  try {
    const places = Object.keys(window.sessionStorage).filter(isMeant);
    for (const place of places) window.sessionStorage.removeItem(place);
    return places.length > 0;
  } catch {
    // A browser that keeps nothing has nothing to forget.
    return false;
  }
}

function keep(place: string, value: unknown): void {
  try {
    window.sessionStorage.setItem(place, JSON.stringify(value));
  } catch {
    // Full, or not allowed: then a reload loses it, as before.
  }
}

function recall(place: string): unknown {
  try {
    const kept = window.sessionStorage.getItem(place);
    return kept === null ? undefined : JSON.parse(kept);
  } catch {
    return undefined;
  }
}

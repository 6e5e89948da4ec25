import { useState } from "react";

const PLACE = "countersign.draft.";

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
  try {
    for (const place of Object.keys(window.sessionStorage))
      if (ids.some((id) => place.startsWith(`${PLACE}${id} `))) window.sessionStorage.removeItem(place);
  } catch {
    // A browser that keeps nothing has nothing to forget.
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

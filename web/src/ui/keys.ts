import { useEffect, useLayoutEffect, useRef } from "react";

export type Keys = { readonly [key: string]: () => void };

/** Acts on single keys, unless somebody types or is in a dialog; and on keys with Ctrl or Cmd, as `mod+k`, everywhere. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  // Before anything is drawn: a key must not meet what was there before.
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isMod = event.ctrlKey || event.metaKey;
      if (event.altKey || event.repeat || (!isMod && isTyping(event.target))) return;
      const act = latest.current[isMod ? `mod+${event.key}` : event.key];
      if (act === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Buttons and boxes to tick take no letters. */
const PRESSED = new Set(["radio", "checkbox", "button", "submit"]);

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !PRESSED.has(target.type);
  return target instanceof HTMLElement && target.closest("textarea, select, [contenteditable]") !== null;
}

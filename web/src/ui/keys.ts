import { useEffect, useRef } from "react";

export type Keys = { readonly [key: string]: () => void };

/** Acts on single keys, unless somebody types, holds a modifier or is in a dialog. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return;
      const act = latest.current[event.key];
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

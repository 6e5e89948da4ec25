import { useEffect } from "react";

/**
 * While `isOn`, loads now, when the page gets the focus again, and every so often while it is visible. Starts again when
 * `restart` changes.
 */
export function usePolling(
  load: () => Promise<void>,
  {
    isOn,
    everyMs,
    restart,
  }: { readonly isOn: boolean; readonly everyMs: number; readonly restart?: unknown },
): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const look = (): void => {
      if (document.visibilityState === "visible") load().catch(() => undefined);
    };
    look();
    window.addEventListener("focus", look);
    const timer = window.setInterval(look, everyMs);
    return () => {
      window.removeEventListener("focus", look);
      window.clearInterval(timer);
    };
  }, [load, isOn, everyMs, restart]);
}

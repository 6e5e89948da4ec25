import { useEffect, useState } from "react";

/** Half a second, so that a click already under way does not hit new content. */
export const SETTLE_MS = 500;

/** True once `content` has stayed the same for half a second. */
export function useSettled(content: string): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(content), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, [content]);
  return settled === content;
}

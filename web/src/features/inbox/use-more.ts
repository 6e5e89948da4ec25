import { useEffect } from "react";
import { board } from "./board.ts";
import type { Filters } from "./select-rows.ts";

const TYPED_MS = 300;

/** Where more waits than is kept here, has the server look for what the filters want. */
export function useMore({ tool, agent, user, search }: Filters, isPartial: boolean): void {
  useEffect(() => {
    const wanted = Object.entries({ tool, agent, user, q: search.trim() }).filter(
      ([, value]) => value !== "",
    );
    if (!isPartial || wanted.length === 0) return undefined;
    const timer = window.setTimeout(() => {
      board.readMore(Object.fromEntries(wanted)).catch(() => undefined);
    }, TYPED_MS);
    return () => window.clearTimeout(timer);
  }, [tool, agent, user, search, isPartial]);
}

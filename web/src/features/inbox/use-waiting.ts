import { useMemo } from "react";
import { useNow } from "../../ui/clock.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "./board.ts";
import { countWaiting } from "./select-rows.ts";
import { snoozed } from "./snoozed.ts";

const MINUTE_MS = 60_000;

/** How many wait for this person. What was put off counts again when its time has come. */
export function useWaiting(): number {
  const state = useStore(board);
  const put = useStore(snoozed);
  const minute = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS;
  return useMemo(() => countWaiting(state.confirmations.values(), put, minute), [state, put, minute]);
}

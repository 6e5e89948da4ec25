import { useCallback, useRef, useState } from "react";
import { shownIds } from "./triage.ts";

export interface Picked {
  readonly picked: ReadonlySet<string>;
  /** Picks one or lets it go; with Shift, everything from the last one to it. */
  readonly pick: (id: string, isRange: boolean) => void;
  readonly pickAll: (ids: readonly string[]) => void;
  readonly clear: () => void;
}

/** The rows that are picked to be reviewed together. */
export function usePicked(): Picked {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const pick = useCallback((id: string, isRange: boolean) => {
    const from = isRange ? last.current : undefined;
    last.current = id;
    setPicked((before) => (from === undefined ? toggled(before, id) : withRange(before, from, id)));
  }, []);
  return {
    picked,
    pick,
    pickAll: (ids) => setPicked(new Set(ids)),
    clear: () => setPicked(new Set()),
  };
}

function toggled(all: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
}

function withRange(all: ReadonlySet<string>, from: string, until: string): ReadonlySet<string> {
  const [start = 0, end = 0] = [shownIds.value.indexOf(from), shownIds.value.indexOf(until)].toSorted(
    (a, b) => a - b,
  );
  return new Set([...all, ...shownIds.value.slice(Math.max(0, start), end + 1)]);
}

import { useCallback, useMemo, useRef, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "./board.ts";
import { nextOrder } from "./frozen-order.ts";
import { type Filters, selectRows } from "./select-rows.ts";
import { snoozed } from "./snoozed.ts";

export interface Rows {
  readonly rows: readonly Confirmation[];
  /** News that wait until they are let in. */
  readonly waiting: number;
  readonly decided: number;
  readonly setBusy: (isBusy: boolean) => void;
  readonly letIn: () => void;
  readonly clearDecided: () => void;
}

/** The rows to show: in order, but not moving while somebody is in the list; decided ones stay until cleared. */
export function useRows(filters: Filters): Rows {
  const state = useStore(board);
  const put = useStore(snoozed);
  const [isBusy, setBusy] = useState(false);
  const [, renew] = useState(0);
  const shown = useRef<readonly string[]>([]);
  const lastFilters = useRef(filters);
  const forced = useRef(false);
  const kept = useRef(new Set<string>());
  const latest = useMemo(
    () =>
      selectRows(state.confirmations.values(), {
        filters,
        snoozed: put,
        now: Date.now(),
        kept: kept.current,
      }),
    [state, put, filters],
  );
  for (const { id } of latest) kept.current.add(id);
  const frozen = isBusy && !forced.current && lastFilters.current === filters;
  forced.current = false;
  lastFilters.current = filters;
  const order = nextOrder(shown.current, idsOf(latest), frozen);
  shown.current = order.ids;
  const rows = useMemo(
    () => order.ids.flatMap((id) => state.confirmations.get(id) ?? []),
    // The map is one and the same; `state` is new with every change of it.
    [order.ids, state],
  );
  const letIn = useCallback(() => {
    forced.current = true;
    renew((count) => count + 1);
  }, []);
  return {
    rows,
    waiting: order.waiting,
    decided: countDecided(rows),
    setBusy,
    letIn,
    clearDecided: () => {
      for (const { id, status } of rows) if (status !== "requested") kept.current.delete(id);
      if (board.value.partial) board.reload();
      else board.refresh();
      letIn();
    },
  };
}

const idLists = new WeakMap<readonly Confirmation[], readonly string[]>();

function idsOf(rows: readonly Confirmation[]): readonly string[] {
  const known = idLists.get(rows);
  if (known !== undefined) return known;
  const ids = rows.map(({ id }) => id);
  idLists.set(rows, ids);
  return ids;
}

function countDecided(rows: readonly Confirmation[]): number {
  return rows.reduce((count, { status }) => count + (status === "requested" ? 0 : 1), 0);
}

import { useEffect, useState } from "react";
import { ask, client, type Problem } from "../../api/client.ts";
import type { Confirmation } from "../../api/types.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "./board.ts";

/** One confirmation, live; read from the server where the board does not have it. */
export function useConfirmation(id: string): Confirmation | Problem | undefined {
  const { confirmations, loaded } = useStore(board);
  const [missing, setMissing] = useState<{ readonly id: string; readonly problem: Problem }>();
  const known = confirmations.get(id);
  const mustFetch = known === undefined && loaded;
  useEffect(() => {
    if (!mustFetch) return;
    const mark = board.mark();
    ask(client.confirmations.get(id)).then(
      (found) => (found.ok ? board.put(found.value, mark) : setMissing({ id, problem: found.problem })),
      () => undefined,
    );
  }, [id, mustFetch]);
  return known ?? (missing?.id === id ? missing.problem : undefined);
}

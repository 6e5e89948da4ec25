import { useEffect, useState } from "react";
import { ask, client, type Problem } from "../../api/client.ts";
import type { Confirmation } from "../../api/types.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "./board.ts";

/** One confirmation, live and whole; read from the server where the board does not have it, or only its beginning. */
export function useConfirmation(id: string): Confirmation | Problem | undefined {
  const { confirmations, loaded } = useStore(board);
  const [missing, setMissing] = useState<{ readonly id: string; readonly problem: Problem }>();
  const known = confirmations.get(id);
  const cut = known?.truncated === true ? known : undefined;
  const mustFetch = cut !== undefined || (known === undefined && loaded);
  useEffect(() => {
    if (!mustFetch) return;
    const mark = board.mark();
    ask(client.confirmations.get(id)).then(
      (found) => (found.ok ? board.put(found.value, mark) : setMissing({ id, problem: found.problem })),
      () => undefined,
    );
    // Told of anew while this was under way, it is read again: what was asked for before may be old.
  }, [id, mustFetch, cut]);
  if (known !== undefined && cut === undefined) return known;
  return missing?.id === id ? missing.problem : undefined;
}

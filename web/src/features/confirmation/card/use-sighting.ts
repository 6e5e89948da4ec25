import { useEffect } from "react";
import { ask, client } from "../../../api/client.ts";
import type { Confirmation } from "../../../api/types.ts";
import { useStore } from "../../../ui/store.ts";
import { board } from "../../inbox/board.ts";

/** Whoever only passes by on the way to another one has not seen it. */
const SEEN_AFTER_MS = 1000;

/** What this page has said already. The server notes each person once, also if they have several logins. */
const said = new Set<string>();

/** Tells the server that this person has opened an open request, once. */
export function useSighting({ id, status, seen = [] }: Confirmation): void {
  const { me } = useStore(board);
  const login = me?.principal.id;
  const isNoted = seen.some(({ by }) => by.id === login);
  const mustSay = status === "requested" && login !== undefined && !isNoted;
  useEffect(() => {
    if (!mustSay || said.has(id)) return;
    const timer = window.setInterval(() => {
      // A card in a tab that nobody looks at is not seen.
      if (document.visibilityState !== "visible") return;
      window.clearInterval(timer);
      said.add(id);
      const mark = board.mark();
      ask(client.confirmations.view(id)).then(
        (answer) => (answer.ok ? board.put(answer.value, mark) : said.delete(id)),
        () => undefined,
      );
    }, SEEN_AFTER_MS);
    return () => window.clearInterval(timer);
  }, [id, mustSay]);
}

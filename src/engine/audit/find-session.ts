import { CountersignError } from "../../protocol/index.ts";
import type { Ledger } from "../ledger/index.ts";

/** The key of a session that a person names by its key, or as app/user/id. */
export async function findSessionKey(ledger: Ledger, given: string): Promise<string> {
  const [, app, user, id] = /^([^/]+)\/([^/]+)\/(.+)$/s.exec(given) ?? [];
  const named =
    app === undefined || user === undefined || id === undefined
      ? undefined
      : await ledger.load({ session: { app, user, id } });
  const found = named ?? (await ledger.load({ sessionKey: given }));
  if (found !== undefined) return found.session.key;
  throw new CountersignError(
    "unknown-session",
    `There is no session "${given}". Use its key, or app/user/id, for example gate:refund/gate/order-17.`,
    { details: { field: "session" } },
  );
}

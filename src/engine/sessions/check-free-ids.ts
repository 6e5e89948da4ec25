import { CountersignError } from "../../protocol/index.ts";
import type { Ledger } from "../ledger/index.ts";

/**
 * Throws if one of the session's calls has one of these ids, also a call that ended long ago: a commit only looks at
 * those that the session's document still has.
 */
export async function checkFreeIds(
  ledger: Ledger,
  session: string,
  calls: readonly { readonly wireId: string }[],
): Promise<void> {
  const [taken] = await ledger.calls(calls.map(({ wireId }) => `${session}.${wireId}`));
  if (taken !== undefined)
    throw new CountersignError("internal", `The session already has a call with the id "${taken.id}".`);
}

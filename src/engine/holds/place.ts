import { CountersignError } from "../../protocol/index.ts";
import { erasedUser, flawOfName } from "../common/index.ts";
import type { Decider } from "../decisions/index.ts";
import { transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { loginsOf } from "../people/index.ts";
import { actor, diaryDraft, RETENTION_DIARY } from "./diary.ts";
import { moveGuard, readGuard } from "./guard.ts";
import { type Hold, type HoldTarget, toItem } from "./hold.ts";

const LONGEST_REASON = 1_000;

/**
 * Places a hold. Once this resolves nothing that it covers is erased: an erasure that was judged before it is refused by
 * the ledger and judged again. Throws `forbidden` if the whole ledger is about to be erased. The journal names a person by a
 * pseudonym.
 */
export async function placeHold(
  parts: EngineParts,
  wanted: HoldTarget & { readonly reason: string },
  decider: Decider,
): Promise<Hold> {
  check(wanted);
  const { on, name, reason } = wanted;
  const id = parts.newId(parts.ledger.now);
  return transact<Hold>(parts, { session: RETENTION_DIARY }, async (snapshot) => {
    const draft = diaryDraft(parts, snapshot);
    const logins = on === "user" ? loginsOf(name, parts.directory) : [];
    const known = logins.length > 1 ? { logins } : {};
    const hold: Hold = { id, on, name, reason, by: decider.by.id, since: draft.now, ...known };
    const guard = await readGuard(parts.ledger);
    if (guard.hasEnded) throw tooLate();
    moveGuard(draft.write({ kind: "item", item: toItem(hold), read: 0 }), guard);
    const told = on === "user" ? erasedUser(parts.ledger.digestKey, name) : name;
    draft.journal("hold-placed", { hold: id, on, name: told, reason, ...actor(decider) });
    return { draft, value: hold };
  });
}

function check({ on, name, reason }: HoldTarget & { readonly reason: string }): void {
  const flaw = name === "" ? "is empty" : flawOfName(name);
  if (flaw !== undefined)
    throw new CountersignError("malformed-request", `The name of the ${on} ${flaw}.`, {
      details: { field: on },
    });
  checkReason(reason);
}

function tooLate(): CountersignError {
  return new CountersignError(
    "forbidden",
    "This ledger is being erased, and that can no longer be stopped: no hold can be placed.",
  );
}

export function checkReason(reason: string): void {
  if (reason.trim() !== "" && reason.length <= LONGEST_REASON) return;
  throw new CountersignError(
    "malformed-request",
    `Give a reason of 1 to ${LONGEST_REASON} characters. It is journalled.`,
    { details: { field: "reason" } },
  );
}

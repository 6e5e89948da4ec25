import { CountersignError } from "../../protocol/index.ts";
import type { Decider } from "../decisions/index.ts";
import { transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { actor, diaryDraft, RETENTION_DIARY } from "./diary.ts";
import { moveGuard, readGuard } from "./guard.ts";
import { HOLD } from "./hold.ts";
import { checkReason } from "./place.ts";

/** Releases a hold. Throws `unknown-hold`. What it kept may be erased from then on. */
export async function releaseHold(
  parts: EngineParts,
  { id, reason }: { readonly id: string; readonly reason: string },
  decider: Decider,
): Promise<void> {
  checkReason(reason);
  await transact<void>(parts, { session: RETENTION_DIARY }, async (snapshot) => {
    const guard = await readGuard(parts.ledger);
    const item = await parts.ledger.items.get(HOLD, id);
    if (item === undefined) throw new CountersignError("unknown-hold", `There is no hold "${id}".`);
    const draft = diaryDraft(parts, snapshot);
    moveGuard(draft.write({ kind: "item", item: { kind: HOLD, id }, read: item.version }), guard);
    draft.journal("hold-released", { hold: id, reason, ...actor(decider) });
    return { draft, value: undefined };
  });
}

import {
  allHolds,
  type CallRecord,
  isLedgerSuspended,
  type Ledger,
  type Page,
  type SessionRecord,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";

const PAGE = 1_000;

/**
 * Throws while a tenant's ledger has what must not be lost: a legal hold, a call that runs or may have run, an outcome that nobody knows. Looks
 * at every session, so it takes a while in a large ledger.
 */
export async function checkErasable(ledger: Ledger, tenant: string): Promise<void> {
  const [hold] = await allHolds(ledger);
  if (hold !== undefined) {
    throw new CountersignError(
      "under-hold",
      `The hold ${hold.id} on the ${hold.on} "${hold.name}" keeps content of the tenant "${tenant}". Release it first: countersign hold release ${hold.id}.`,
      { details: { hold: hold.id } },
    );
  }
  // Without it a call could start after this was judged.
  if (!(await isLedgerSuspended(ledger.items))) {
    throw new CountersignError(
      "forbidden",
      `The ledger of the tenant "${tenant}" is not suspended. Suspend the tenant again: countersign tenants suspend ${tenant}.`,
    );
  }
  const { items } = await ledger.unknownCalls({ limit: 1 });
  const unknown = items[0]?.id;
  if (unknown !== undefined) {
    throw new CountersignError(
      "call-executing",
      `The outcome of the call ${unknown} of the tenant "${tenant}" is unknown. Settle it first: countersign settle ${unknown}.`,
    );
  }
  const started = await startedCall(ledger);
  if (started !== undefined) {
    const { id, status } = started;
    const advice =
      status === "executing"
        ? "is running. Wait until it has ended."
        : "was started and may have run. Resume the tenant, and let it run, or withdraw it and settle it.";
    throw new CountersignError("call-executing", `The call ${id} of the tenant "${tenant}" ${advice}`);
  }
}

/** A call that runs, or whose process was lost while it ran. */
async function startedCall(ledger: Ledger): Promise<CallRecord | undefined> {
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page: Page<SessionRecord> = await ledger.sessions("all", { limit: PAGE, ...after });
    for (const { key, deletedAt } of page.items) {
      // A session is not deleted while a call of it runs.
      if (deletedAt !== undefined) continue;
      const open = await ledger.unanswered(key);
      const found = open.find(({ status, lost = 0 }) => status === "executing" || lost > 0);
      if (found !== undefined) return found;
    }
    cursor = page.next;
  } while (cursor !== undefined);
  return undefined;
}

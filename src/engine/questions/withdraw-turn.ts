import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { Whole } from "../decisions/index.ts";
import { Draft, type FrameRecord, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { writeClosing } from "./close-question.ts";

/** Why a turn's questions are withdrawn, and what its frame stores about it. */
export interface TurnWithdrawal {
  readonly reason: string;
  /** Merged into the frame's cursor. */
  readonly cursor: JsonObject;
}

interface WithdrawnTurn {
  readonly ok: boolean;
  /** Claimed here for its next step. */
  readonly stepping?: FrameRecord;
}

/**
 * Withdraws all open questions of one turn of a frame, in one commit, for the given reason and not for a person, and
 * continues the frame. Decided questions stay decided. Returns false, without writing, if the turn is over or nothing
 * is open.
 */
export async function withdrawTurn(
  parts: EngineParts,
  { id, turn }: Pick<FrameRecord, "id" | "turn">,
  { reason, cursor }: TurnWithdrawal,
): Promise<boolean> {
  const withdrawn = await transact<WithdrawnTurn>(parts, { frame: id }, async (snapshot, last) => {
    const waiting = snapshot?.frame;
    if (snapshot === undefined || waiting?.status !== "waiting" || waiting.turn !== turn) return NOTHING;
    const open = await openIn(parts, waiting);
    if (open.length === 0 || snapshot.session.deletedAt !== undefined) return NOTHING;
    const owner = await parts.lease.hold();
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    const known = { ...(isJsonObject(waiting.cursor) ? waiting.cursor : {}), ...cursor };
    let frame = draft.changeFrame(waiting, { cursor: known });
    let stepping: FrameRecord | undefined;
    for (const { confirmation, call } of open) {
      const closing = { how: "withdraw", reason } as const;
      ({ stepping } = writeClosing(parts, draft, { confirmation, call, frame, closing, owner, last }));
      frame = { ...frame, open: frame.open - 1 };
    }
    return { draft, value: stepping === undefined ? { ok: true } : { ok: true, stepping } };
  });
  if (withdrawn.stepping !== undefined) parts.executions.step(withdrawn.stepping);
  return withdrawn.ok;
}

const NOTHING = { value: { ok: false } } as const;

// This may be newer than the snapshot that the commit is based on; then the commit is refused.
async function openIn(
  { ledger }: EngineParts,
  frame: FrameRecord,
): Promise<readonly Pick<Whole, "confirmation" | "call">[]> {
  const found: Pick<Whole, "confirmation" | "call">[] = [];
  for (const id of frame.calls) {
    const { call, confirmation } = (await ledger.load({ call: id })) ?? {};
    if (call?.status === "waiting" && confirmation?.status === "requested")
      found.push({ call, confirmation });
  }
  return found;
}

import { countingFor, relyOnDelegations } from "../delegations/index.ts";
import type { LiveTool } from "../host.ts";
import {
  type CallRecord,
  type Conflict,
  Draft,
  type FrameRecord,
  type Plan,
  type Snapshot,
  transact,
} from "../ledger/index.ts";
import { type CallCommand, mayHaveRun } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { takeBack, writeMayHaveRun } from "../questions/index.ts";
import { type Blocked, type Claimed, clear, relyOnGrant, writeClaim } from "./claim.ts";

/** The result of trying to claim a ready call. */
export interface Taken {
  readonly call?: CallRecord;
  readonly claimed?: Claimed;
  readonly stepping?: FrameRecord;
}

/**
 * Claims a call that was approved elsewhere, or released, if it is free and may run here. A call that must not run any
 * more is withdrawn instead; if it may have run before, it becomes `unknown`.
 */
export async function claimReady(parts: EngineParts, callId: string): Promise<Taken> {
  return transact<Taken>(parts, { call: callId }, async (snapshot, last) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call?.status !== "ready") return { value: {} };
    return planClaim(parts, { ...snapshot, call }, { stored: call, last });
  });
}

export interface ClaimInput {
  /** The call as it is in the ledger; `held` may already contain the changes of this commit. */
  readonly stored: CallRecord;
  /** The transition that makes it ready in this commit, if it is not ready yet. */
  readonly first?: CallCommand;
  readonly last: Conflict | undefined;
  /** What this commit already holds. */
  readonly draft?: Draft;
  /** The owner under which the caller itself runs the call; otherwise this process runs it. */
  readonly caller?: string;
  /** As its caller has it now. Default: as this process knows it. */
  readonly tool?: LiveTool;
}

/** Plans the claim of a call that is ready, or becomes ready in this commit. */
export async function planClaim(
  parts: EngineParts,
  held: Snapshot & { readonly call: CallRecord },
  { stored, first, last, caller, tool, draft = new Draft(parts, held.now, held.session) }: ClaimInput,
): Promise<Plan<Taken>> {
  const { call, confirmation, frame, session } = held;
  const counting = confirmation && (await countingFor(parts, confirmation, held.now));
  const clearance = await clear(parts, held, {
    now: held.now,
    byCaller: caller !== undefined,
    tool,
    ...(counting === undefined ? {} : { counting }),
  });
  if (!clearance.ok && clearance.elsewhere) return { value: { call } };
  if (!clearance.ok && mayHaveRun(stored)) return markBlocked(parts, { ...held, call: stored }, clearance);
  const owner = caller ?? (await parts.lease.hold());
  if (!clearance.ok) {
    const { draft: withdrawal, ...taken } = await takeBack(
      parts,
      { ...held, call: stored },
      { blocked: clearance, owner, last },
    );
    return { draft: withdrawal, value: taken };
  }
  if (confirmation !== undefined && counting !== undefined)
    relyOnDelegations(draft, confirmation.votes, counting);
  relyOnGrant(draft, clearance);
  const running = writeClaim(draft, { stored, first, call, owner });
  draft.journal("call-started", {
    call: call.id,
    tool: call.tool,
    attempt: running.attempt,
    owner,
    argsDigest: call.argsDigest,
  });
  return {
    draft,
    value: {
      call: running,
      claimed: { session, call: running, confirmation, frame, tool: clearance.tool, owner, draft },
    },
  };
}

function markBlocked(
  parts: EngineParts,
  held: Snapshot & { readonly call: CallRecord },
  { reason }: Blocked,
): Plan<Taken> {
  const draft = new Draft(parts, held.now, held.session).sync();
  return { draft, value: { call: writeMayHaveRun(draft, held, { reason }) } };
}

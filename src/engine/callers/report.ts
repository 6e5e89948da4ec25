import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { isClaimLost, markClaimLost, recordEntry, storedResult } from "../calls/index.ts";
import { sameJson } from "../common/index.ts";
import { type CallRecord, transact } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { storedCallerTool } from "./caller-tool.ts";
import { type ClaimedAttempt, callerOwner, isIssued } from "./claim.ts";

/** An attempt, and the token of its claim. */
export interface ClaimProof extends ClaimedAttempt {
  readonly token: string;
}

/** What a caller says of its attempt. */
export type CallerEnd =
  | { readonly kind: "succeeded"; readonly result: JsonValue }
  | { readonly kind: "failed"; readonly error: JsonObject };

/**
 * Renews a claim. Throws `claim-lost` if the caller does not hold it any more. If the ledger lost the claim in a
 * failover, the call becomes `unknown`, because it did start.
 */
export async function renewClaim(
  parts: EngineParts,
  proof: ClaimProof,
  { by, leaseMs }: { readonly by: string; readonly leaseMs: number },
): Promise<void> {
  checkProof(parts, proof);
  const owner = callerOwner(proof.token, by);
  const holds = await transact<boolean>(parts, { call: proof.callId }, async (snapshot) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: false };
    const { status, attempt } = call;
    if (status === "executing" && attempt === proof.attempt && call.owner === owner.id)
      return { value: true };
    if (!isClaimLost(call, proof)) return { value: false };
    return { ...markClaimLost(parts, { ...snapshot, call }, { attempt: proof.attempt }), value: false };
  });
  if (!holds || !(await parts.lease.register(owner, leaseMs))) throw claimLost(proof);
}

/**
 * Records how a claimed call ended. The same report again is accepted. After the claim was lost, a report is stored
 * while the call is `unknown`; otherwise it is only journalled, and `claim-lost` is thrown.
 */
export async function recordCallerEnd(parts: EngineParts, proof: ClaimProof, end: CallerEnd): Promise<void> {
  checkProof(parts, proof);
  const outcome =
    end.kind === "succeeded"
      ? { ...end, result: storedResult(end.result, parts.settings.maxResultBytes) }
      : end;
  const stored = await parts.ledger.load({ call: proof.callId });
  const { call } = stored ?? {};
  if (stored === undefined || call === undefined) throw claimLost(proof);
  if (isRepeated(call, proof, outcome)) return;
  const { id: owner } = callerOwner(proof.token);
  const claimed = {
    session: stored.session,
    call: { ...call, attempt: proof.attempt },
    confirmation: stored.confirmation,
    frame: undefined,
    tool: await storedCallerTool(parts, call),
    owner,
  };
  const ended = await recordEntry(parts, claimed, outcome);
  // The lease is of no more use; if this fails, it runs out by itself.
  await parts.ledger.owners.retire(owner).catch(() => {});
  if (ended.call === undefined || !isAnswered(ended.call.status)) throw claimLost(proof);
}

function checkProof({ ledger }: EngineParts, proof: ClaimProof): void {
  if (!isIssued(ledger, proof, proof.token)) throw claimLost(proof);
}

function isRepeated(call: CallRecord, { attempt }: ClaimProof, end: CallerEnd): boolean {
  if (call.attempt !== attempt || call.status !== end.kind) return false;
  return sameJson(call.result, end.kind === "succeeded" ? end.result : end.error);
}

function claimLost({ attempt }: ClaimProof): CountersignError {
  return new CountersignError("claim-lost", `Attempt ${attempt} does not hold the claim of this call.`, {
    details: { hint: "Do not run the call again. Read it to see its status." },
  });
}

import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type Claimed, isClaimLost, markClaimLost, recordEntry, storedResult } from "../calls/index.ts";
import { sameJson } from "../common/index.ts";
import { wasRecorded } from "../decisions/index.ts";
import { type CallRecord, transact } from "../ledger/index.ts";
import { isAnswered } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import type { StoredCallerCall } from "./caller-outcome.ts";
import { storedCallerTool } from "./caller-tool.ts";
import { type ClaimedAttempt, callerOwner, isIssued } from "./claim.ts";
import type { CallerSnapshot } from "./read.ts";

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
  const held = await transact<CallerSnapshot | undefined>(parts, { call: proof.callId }, async (snapshot) => {
    const { call } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) return { value: undefined };
    const { status, attempt } = call;
    if (status === "executing" && attempt === proof.attempt && call.owner === owner.id)
      return { value: { ...snapshot, call } };
    if (!isClaimLost(call, proof)) return { value: undefined };
    return { ...markClaimLost(parts, { ...snapshot, call }, { attempt: proof.attempt }), value: undefined };
  });
  if (held === undefined || !(await parts.lease.register(owner, leaseMs))) throw claimLost(proof);
  parts.executions.callerClaims.keep(await claimedBy(parts, held, proof), leaseMs);
}

/** The claim as if this process held it, to record how it ended. */
async function claimedBy(
  parts: EngineParts,
  { session, call, confirmation }: CallerSnapshot,
  { attempt, token }: ClaimProof,
): Promise<Claimed> {
  const tool = await storedCallerTool(parts, call);
  const { id: owner } = callerOwner(token);
  return { session, call: { ...call, attempt }, confirmation, frame: undefined, tool, owner };
}

/**
 * Records how a claimed call ended, and returns it. The same report again is accepted. After the claim was lost, a report
 * is stored while the call is `unknown`; otherwise it is only journalled, and `claim-lost` is thrown. `read` is what this
 * command has read of the call.
 */
export async function recordCallerEnd(
  parts: EngineParts,
  read: CallerSnapshot,
  { proof: given, end }: { readonly proof: Omit<ClaimProof, "callId">; readonly end: CallerEnd },
): Promise<StoredCallerCall> {
  const { call, session, confirmation } = read;
  const proof = { ...given, callId: call.id };
  checkProof(parts, proof);
  const outcome =
    end.kind === "succeeded"
      ? { ...end, result: storedResult(end.result, parts.settings.maxResultBytes) }
      : end;
  if (isRepeated(call, proof, outcome)) return read;
  if (await wasToldBefore(parts, call, proof)) throw claimLost(proof);
  const claimed = await claimedBy(parts, read, proof);
  const ended = await recordEntry(parts, claimed, outcome, { snapshot: read });
  parts.executions.callerEnded(claimed, outcome);
  // The lease is of no more use; if this fails, it runs out by itself.
  await parts.ledger.owners.retire(claimed.owner).catch(() => {});
  if (ended.call === undefined || !isAnswered(ended.call.status)) throw claimLost(proof);
  return { call: ended.call, session, confirmation };
}

// Reports that contradict the stored end are journalled once an attempt, so that a caller cannot fill the journal.
async function wasToldBefore(
  { ledger }: EngineParts,
  { id, status, session }: CallRecord,
  { attempt }: ClaimProof,
): Promise<boolean> {
  if (!isAnswered(status)) return false;
  return wasRecorded(
    ledger,
    session,
    ({ kind, body }) => kind === "late-result" && body.call === id && body.attempt === attempt,
  );
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

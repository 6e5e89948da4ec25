import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { type Claimed, planClaim, toolConfirmationOf } from "../calls/index.ts";
import { copyJson } from "../common/index.ts";
import { type Judge, type Ledger, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { StoredCallerCall } from "./caller-outcome.ts";
import type { CallerSnapshot } from "./read.ts";

/** A caller's wish to run a call. */
export interface ClaimRequest {
  readonly by: string;
  /** Chosen by the caller, at random, so that a repeated request is the same claim. Default: chosen here. */
  readonly nonce?: string;
  /** How long the claim lasts without a heartbeat. */
  readonly leaseMs: number;
}

/** The right to run a call once. */
export interface CallerClaim {
  /** Secret: proves the claim in every report. */
  readonly token: string;
  readonly attempt: number;
  /** What to run, with its secrets. */
  readonly args: JsonObject;
  /** What the approver filled in. */
  readonly payload?: JsonValue;
  readonly leaseMs: number;
}

/** One attempt at a call. */
export interface ClaimedAttempt {
  readonly callId: string;
  readonly attempt: number;
}

const NONCE_BYTES = 24;

/** A call that its caller has claimed, as it is stored. */
interface ClaimedCall extends StoredCallerCall {
  readonly claim: CallerClaim;
}

/**
 * Claims a call for its caller; undefined if it may not start now. The claim is committed before the caller is told, so
 * no other claim of this call can be running. `read` is what this command has read of the call.
 */
export async function claimForCaller(
  parts: EngineParts,
  read: CallerSnapshot,
  { by, leaseMs, nonce = randomBytes(NONCE_BYTES).toString("base64url") }: ClaimRequest,
): Promise<ClaimedCall | undefined> {
  const { id: callId } = read.call;
  let taken: Claimed | undefined;
  const judge: Judge<ClaimedCall | undefined> = async (snapshot, last) => {
    taken = undefined;
    const { call, confirmation } = snapshot ?? {};
    if (snapshot === undefined || call?.runs !== "caller") return { value: undefined };
    const ours = tokenFor(parts.ledger, { callId, attempt: call.attempt }, nonce);
    if (call.status === "executing" && call.owner === callerOwner(ours).id)
      return { value: toClaimed({ ...snapshot, call, confirmation }, { token: ours, leaseMs }) };
    if (call.status !== "ready") return { value: undefined };
    const token = tokenFor(parts.ledger, { callId, attempt: call.attempt + 1 }, nonce);
    const owner = callerOwner(token, by);
    await parts.lease.hold();
    // The ledger gave this owner's work away: its lease ran out before the claim.
    if (last === "owner" || !(await parts.lease.register(owner, leaseMs))) throw usedUp();
    const plan = await planClaim(parts, { ...snapshot, call }, { stored: call, caller: owner.id, last });
    taken = plan.value.claimed;
    return { ...plan, value: taken && toClaimed(taken, { token, leaseMs }) };
  };
  const claimed = await transact(parts, { call: callId }, judge, { snapshot: read });
  if (taken !== undefined) parts.executions.callerClaims.keep(taken, leaseMs);
  return claimed;
}

/** The owner under which a caller holds its claim. The journal shows owners, so it must not reveal the token. */
export function callerOwner(
  token: string,
  by = "",
): { readonly id: string; readonly host: string; readonly pid: number } {
  const digest = createHash("sha256").update(token).digest("base64url");
  return { id: `caller-${digest}`, host: `caller ${by}`, pid: 0 };
}

/** Was this token issued for this attempt? A caller could otherwise invent attempts that never were. */
export function isIssued(ledger: Pick<Ledger, "digestKey">, attempt: ClaimedAttempt, token: string): boolean {
  const [nonce = ""] = token.split(".");
  const [given, right] = [token, tokenFor(ledger, attempt, nonce)].map((text) => Buffer.from(text));
  return given !== undefined && right !== undefined && given.length === right.length
    ? timingSafeEqual(given, right)
    : false;
}

function tokenFor(
  { digestKey }: Pick<Ledger, "digestKey">,
  { callId, attempt }: ClaimedAttempt,
  nonce: string,
): string {
  const said = JSON.stringify(["caller-claim-v1", callId, attempt, nonce]);
  return `${nonce}.${createHmac("sha256", digestKey).update(said).digest("base64url")}`;
}

function toClaimed(
  { call, session, confirmation }: StoredCallerCall,
  { token, leaseMs }: { readonly token: string; readonly leaseMs: number },
): ClaimedCall {
  const { payload } = toolConfirmationOf(call, confirmation) ?? {};
  const claim = {
    token,
    attempt: call.attempt,
    args: copyJson(call.args),
    ...(payload === undefined ? {} : { payload }),
    leaseMs,
  };
  return { call, session, confirmation, claim };
}

function usedUp(): CountersignError {
  return new CountersignError("claim-lost", "This claim ran out before the call could start.", {
    details: { hint: "Claim again." },
  });
}

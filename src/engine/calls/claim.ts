import type { ErrorCode } from "../../protocol/index.ts";
import { valueDigest } from "../common/index.ts";
import { countingFor } from "../delegations/index.ts";
import { grantStops, sharedGrant } from "../grants/index.ts";
import { findTool, hostOf, type LiveTool, type StoredCall } from "../host.ts";
import {
  type CallChange,
  type CallRecord,
  type ConfirmationRecord,
  type Draft,
  type FrameRecord,
  type GrantRecord,
  isShared,
  type SessionRecord,
  sharedVersion,
} from "../ledger/index.ts";
import type { CallCommand } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Counting, tally } from "../people/index.ts";
import { questionIsGenuine, voteIsGenuine } from "../questions/index.ts";
import { isPermitted } from "./permit.ts";

/** A call that this process holds and must now run. */
export interface Claimed {
  readonly session: Pick<SessionRecord, "key" | "app" | "user" | "id">;
  readonly call: CallRecord;
  readonly confirmation: ConfirmationRecord | undefined;
  readonly frame: FrameRecord | undefined;
  readonly tool: LiveTool;
  readonly owner: string;
  /** What was committed with the claim; recording the end can start from it. */
  readonly draft?: Draft;
}

/** May the call start in this process now? */
export type Clearance =
  | Cleared
  /** Another process has to run it. */
  | { readonly ok: false; readonly elsewhere: true }
  | Blocked;

/** It may. */
export interface Cleared {
  readonly ok: true;
  readonly tool: LiveTool;
  /** The grant across sessions that let it run: the claim must rely on it. */
  readonly shared?: GrantRecord;
}

/** It must not run: what was approved is not what would run. */
export interface Blocked {
  readonly ok: false;
  readonly elsewhere: false;
  readonly code: ErrorCode;
  readonly reason: string;
  readonly tool?: LiveTool;
}

/**
 * The last check before a call runs. Everything that binds the approval to this call is checked again, whatever was
 * checked when it was given; except a digest of the arguments that was computed in this same function call.
 */
export async function clear(
  parts: EngineParts,
  about: StoredCall,
  {
    now,
    digested = false,
    byCaller = false,
    tool,
    counting,
  }: {
    readonly now: number;
    readonly digested?: boolean;
    readonly byCaller?: boolean;
    /** As its caller has it now. Default: as this process knows it. */
    readonly tool?: LiveTool | undefined;
    /** With what the votes are counted, if the caller has it. */
    readonly counting?: Counting;
  },
): Promise<Clearance> {
  const { call, confirmation } = about;
  const mayRun = call.runs === "caller" ? byCaller : hostOf(parts.hosts, call) !== undefined;
  if (!mayRun) return ELSEWHERE;
  if (!digested && valueDigest(parts.ledger.digestKey, call.args) !== call.argsDigest) {
    return blocked("arguments-altered", "the stored arguments differ from those that were shown");
  }
  const unbound = await checkBinding(parts, call, { confirmation, counting, now });
  if (unbound !== undefined) return blocked(unbound.code, unbound.reason);
  return call.grant === undefined ? judgeNow(parts, about, tool) : clearGranted(parts, about, { now, tool });
}

/** The same, for a call that a grant let run. */
async function clearGranted(
  parts: EngineParts,
  about: StoredCall,
  { now, tool }: { readonly now: number; readonly tool: LiveTool | undefined },
): Promise<Clearance> {
  const { call, session } = about;
  const { grant: use } = call;
  const shared = isShared(use) ? await sharedGrant(parts, use?.id ?? "") : undefined;
  const stopped = grantStops(parts, call, shared ?? ownGrant(call, session), now);
  if (stopped !== undefined) return blocked("withdrawn", stopped);
  const judged = await judgeNow(parts, about, tool);
  return judged.ok && shared !== undefined ? { ...judged, shared } : judged;
}

/** The grant of the session that let the call run. */
function ownGrant(
  { grant: use }: CallRecord,
  { grants = [] }: StoredCall["session"],
): GrantRecord | undefined {
  return isShared(use) ? undefined : grants.find(({ id }) => id === use?.id);
}

/** Has the commit refused if the grant across sessions that let the call run is revoked, used or over by then. */
export function relyOnGrant(draft: Draft, { shared }: Cleared): void {
  if (shared !== undefined) draft.write({ kind: "check", item: sharedVersion(shared) });
}

async function judgeNow(
  parts: EngineParts,
  about: StoredCall,
  tool: LiveTool | undefined,
): Promise<Clearance> {
  if (tool !== undefined) return judgeTool(tool, about);
  const looked = findTool(parts, about.call);
  // An unneeded await would cost every decision one turn of the event loop.
  const found = looked instanceof Promise ? await looked : looked;
  // It is not known now what would run: the decision stays, and a process that knows the tool runs it later.
  return found.here ? judgeTool(found.tool, about) : ELSEWHERE;
}

const ELSEWHERE = { ok: false, elsewhere: true } as const;

async function judgeTool(tool: LiveTool | undefined, about: StoredCall): Promise<Clearance> {
  const { call } = about;
  if (tool === undefined) return blocked("tool-gone", `the tool ${call.tool} no longer exists`);
  if (tool.definitionDigest !== call.definitionDigest) {
    return blocked("definition-changed", `the tool ${call.tool} has changed since it was shown`, tool);
  }
  const judged = tool.denies?.(about);
  const denial = judged instanceof Promise ? await judged : judged;
  return denial === undefined ? { ok: true, tool } : blocked("policy-denied", denial, tool);
}

function blocked(code: ErrorCode, reason: string, tool?: LiveTool): Blocked {
  return { ok: false, elsewhere: false, code, reason, ...(tool === undefined ? {} : { tool }) };
}

async function checkBinding(
  parts: EngineParts,
  call: CallRecord,
  {
    confirmation,
    counting,
    now,
  }: {
    readonly confirmation: ConfirmationRecord | undefined;
    readonly counting: Counting | undefined;
    readonly now: number;
  },
): Promise<{ readonly code: ErrorCode; readonly reason: string } | undefined> {
  const unapproved = { code: "internal", reason: "the call is ready without an approval" } as const;
  // A call without a question must have the permit of a call that needed no approval.
  if (confirmation === undefined)
    return call.rounds === 0 && isPermitted(parts, call) ? undefined : unapproved;
  const approved = confirmation.status === "approved" && confirmation.votes.at(-1)?.confirmed === true;
  if (!approved && !wordsItsDenial(call, confirmation)) return unapproved;
  if (!isAbout(confirmation, call)) {
    return {
      code: "arguments-altered",
      reason: "the approval belongs to a different call or different arguments",
    };
  }
  if (!approved) return questionIsGenuine(parts.secret, confirmation) ? undefined : unsigned("denial");
  return recount(parts, { confirmation, call }, counting ?? (await countingFor(parts, confirmation, now)));
}

function unsigned(what: string): { readonly code: ErrorCode; readonly reason: string } {
  return { code: "signature-invalid", reason: `the stored ${what} has no valid signature` };
}

/** Why the approval does not hold: each vote must be signed and count now, and together they must still approve. */
function recount(
  parts: EngineParts,
  subject: { readonly confirmation: ConfirmationRecord; readonly call: CallRecord },
  counting: Counting,
): { readonly code: ErrorCode; readonly reason: string } | undefined {
  const { secret } = parts;
  const { confirmation } = subject;
  const signed =
    secret === undefined || confirmation.votes.every((vote) => voteIsGenuine(secret, subject, vote));
  if (!signed || !questionIsGenuine(secret, confirmation)) return unsigned("approval");
  if (tally(confirmation, counting).outcome === "approved") return undefined;
  return { code: "not-an-approver", reason: "too few approvals still count" };
}

// Denied or expired; the function runs once more only to word its answer.
function wordsItsDenial(call: CallRecord, { status, shown }: ConfirmationRecord): boolean {
  return call.refused && (status === "denied" || status === "expired") && shown.onDenied === "invoke";
}

/** Is this the question about this call, with these arguments? */
export function isAbout(confirmation: ConfirmationRecord, call: CallRecord): boolean {
  return (
    confirmation.call === call.id &&
    confirmation.session === call.session &&
    confirmation.tool === call.tool &&
    confirmation.argsDigest === call.argsDigest
  );
}

/** The amended arguments of a call; the model's own arguments are stored beside them. */
export function argumentsChange(
  stored: CallRecord,
  call: CallRecord,
): Pick<CallChange, "args" | "argsDigest" | "originalArgs"> {
  if (call.args === stored.args) return {};
  return { args: call.args, argsDigest: call.argsDigest, originalArgs: stored.originalArgs ?? stored.args };
}

/** Claims the call for this owner. The ledger refuses it if another owner was first. */
export function writeClaim(
  draft: Draft,
  input: {
    readonly stored: CallRecord;
    /** The transition that makes it ready in this commit, if it is not ready yet. */
    readonly first?: CallCommand | undefined;
    readonly call: CallRecord;
    readonly owner: string;
  },
): CallRecord {
  const { stored, first, call, owner } = input;
  const update = {
    attempt: call.attempt + 1,
    owner,
    startedAt: draft.now,
    ...(call.refused === stored.refused ? {} : { refused: call.refused }),
    ...(call.lost === stored.lost ? {} : { lost: call.lost ?? 0 }),
    ...(call.settled === stored.settled || call.settled === undefined ? {} : { settled: call.settled }),
    ...argumentsChange(stored, call),
  };
  const commands = first === undefined ? (["claim"] as const) : ([first, "claim"] as const);
  return draft.claimedBy(owner).sync().moveCall(stored, commands, update);
}

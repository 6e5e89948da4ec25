import type { JsonValue } from "../../protocol/index.ts";
import { clear, isPermitted, planClaim, type Taken } from "../calls/index.ts";
import { countingFor } from "../delegations/index.ts";
import { wordingOf, writeAnswer } from "../frames/index.ts";
import { refundGrant } from "../grants/index.ts";
import type { BodyOf, JournalEntry } from "../journal/index.ts";
import {
  type CallRecord,
  type Conflict,
  Draft,
  type Plan,
  type SessionRecord,
  type SettlementRecord,
  type Snapshot,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import {
  type Counting,
  mayApproveForSelf,
  mayJudge,
  type Principal,
  type Ruled,
  ruleOfSettling,
  withoutRight,
} from "../people/index.ts";
import { type Decider, type DecisionTarget, type RefusedDecision, refusal } from "./decision.ts";
import { recordRefusal } from "./refuse.ts";
import { answerAgain, wasRecorded } from "./repeat.ts";

/** What a person says about a call whose outcome is unknown. */
export type Settlement =
  /** It happened, with this result. */
  | { readonly as: "succeeded"; readonly result: JsonValue }
  /**
   * It did not happen, or only in part; do not retry. `happened: false`: not even in part, so a grant that let it
   * run gets back what it took.
   */
  | { readonly as: "failed"; readonly error: string; readonly happened?: false | undefined }
  /** It did not happen; run it again, with the same key. */
  | { readonly as: "retry" };

/** A settlement, and the attempt that it is about, if given. It is refused if there is a later attempt. */
export type SettlementInput = Settlement & { readonly attempt?: number };

export interface Settled extends Taken {
  readonly ok: true;
  /** The same person had already settled this attempt the same way. */
  readonly repeated: boolean;
  /** As it was before. */
  readonly session: SessionRecord;
  readonly call: CallRecord;
}

const NO_GRANTED_RETRY =
  "The call ran under a grant, which allows one run. Settle it as succeeded or failed; the agent can ask for a new call.";

type Held = Snapshot & { readonly call: CallRecord };

/** Settles an `unknown` call. Needs the right to decide the call; the first settlement is final. */
export async function settle(
  parts: EngineParts,
  target: DecisionTarget,
  { settlement, decider }: { readonly settlement: SettlementInput; readonly decider: Decider },
): Promise<Settled | RefusedDecision> {
  return transact<Settled | RefusedDecision>(parts, target, async (named, last) => {
    const snapshot = await withLastQuestion(parts, named);
    const { call, confirmation } = snapshot ?? {};
    if (snapshot === undefined || call === undefined) {
      return { value: unknownTarget(target) };
    }
    const subject = { call, ...(confirmation === undefined ? {} : { confirmation }) };
    const rule = ruleOfSettling(call, confirmation, snapshot.session.user);
    const stranger = strangerTo(rule, decider.by, await countingFor(parts, rule, snapshot.now));
    if (stranger !== undefined) {
      return {
        draft: recordRefusal(parts, { ...snapshot, call }, decider, {
          code: stranger.code,
          what: "settle",
        }),
        value: { ok: false, ...stranger, ...subject },
      };
    }
    const late = tooLate(call, settlement);
    if (late !== undefined) {
      const isSame = await wasRecorded(
        parts.ledger,
        call.session,
        isSettlement(call, settlement, decider.by),
      );
      const stored = { session: snapshot.session, call };
      return { value: answerAgain(isSame, stored, { ...late, ...subject }) };
    }
    if (settlement.as === "retry" && call.grant !== undefined)
      return { value: { ...refusal("not-settleable", NO_GRANTED_RETRY), ...subject } };
    const held = { ...snapshot, call };
    return settlement.as === "retry"
      ? planRetry(parts, held, { decider, last })
      : planEnd(parts, held, { settlement, decider, last });
  });
}

/** Why the call, or this attempt, cannot be settled any more. */
function tooLate(call: CallRecord, { attempt }: SettlementInput): RefusedDecision | undefined {
  if (call.status !== "unknown") {
    const message = `The call is ${call.status}. Only a call whose outcome is unknown can be settled.`;
    return refusal("not-settleable", message);
  }
  if (attempt === undefined || attempt === call.attempt) return undefined;
  return refusal("stale-version", `The unknown attempt is ${call.attempt}, not ${attempt}. Look again.`);
}

/** Is this the same person's settlement of the same attempt? */
function isSettlement(
  call: CallRecord,
  settlement: SettlementInput,
  by: Principal,
): (entry: JournalEntry) => boolean {
  const { as, attempt = call.attempt } = settlement;
  return ({ kind, body }) =>
    kind === "call-settled" &&
    body.call === call.id &&
    body.as === as &&
    body.happened === notHappened(settlement).happened &&
    body.attempt === attempt &&
    body.by.id === by.id;
}

function unknownTarget(target: DecisionTarget): RefusedDecision {
  return "call" in target
    ? refusal("unknown-call", `There is no call ${target.call}.`)
    : refusal("unknown-confirmation", `There is no confirmation ${target.confirmation}.`);
}

function strangerTo(
  rule: Ruled,
  by: Principal,
  counting: Counting,
): Pick<RefusedDecision, "code" | "message"> | undefined {
  if (!mayApproveForSelf(rule, by, counting))
    return { code: "not-an-approver", message: `${by.id} may not settle this.` };
  return mayJudge(by) ? undefined : { code: "forbidden", message: withoutRight(by) };
}

// The rule of the call's last question says who may settle it, whichever question the caller names.
async function withLastQuestion(
  { ledger }: EngineParts,
  named: Snapshot | undefined,
): Promise<Snapshot | undefined> {
  const { call, confirmation } = named ?? {};
  if (call === undefined || call.confirmation === confirmation?.id) return named;
  return ledger.load({ call: call.id });
}

async function planEnd(
  parts: EngineParts,
  { call, confirmation, frame, session, now }: Held,
  about: {
    readonly settlement: Exclude<Settlement, { as: "retry" }>;
    readonly decider: Decider;
    readonly last: Conflict | undefined;
  },
): Promise<Plan<Settled>> {
  const { settlement, last } = about;
  const owner = frame === undefined ? undefined : await parts.lease.hold();
  const draft = new Draft(parts, now, session).sync();
  const succeeded = settlement.as === "succeeded";
  const said = { as: settlement.as, ...notHappened(settlement) };
  // Who may write to the database must not fill up a grant with a call that it did not let run.
  const refunded =
    said.happened === false && isPermitted(parts, call) && (await refundGrant(parts, draft, call));
  const answered = writeAnswer(parts, draft, {
    call,
    frame,
    // A denied call stays denied: only its own answer to the denial is unknown.
    command: call.refused ? wordingOf(confirmation) : succeeded ? "settle-succeeded" : "settle-failed",
    result: succeeded ? settlement.result : { error: settlement.error },
    settled: { ...settlementOf(said, about.decider, now), ...(refunded ? { refunded } : {}) },
    owner,
    last,
  });
  const { status } = answered.call;
  draft.journal("call-settled", { ...settlementBody(call, said, about.decider), status });
  return { draft, value: { ok: true, repeated: false, session, ...answered } };
}

async function planRetry(
  parts: EngineParts,
  held: Held,
  { decider, last }: { readonly decider: Decider; readonly last: Conflict | undefined },
): Promise<Plan<Settled | RefusedDecision>> {
  const { call: stored, session } = held;
  const clearance = await clear(parts, held, held);
  if (!clearance.ok && !clearance.elsewhere) {
    const message = `It cannot be run again: ${clearance.reason}. Settle it as succeeded or failed.`;
    return { value: { ok: false, code: clearance.code, message, call: stored } };
  }
  const draft = new Draft(parts, held.now, held.session).sync();
  draft.journal("call-settled", settlementBody(stored, { as: "retry" }, decider));
  const settled = settlementOf({ as: "retry" }, decider, held.now);
  // "It did not happen" also applies to the step with the unknown outcome: it runs again.
  for (const step of await parts.ledger.steps(stored.id)) {
    if (step.status === "started")
      draft.write({ kind: "step", step: { ...step, status: "undone" }, from: "started" });
  }
  const retried = { ...held, call: { ...stored, settled } };
  const plan = await planClaim(parts, retried, { stored, first: "settle-retry", last, draft });
  if (plan.draft !== undefined)
    return {
      draft: plan.draft,
      value: { ok: true, repeated: false, session, ...plan.value, call: plan.value.call ?? stored },
    };
  const call = draft.moveCall(stored, "settle-retry", { owner: null, settled });
  return { draft, value: { ok: true, repeated: false, session, call } };
}

type Said = Pick<SettlementRecord, "as" | "happened">;

function notHappened(settlement: Settlement): Pick<SettlementRecord, "happened"> {
  return settlement.as === "failed" && settlement.happened === false ? { happened: false } : {};
}

function settlementOf(said: Said, { by, via }: Decider, at: number): SettlementRecord {
  const { id, kind, authenticated } = by;
  return { ...said, by: { id, kind, authenticated }, via, at };
}

function settlementBody(call: CallRecord, said: Said, { by, via }: Decider): BodyOf<"call-settled"> {
  const { id, kind, authenticated } = by;
  return {
    call: call.id,
    tool: call.tool,
    attempt: call.attempt,
    ...said,
    by: { id, kind, authenticated },
    via,
  };
}

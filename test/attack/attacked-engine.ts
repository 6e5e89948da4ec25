import { expect, onTestFinished } from "vitest";
import type { AskedCall, CallRecord, DecisionInput, Principal } from "../../src/engine/index.ts";
import { OutcomeUnknown, oneApproval } from "../../src/engine/index.ts";
import { CountersignError, decodeAnswers, type ErrorCode } from "../../src/protocol/index.ts";
import { createDatabaseFile, type Dump } from "./support/database.ts";
import { ANA, BOB, type EngineFixture, MANAGER, openEngineFixture } from "./support/engine-fixture.ts";

/** What an attack came to. `dropped`: nobody could be told, because the answer named no call. */
export type Verdict = ErrorCode | "dropped" | "accepted" | `threw ${string}`;

/** An engine with open and closed questions of every kind that an attacker might want. */
export interface AttackedEngine {
  readonly fixture: EngineFixture;
  /** Ana's, open, hers to decide. */
  readonly pay: AskedCall;
  /** Ana's, open, for a manager who is not Ana. */
  readonly wire: AskedCall;
  /** Ana's, open, for anybody but Ana. */
  readonly peer: AskedCall;
  /** Ana's, open, wants a payload `{ approvedDays }`. */
  readonly leave: AskedCall;
  /** Ana's, open; she may change `amount`, and above 100 only a manager may approve. */
  readonly draft: AskedCall;
  /** Bob's, open, his to decide. */
  readonly bobs: AskedCall;
  readonly approved: AskedCall;
  readonly denied: AskedCall;
  readonly expired: AskedCall;
  readonly withdrawn: AskedCall;
  /** Approved, started, and nobody knows how it ended. */
  readonly lost: AskedCall;
  /** A gated function, with one call open under the key `order-17`. */
  readonly refund: (args: unknown, key?: string) => Promise<unknown>;
  /** Every entry into any body, gated functions too. */
  readonly runs: () => number;
  readonly dump: (options?: { readonly withoutVersions?: boolean }) => Dump;
  /** As the run API takes it: parts of a user's message, decoded, and each readable answer decided. */
  readonly answer: (...parts: readonly unknown[]) => Promise<Verdict>;
  /** As any other way in takes it: one decision, from code that the compiler may not have seen. */
  readonly decide: (input: Record<string, unknown>, by?: Principal) => Promise<Verdict>;
}

export const NAME = "adk_request_confirmation";

/** One answer on Google's wire. */
export function response(id: string | undefined, body: unknown): unknown {
  return { functionResponse: { ...(id === undefined ? {} : { id }), name: NAME, response: body } };
}

export async function openAttackedEngine(): Promise<AttackedEngine> {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const fixture = await openEngineFixture({ url: file.url });
  fixture.app.define("draft", { amend: async (_about, args) => judgeDraft(args) });
  fixture.app.define("lose", {
    run: async () => {
      throw new OutcomeUnknown("the line went dead");
    },
  });
  const questions = await askQuestions(fixture);
  let refunds = 0;
  const refund = fixture.engine.gate(
    "refund",
    { parameters: REFUND, requireConfirmation: true, approvers: "requester" },
    async () => {
      refunds += 1;
      return null;
    },
  );
  await refund({ amount: 5 }, { key: "order-17", by: ANA });
  const decide = async (input: Record<string, unknown>, by: Principal = ANA): Promise<Verdict> =>
    verdictOf(() =>
      fixture.engine.decisions.decide(input as unknown as DecisionInput, { by, via: "attack" }),
    );
  return {
    fixture,
    ...questions,
    refund: (args, key = "order-18") => refund(args, { key, by: ANA }),
    runs: () => fixture.app.runs.length + refunds,
    dump: (options) => file.dump(options),
    decide,
    answer: async (...parts) => {
      const { decisions, refused, warnings } = decodeAnswers({ role: "user", parts });
      const verdicts: Verdict[] = refused.map(({ code }) => code);
      for (const decision of decisions) verdicts.push(await decide({ ...decision }));
      return oneOf([...verdicts, ...warnings.map(() => "dropped" as const)]);
    },
  };
}

async function askQuestions(fixture: EngineFixture) {
  const managers = { requirements: oneApproval({ roles: ["manager"], notRequester: true }) };
  const questions = {
    pay: await fixture.ask({ tool: "pay", args: { amount: 5 } }),
    wire: await fixture.ask({ tool: "wire", args: { amount: 9000 }, question: managers }),
    peer: await fixture.ask({
      tool: "peer",
      question: { requirements: oneApproval({ notRequester: true }) },
    }),
    leave: await fixture.ask({ tool: "leave", args: { days: 5 }, question: { shown: { schema: LEAVE } } }),
    draft: await fixture.ask({ tool: "draft", args: DRAFT, question: { shown: { amendable: ["amount"] } } }),
    bobs: await fixture.ask({ tool: "pay", args: { amount: 7 } }, "bob"),
    approved: await fixture.ask({ tool: "approved" }),
    denied: await fixture.ask({ tool: "denied" }),
    expired: await fixture.ask({ tool: "expired", question: { expiresInMs: 1000 } }),
    withdrawn: await fixture.ask({ tool: "withdrawn" }),
    lost: await fixture.ask({ tool: "lose", question: managers }),
  };
  const { approved, denied, expired, withdrawn, lost } = questions;
  await fixture.engine.approve(approved.confirmation.id, { by: ANA, payload: { note: "ok" } });
  await fixture.engine.deny(denied.confirmation.id, { by: ANA });
  await fixture.engine.decisions.cancel(withdrawn.confirmation.id, { by: ANA, reason: "off" });
  await fixture.engine.approve(lost.confirmation.id, { by: MANAGER });
  await fixture.clock.advance(1000);
  await fixture.engine.work({ once: true });
  expect(await statuses(fixture, [approved, denied, expired, withdrawn, lost])).toEqual([
    "succeeded",
    "denied",
    "expired",
    "cancelled",
    "unknown",
  ]);
  return questions;
}

async function statuses(
  fixture: EngineFixture,
  asked: readonly AskedCall[],
): Promise<readonly CallRecord["status"][]> {
  return (await fixture.ledger.calls(asked.map(({ call }) => call.id))).map(({ status }) => status);
}

export const DRAFT = { amount: 5, to: "bob" };
const LEAVE = {
  type: "object",
  properties: { approvedDays: { type: "integer" } },
  required: ["approvedDays"],
  additionalProperties: false,
};
const REFUND = {
  type: "object",
  properties: { amount: { type: "number" }, note: {} },
  required: ["amount"],
  additionalProperties: false,
};

function judgeDraft(args: { readonly [key: string]: unknown }) {
  const amount = args["amount"];
  if (typeof amount !== "number") {
    return { ok: false, code: "arguments-mismatch", field: "amount", message: "must be a number" } as const;
  }
  if (amount > 1000) return { ok: false, code: "policy-denied", message: "never" } as const;
  const approvers = amount > 100 ? { roles: ["manager"] } : ("requester" as const);
  return {
    ok: true,
    args: { amount, to: "bob" },
    requirements: oneApproval(approvers),
    shown: { hint: "Pay?", why: ["test"] },
  } as const;
}

/** What came of it, in one word. */
export async function verdictOf(attempt: () => Promise<unknown>): Promise<Verdict> {
  try {
    const outcome = (await attempt()) as { readonly ok?: boolean; readonly code?: ErrorCode };
    return outcome.ok === false ? (outcome.code ?? "internal") : "accepted";
  } catch (error) {
    return CountersignError.isInstance(error) ? error.code : `threw ${String(error)}`;
  }
}

function oneOf(verdicts: readonly Verdict[]): Verdict {
  const [verdict, ...others] = [...new Set(verdicts)];
  expect(others).toEqual([]);
  return verdict ?? "accepted";
}

export { ANA, BOB, MANAGER };

import { setTimeout } from "node:timers/promises";
import type { CallRecord, ConfirmationRecord, Engine, Settlement } from "../../src/engine/index.ts";
import type { LedgerView } from "../support/ledger/ledger-view.ts";
import { fractionOf } from "../support/random.ts";
import { CHIEF, VOTERS } from "./gates.ts";
import { complain, type LifeOptions, tell } from "./life.ts";

const BOSS = { by: { id: "boss" } };
const MOST_RETRIES = 3;
// So long after a question those who quarrel about it have all heard of it.
const QUARREL_AFTER_MS = 60;

const NOT_AGAIN: Settlement = { as: "failed", error: "it cannot be run again" };

type Verdict = "approve" | "deny" | "withdraw" | "ignore";
type PeopleOptions = Pick<LifeOptions, "seed" | "settle" | "share" | "quarrel">;

/**
 * The people of a run: they look at what is open and do what they always would have done about it. Nothing is
 * remembered between looks, so whoever comes after a crash does the same.
 */
export class People {
  readonly #engine: Engine;
  readonly #view: LedgerView;
  readonly #options: PeopleOptions;
  readonly #busyWith = new Set<string>();

  constructor(engine: Engine, view: LedgerView, options: PeopleOptions) {
    this.#engine = engine;
    this.#view = view;
    this.#options = options;
  }

  /** Takes up whatever is open and not in hand yet. Does not wait for it. */
  async look(): Promise<void> {
    const { ledger } = this.#engine;
    const open = await ledger.confirmations({ state: "open" }, { limit: 100 });
    for (const { confirmation } of open.items) this.#once(confirmation.id, () => this.#decide(confirmation));
    if (!this.#options.settle) return;
    const unknown = await ledger.unknownCalls({ limit: 100 });
    for (const call of unknown.items) this.#once(`${call.id} ${call.attempt}`, () => this.#settleCall(call));
  }

  #once(id: string, work: () => Promise<void>): void {
    if (this.#busyWith.has(id)) return;
    this.#busyWith.add(id);
    work()
      .catch(complain)
      .finally(() => this.#busyWith.delete(id))
      .catch(() => {});
  }

  async #decide(confirmation: ConfirmationRecord): Promise<void> {
    const { id, session } = confirmation;
    if (confirmation.tool === "votes") return this.#vote(confirmation);
    const verdict = await this.#verdict(confirmation);
    if (verdict === "ignore") return;
    if (verdict === "withdraw") {
      const cancelled = await this.#engine.decisions.cancel(id, { ...BOSS, reason: "no longer wanted" });
      if (cancelled.ok) tell({ type: "withdrawn", confirmation: id, session });
      return;
    }
    // Some click twice.
    const clicks = this.#fraction(id, "clicks") < 0.3 ? 2 : 1;
    await Promise.all(
      Array.from({ length: clicks }, () => this.#submit(confirmation, verdict === "approve")),
    );
  }

  /** The first voter changes their mind, the second one stays, and the chief fills in for the first. */
  async #vote({ id, session, votes, escalations = [] }: ConfirmationRecord): Promise<void> {
    const { decisions, ledger } = this.#engine;
    const [first = "", second = ""] = VOTERS;
    const records = await ledger.journal.sessionRecords(session, { after: 0, limit: 100 });
    const changed = records.some(({ kind }) => kind === "vote-withdrawn");
    if (!changed && votes.length > 0) {
      const taken = await decisions.withdrawVote(id, { by: { id: first } });
      if (taken.ok) tell({ type: "unvoted", confirmation: id, by: first });
      return;
    }
    const reached = escalations.some((one) => one.reached);
    if (changed && votes.length > 0 && !reached) return;
    const by = !changed ? first : votes.length === 0 ? second : CHIEF;
    const receipt = await decisions.decide({ id, confirmed: true }, { by: { id: by } });
    if (!receipt.ok) tell({ type: "refused", confirmation: id, code: receipt.code });
    else if (receipt.confirmation.status === "requested") tell({ type: "voted", confirmation: id, by });
    else tell({ type: "decided", confirmation: id, session, confirmed: true });
  }

  async #submit({ id, session }: ConfirmationRecord, confirmed: boolean): Promise<void> {
    const receipt = await this.#engine.decisions.decide({ id, confirmed }, BOSS);
    if (!receipt.ok) {
      tell({ type: "refused", confirmation: id, code: receipt.code });
      return;
    }
    tell({ type: "decided", confirmation: id, session, confirmed });
    if (this.#fraction(id, "waits") > 0.3) return;
    const call = await this.#engine.finished(receipt.call.id);
    tell({ type: "finished", call: call.id, status: call.status });
  }

  async #verdict(confirmation: ConfirmationRecord): Promise<Verdict> {
    const { tool, call, round, session } = confirmation;
    const number = numberOf(call);
    switch (tool) {
      case "deny":
      case "refund":
        return "deny";
      case "withdraw":
        return "withdraw";
      case "defer":
        return (await this.#view.framesOf(session)).length < 2 ? "ignore" : "approve";
      case "expire":
        return number % 3 === 0 ? "approve" : "ignore";
      case "worded":
        return (["deny", "ignore", "approve"] as const)[number % 3] ?? "deny";
      case "asks":
        return number % 4 === 3 && round === 1 ? "deny" : "approve";
      default:
        return this.#quarrel(confirmation);
    }
  }

  /** What these people say where others may say something else at the same moment. */
  async #quarrel({ id, requestedAt }: ConfirmationRecord): Promise<Verdict> {
    const { quarrel = 0, share } = this.#options;
    if (this.#fraction(id, "quarrel") >= quarrel) return "approve";
    // The ledger's clock is the machine's.
    await setTimeout(Math.max(0, requestedAt + QUARREL_AFTER_MS - Date.now()));
    const first = this.#fraction(id, "first side") < 0.5 ? 0 : 1;
    return (share.index + first) % 2 === 0 ? "approve" : "deny";
  }

  #fraction(...words: readonly (string | number)[]): number {
    return fractionOf(this.#options.seed, ...words);
  }

  async #settleCall(call: CallRecord): Promise<void> {
    const settlement = this.#settlement(call);
    const acting = call.tool === "votes" ? { by: { id: CHIEF } } : BOSS;
    // What lost its approval cannot be run again; then they say so.
    for (const said of [settlement, NOT_AGAIN]) {
      const settled = await this.#engine.decisions.settle({ call: call.id }, said, acting);
      if (settled.ok) tell({ type: "settled-call", call: call.id, as: said.as });
      if (settled.ok || said.as !== "retry") return;
    }
  }

  #settlement({ id, attempt }: CallRecord): Settlement {
    const mood = this.#fraction(wordOf(id), attempt, "settle");
    if (mood < 0.5 && attempt <= MOST_RETRIES) return { as: "retry" };
    return mood < 0.75 ? { as: "succeeded", result: "seen by a person" } : { as: "failed", error: "gone" };
  }
}

// So that of any few sessions of a kind in a row each verdict is given.
function numberOf(callId: string): number {
  return Number(/\d+$/.exec(callId)?.[0] ?? 0);
}

// Session keys are random; the call's own name is the same in every run with this seed.
function wordOf(callId: string): string {
  return callId.slice(callId.indexOf(".") + 1);
}

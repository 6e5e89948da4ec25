import { CountersignError, type JsonValue } from "../../protocol/index.ts";
import type { Executions } from "../calls/index.ts";
import type { ConfirmationRecord, Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type PrincipalInput, toPrincipal } from "../people/index.ts";
import {
  type AskedCall,
  judgePayloadHere,
  noteSighting,
  type PayloadOutcome,
  type Seen,
} from "../questions/index.ts";
import { decide, staleness } from "./decide.ts";
import {
  type Decided,
  type Decider,
  type DecisionInput,
  type DecisionTarget,
  type RefusedDecision,
  refusal,
  type UsedUp,
} from "./decision.ts";
import { judgeOnce, type OnceKey } from "./once.ts";
import { noteRefusal, type Tried } from "./refuse.ts";
import { type Settled, type SettlementInput, settle } from "./settle.ts";
import { type Cancelled, cancel } from "./withdraw.ts";
import { type VoteWithdrawn, withdrawVote } from "./withdraw-vote.ts";

/** Who acts, and how it was sent (`via`). A host program needs to give only the id. */
export interface Acting {
  readonly by: PrincipalInput;
  /** Recorded with what is done; `host` by default. */
  readonly via?: string;
}

const HOST_DOOR = "host";

/**
 * Decisions with the records they are about, for the other parts of this package. Each one starts the call that follows
 * from it in this process.
 */
export class Decisions {
  readonly #parts: EngineParts;
  readonly #executions: Executions;

  constructor(parts: EngineParts, executions: Executions) {
    this.#parts = parts;
    this.#executions = executions;
  }

  /**
   * Decides one confirmation. Resolves once committed, with what it uses up. A caller that has just read the confirmation
   * passes it on, so that it is not read again.
   */
  async decide(
    input: DecisionInput,
    acting: Acting,
    seen?: Snapshot,
    uses?: UsedUp,
  ): Promise<Decided | RefusedDecision> {
    const attributes = { "countersign.confirmation": input.id };
    const decided = await this.#parts.trace({ name: "decide", attributes }, async (link) => {
      const result = await decide(this.#parts, input, { ...toDecider(acting), seen, uses });
      if (result.ok) link?.(result.confirmation.traceparent);
      return result;
    });
    this.#follow(decided);
    return decided;
  }

  /**
   * Decides many, each on its own: one that is refused does not affect the others. With a key, a request that comes again
   * decides only what it has not decided before.
   */
  async decideAll(
    inputs: readonly DecisionInput[],
    acting: Acting,
    key?: OnceKey,
  ): Promise<readonly (Decided | RefusedDecision)[]> {
    const results: (Decided | RefusedDecision)[] = [];
    for (const [place, input] of inputs.entries()) {
      const decided =
        key === undefined
          ? this.decide(input, acting)
          : this.decideOnce(input, acting, { ...key, id: `${key.id}.${place}` });
      results.push(await decided.catch(toRefusal));
    }
    return results;
  }

  /** Decides one confirmation for a request with a key: if the request comes again, it decides nothing. */
  async decideOnce(
    input: DecisionInput,
    acting: Acting,
    key: OnceKey,
    seen?: Snapshot,
  ): Promise<Decided | RefusedDecision> {
    const { ledger } = this.#parts;
    return judgeOnce<Decided>(ledger, key, {
      judge: (uses) => this.decide(input, acting, seen, uses),
      again: async () => {
        const { session, confirmation, call } = (await ledger.load({ confirmation: input.id })) ?? {};
        if (session === undefined || confirmation === undefined || call === undefined)
          return refusal("unknown-confirmation", `There is no confirmation ${input.id}.`);
        return { ok: true, repeated: true, session, confirmation, call };
      },
    });
  }

  /** Withdraws an open question, or an approval whose call has not started. */
  async cancel(
    id: string,
    acting: Acting & { readonly reason: string },
  ): Promise<Cancelled | RefusedDecision> {
    const cancelled = await cancel(this.#parts, id, { ...toDecider(acting), reason: acting.reason });
    this.#follow(cancelled);
    return cancelled;
  }

  /** Withdraws one's own vote while the question is open. */
  async withdrawVote(id: string, acting: Acting, uses?: UsedUp): Promise<VoteWithdrawn | RefusedDecision> {
    return withdrawVote(this.#parts, id, { ...toDecider(acting), uses });
  }

  /** Notes that somebody has opened an open question. Changes nothing that is shown or decided. */
  async noteSighting(id: string, acting: Acting): Promise<Seen | undefined> {
    return noteSighting(this.#parts, id, toDecider(acting));
  }

  /** Settles a call whose outcome is unknown. */
  async settle(
    target: DecisionTarget,
    settlement: SettlementInput,
    acting: Acting,
  ): Promise<Settled | RefusedDecision> {
    const settled = await settle(this.#parts, target, { settlement, decider: toDecider(acting) });
    this.#follow(settled);
    return settled;
  }

  /** Records that somebody was refused before the confirmation's rule was asked. Changes nothing else. */
  async noteRefusal(target: DecisionTarget, tried: Tried, acting: Acting): Promise<boolean> {
    return noteRefusal(this.#parts, target, { decider: toDecider(acting), tried });
  }

  /**
   * Would an approval with this payload be accepted, as far as this process knows? For callers that take all decisions
   * or none.
   */
  async judgePayload(asked: AskedCall, payload: JsonValue | undefined): Promise<PayloadOutcome> {
    return judgePayloadHere(this.#parts, asked, payload);
  }

  /** Why a decision is not about what is shown now; undefined if it is. For callers that take all decisions or none. */
  staleness(confirmation: ConfirmationRecord, input: DecisionInput): string | undefined {
    return staleness(confirmation, input);
  }

  #follow(result: Decided | Cancelled | Settled | RefusedDecision): void {
    if ("claimed" in result && result.claimed !== undefined) this.#executions.start(result.claimed);
    if (result.stepping !== undefined) this.#executions.step(result.stepping);
    const { call } = result;
    // Denied, but the tool words its own answer, so its function must run.
    if (call?.status === "ready" && call.refused) this.#executions.pursue(call.id);
  }
}

/** Who acted, and by which way in. */
export function toDecider({ by, via = HOST_DOOR }: Acting): Decider {
  return { by: toPrincipal(by), via };
}

// Thrown before anything was committed, so it affects only this decision.
function toRefusal(error: unknown): RefusedDecision {
  if (CountersignError.isInstance(error)) return refusal(error.code, error.message);
  return refusal(
    "internal",
    "The decision could not be checked, so it was not taken. Decide it alone to see why.",
  );
}

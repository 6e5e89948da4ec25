import { CountersignError } from "../../protocol/index.ts";
import type { Ledger, Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type CallerOutcome, callerOutcome, type StoredCallerCall } from "./caller-outcome.ts";
import { type CallerClaim, type ClaimRequest, claimForCaller } from "./claim.ts";
import { readCallKey } from "./key.ts";
import type { Proposal } from "./proposal.ts";
import { propose } from "./propose.ts";
import { type CallerEnd, type ClaimProof, recordCallerEnd, renewClaim } from "./report.ts";

/** A caller's own call: nobody else's key names it. */
export interface CallerRef {
  readonly by: string;
  readonly key: string;
}

/** Calls that their callers run. Every method answers with the call as it is then. */
export class CallerCalls {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Asks for a call. The same key again gives the same call. Throws `key-reused` for a different one. */
  async propose(proposal: Proposal): Promise<CallerOutcome> {
    const id = await propose(this.#parts, proposal);
    return callerOutcome(this.#found(await this.#ledger.load({ call: id }), proposal.key));
  }

  /** The call as it is now. Throws `unknown-call`. */
  async read(ref: CallerRef): Promise<CallerOutcome> {
    return callerOutcome(await this.#find(ref));
  }

  /** Claims the call, if it is allowed; otherwise `claim` is undefined, and the outcome says why. */
  async claim(
    ref: CallerRef,
    request: Pick<ClaimRequest, "nonce" | "leaseMs">,
  ): Promise<{ readonly outcome: CallerOutcome; readonly claim?: CallerClaim }> {
    const { call } = await this.#find(ref);
    const claim = await claimForCaller(this.#parts, { ...request, callId: call.id, by: ref.by });
    const outcome = await this.read(ref);
    return claim === undefined ? { outcome } : { outcome, claim };
  }

  /** Renews a claim. Throws `claim-lost`. */
  async heartbeat(
    ref: CallerRef,
    { leaseMs, ...proof }: Omit<ClaimProof, "callId"> & { readonly leaseMs: number },
  ): Promise<void> {
    const { call } = await this.#find(ref);
    await renewClaim(this.#parts, { ...proof, callId: call.id }, { by: ref.by, leaseMs });
  }

  /** Records how the claimed call ended. Throws `claim-lost`. */
  async end(ref: CallerRef, proof: Omit<ClaimProof, "callId">, end: CallerEnd): Promise<CallerOutcome> {
    const { call } = await this.#find(ref);
    await recordCallerEnd(this.#parts, { ...proof, callId: call.id }, end);
    return this.read(ref);
  }

  get #ledger(): Ledger {
    return this.#parts.ledger;
  }

  async #find({ by, key }: CallerRef): Promise<Snapshot & StoredCallerCall> {
    const bound = await readCallKey(this.#ledger.items, { by, key });
    const thread = bound && (await this.#ledger.load({ session: bound.session }));
    const snapshot = thread && (await this.#ledger.load({ call: `${thread.session.key}.${key}` }));
    return this.#found(snapshot, key);
  }

  #found(snapshot: Snapshot | undefined, key: string): Snapshot & StoredCallerCall {
    const { call } = snapshot ?? {};
    if (snapshot !== undefined && call?.runs === "caller") return { ...snapshot, call };
    throw new CountersignError("unknown-call", `You have no call with the key "${key}".`);
  }
}

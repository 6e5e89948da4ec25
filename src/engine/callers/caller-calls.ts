import { CountersignError } from "../../protocol/index.ts";
import { untilDecided, untilEnded, type WaitOptions } from "../calls/index.ts";
import type { Ledger, Snapshot } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type PrincipalInput, toPrincipal } from "../people/index.ts";
import { type CallerOutcome, callerOutcome, type StoredCallerCall } from "./caller-outcome.ts";
import { cancelCall, cancelThread } from "./cancel.ts";
import { type CallerClaim, type ClaimRequest, claimForCaller } from "./claim.ts";
import { callerSession, readCallKey } from "./key.ts";
import type { Proposal } from "./proposal.ts";
import { propose } from "./propose.ts";
import { type OnReady, type OnReadyOptions, type ReadyNotices, startReadyNotices } from "./ready-notices.ts";
import { type CallerEnd, type ClaimProof, recordCallerEnd, renewClaim } from "./report.ts";
import { type CallerBody, runHere } from "./run-here.ts";

/** A caller's own call: nobody else's key names it. */
export interface CallerRef {
  readonly by: string;
  readonly key: string;
}

/** A caller's own thread. */
export interface CallerThread {
  readonly by: string;
  readonly app: string;
  readonly thread: string;
}

/** A call that a program asks for, and how people are asked about it. */
export type CallRequest = Omit<Proposal, "by"> & { readonly by: PrincipalInput };

/**
 * Calls that their callers run, in this process (`run`) or in a program of any language (`claim`, `heartbeat`, `end`).
 * Every method answers with the call as it is then.
 */
export class CallerCalls {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Asks for a call, and runs nothing. Repeating the key returns the same call. Throws `key-reused` for a different one. */
  async propose(request: CallRequest): Promise<CallerOutcome> {
    const id = await propose(this.#parts, toProposal(request));
    return this.#outcome(id, request.key);
  }

  /**
   * Asks for a call as `propose` does, and runs it here if it may start: once, whoever else tries. If it runs elsewhere,
   * waits for its end. If the tool has changed since people were asked, they are asked again.
   */
  async run(request: CallRequest, body: CallerBody, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const proposal = toProposal(request);
    const id = await propose(this.#parts, proposal);
    await runHere(this.#parts, id, { proposal, body, wait });
    return this.#outcome(id, request.key);
  }

  /** The call as it is now. Throws `unknown-call`. */
  async read(ref: CallerRef): Promise<CallerOutcome> {
    return callerOutcome(found(await this.#find(ref), ref.key));
  }

  /** The call as it is now, if there is one. Creates nothing. A call whose process is lost is recovered first. */
  async find(ref: CallerRef): Promise<CallerOutcome | undefined> {
    const stored = await this.#find(ref);
    if (!isCallers(stored)) return undefined;
    if (stored.call.status !== "executing") return callerOutcome(stored);
    await this.#parts.recoverLost(stored.call.id);
    return this.#outcome(stored.call.id, ref.key);
  }

  /**
   * Resolves when the call has ended or its outcome is unknown, or to the call as it is after `timeoutMs`. Throws
   * `unknown-call`.
   */
  async finished(ref: CallerRef, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const { call } = found(await this.#find(ref), ref.key);
    await untilEnded(this.#parts, call.id, wait);
    return this.#outcome(call.id, ref.key);
  }

  /** As `finished`, and also resolves when the call is allowed: when its caller can go on. Throws `unknown-call`. */
  async decided(ref: CallerRef, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const { call } = found(await this.#find(ref), ref.key);
    await untilDecided(this.#parts, call.id, wait);
    return this.#outcome(call.id, ref.key);
  }

  /** Withdraws the call if it has not started, for this reason. Otherwise nothing changes. Throws `unknown-call`. */
  async cancel(ref: CallerRef, reason: string): Promise<CallerOutcome> {
    const { call } = found(await this.#find(ref), ref.key);
    await cancelCall(this.#parts, call.id, reason);
    return this.#outcome(call.id, ref.key);
  }

  /** Withdraws all calls of a thread that have not started: the conversation went on without them. Returns how many. */
  async cancelThread(thread: CallerThread, reason: string): Promise<number> {
    return cancelThread(this.#parts, callerSession(thread), reason);
  }

  /**
   * Calls `handle` when every question of a turn is answered, by a person, by a deadline or by a settlement: at least once
   * for each turn, whichever process dies. Processes with the same app share the work.
   */
  onReady(options: OnReadyOptions, handle: OnReady): ReadyNotices {
    return startReadyNotices(this.#parts, options, handle);
  }

  /** Claims the call, if it is allowed; otherwise `claim` is undefined, and the outcome says why. */
  async claim(
    ref: CallerRef,
    request: Pick<ClaimRequest, "nonce" | "leaseMs">,
  ): Promise<{ readonly outcome: CallerOutcome; readonly claim?: CallerClaim }> {
    const { call } = found(await this.#find(ref), ref.key);
    const claim = await claimForCaller(this.#parts, { ...request, callId: call.id, by: ref.by });
    const outcome = await this.read(ref);
    return claim === undefined ? { outcome } : { outcome, claim };
  }

  /** Renews a claim. Throws `claim-lost`. */
  async heartbeat(
    ref: CallerRef,
    { leaseMs, ...proof }: Omit<ClaimProof, "callId"> & { readonly leaseMs: number },
  ): Promise<void> {
    const { call } = found(await this.#find(ref), ref.key);
    await renewClaim(this.#parts, { ...proof, callId: call.id }, { by: ref.by, leaseMs });
  }

  /** Records how the claimed call ended. Throws `claim-lost`. */
  async end(ref: CallerRef, proof: Omit<ClaimProof, "callId">, end: CallerEnd): Promise<CallerOutcome> {
    const { call } = found(await this.#find(ref), ref.key);
    await recordCallerEnd(this.#parts, { ...proof, callId: call.id }, end);
    return this.read(ref);
  }

  get #ledger(): Ledger {
    return this.#parts.ledger;
  }

  async #outcome(id: string, key: string): Promise<CallerOutcome> {
    return callerOutcome(found(await this.#ledger.load({ call: id }), key));
  }

  async #find({ by, key }: CallerRef): Promise<Snapshot | undefined> {
    const bound = await readCallKey(this.#ledger.items, { by, key });
    const thread = bound && (await this.#ledger.load({ session: bound.session }));
    return thread && this.#ledger.load({ call: `${thread.session.key}.${key}` });
  }
}

function toProposal({ by, ...request }: CallRequest): Proposal {
  return { ...request, by: toPrincipal(by) };
}

function isCallers(snapshot: Snapshot | undefined): snapshot is Snapshot & StoredCallerCall {
  return snapshot?.call?.runs === "caller";
}

function found(snapshot: Snapshot | undefined, key: string): Snapshot & StoredCallerCall {
  if (isCallers(snapshot)) return snapshot;
  throw new CountersignError("unknown-call", `You have no call with the key "${key}".`);
}

import { isDecided, isEnded, untilDecided, untilEnded, type WaitOptions } from "../calls/index.ts";
import type { EngineParts } from "../parts.ts";
import { type PrincipalInput, toPrincipal } from "../people/index.ts";
import { type CallerOutcome, callerOutcome } from "./caller-outcome.ts";
import { cancelCall, cancelThread } from "./cancel.ts";
import { type CallerClaim, type ClaimRequest, claimForCaller } from "./claim.ts";
import { callerSession } from "./key.ts";
import type { Proposal } from "./proposal.ts";
import { propose } from "./propose.ts";
import { type CallerRef, findCallerCall, getCallerCall, readCallerCall } from "./read.ts";
import { type OnReady, type OnReadyOptions, type ReadyNotices, startReadyNotices } from "./ready-notices.ts";
import { type CallerEnd, type ClaimProof, recordCallerEnd, renewClaim } from "./report.ts";
import { type CallerBody, runHere } from "./run-here.ts";

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
    return callerOutcome(await propose(this.#parts, toProposal(request)));
  }

  /**
   * Asks for a call as `propose` does, and runs it here if it may start: once, even if others try too. If it runs elsewhere,
   * waits for its end. If the tool has changed since people were asked, they are asked again.
   */
  async run(request: CallRequest, body: CallerBody, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const proposed = await propose(this.#parts, toProposal(request));
    return callerOutcome(await runHere(this.#parts, proposed, { body, wait }));
  }

  /** The call as it is now. Throws `unknown-call`. */
  async read(ref: CallerRef): Promise<CallerOutcome> {
    return callerOutcome(await getCallerCall(this.#parts, ref));
  }

  /** The call as it is now, if there is one. Creates nothing. A call whose process is lost is recovered first. */
  async find(ref: CallerRef): Promise<CallerOutcome | undefined> {
    const stored = await findCallerCall(this.#parts, ref);
    if (stored?.call.status !== "executing") return stored && callerOutcome(stored);
    await this.#parts.recoverLost(stored.call.id);
    return this.#outcome(stored.call.id);
  }

  /**
   * Resolves when the call has ended or its outcome is unknown, or to the call as it is after `timeoutMs`. Throws
   * `unknown-call`.
   */
  async finished(ref: CallerRef, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const stored = await getCallerCall(this.#parts, ref);
    if (isEnded(stored.call.status)) return callerOutcome(stored);
    await untilEnded(this.#parts, stored.call.id, wait);
    return this.#outcome(stored.call.id);
  }

  /** As `finished`, and also resolves when the call is allowed: when its caller can go on. Throws `unknown-call`. */
  async decided(ref: CallerRef, wait: WaitOptions = {}): Promise<CallerOutcome> {
    const stored = await getCallerCall(this.#parts, ref);
    if (isDecided(stored.call.status)) return callerOutcome(stored);
    await untilDecided(this.#parts, stored.call.id, wait);
    return this.#outcome(stored.call.id);
  }

  /** Withdraws the call if it has not started, for this reason. Otherwise nothing changes. Throws `unknown-call`. */
  async cancel(ref: CallerRef, reason: string): Promise<CallerOutcome> {
    const { call } = await getCallerCall(this.#parts, ref);
    await cancelCall(this.#parts, call.id, reason);
    return this.#outcome(call.id);
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
    const snapshot = await getCallerCall(this.#parts, ref);
    const claimed = await claimForCaller(this.#parts, snapshot, { ...request, by: ref.by });
    if (claimed === undefined) return { outcome: await this.#outcome(snapshot.call.id) };
    const { claim, ...stored } = claimed;
    return { outcome: callerOutcome(stored), claim };
  }

  /** Renews a claim. Throws `claim-lost`. */
  async heartbeat(
    ref: CallerRef,
    { leaseMs, ...proof }: Omit<ClaimProof, "callId"> & { readonly leaseMs: number },
  ): Promise<void> {
    const { call } = await getCallerCall(this.#parts, ref);
    await renewClaim(this.#parts, { ...proof, callId: call.id }, { by: ref.by, leaseMs });
  }

  /** Records how the claimed call ended. Throws `claim-lost`. */
  async end(ref: CallerRef, proof: Omit<ClaimProof, "callId">, end: CallerEnd): Promise<CallerOutcome> {
    const snapshot = await getCallerCall(this.#parts, ref);
    return callerOutcome(await recordCallerEnd(this.#parts, snapshot, { proof, end }));
  }

  async #outcome(id: string): Promise<CallerOutcome> {
    return callerOutcome(await readCallerCall(this.#parts, id));
  }
}

function toProposal({ by, ...request }: CallRequest): Proposal {
  return { ...request, by: toPrincipal(by) };
}

import { CountersignError, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { Approvals } from "./approvals.ts";
import {
  headText,
  type PruneListener,
  prune,
  type SessionVerification,
  seal,
  toAuditParts,
  type Verification,
  type VerifyOptions,
  verify,
  verifySession,
} from "./audit/index.ts";
import { CallerCalls } from "./callers/index.ts";
import { type Call, type Executions, untilEnded, type WaitOptions } from "./calls/index.ts";
import type { Trace } from "./common/index.ts";
import { createParts } from "./create-parts.ts";
import type { DecisionRefusal, DecisionResult, ReadOptions, Verdict } from "./decision-result.ts";
import {
  type Acting,
  type DecisionInput,
  Decisions,
  type OnceKey,
  type SettlementInput,
  toDecider,
} from "./decisions/index.ts";
import type { Delegated, NewDelegation } from "./delegations/index.ts";
import type { EngineOptions } from "./engine-options.ts";
import { createGate, type GateBody, type GatedFunction, GateHost, type GateOptions } from "./gate/index.ts";
import type { Grant } from "./grants/index.ts";
import type { Host } from "./host.ts";
import type { IdempotentRequest, Ledger, Page, PageRequest, SessionName } from "./ledger/index.ts";
import type { EngineParts, EngineSettings } from "./parts.ts";
import { type Counting, type PrincipalInput, toPrincipal } from "./people/index.ts";
import { markRestored, type RestoreReport, Worker, type WorkOptions } from "./process/index.ts";
import type { Confirmation } from "./questions/index.ts";
import {
  cancelRun,
  changeState,
  createSession,
  deleteSession,
  type RunToCancel,
  type SessionStart,
} from "./sessions/index.ts";

let readParts: (engine: Engine) => EngineParts;

/** Internal parts of the engine, for runtimes. Not for programs. */
export function partsOf(engine: Engine): EngineParts {
  return readParts(engine);
}

/**
 * The gate, the lifecycle and at-most-once execution over one ledger. Starts no timers: a call that is approved here
 * runs here; `work()` does everything else.
 */
export class Engine {
  static {
    readParts = (engine) => engine.#parts;
  }

  /** @internal Decisions with their records, for the other parts of this package. */
  readonly decisions: Decisions;
  /** Calls that their callers run: agent frameworks in this process, and programs elsewhere. */
  readonly callers: CallerCalls;
  readonly #parts: EngineParts;
  readonly #hosts = new Map<string, Host>();
  readonly #executions: Executions;
  readonly #approvals: Approvals;
  readonly #workers = new Set<Worker>();
  readonly #gaveUp = new AbortController();
  readonly #closed = new AbortController();

  constructor(options: EngineOptions) {
    const { secret } = options;
    if (secret === "")
      throw new CountersignError("invalid-option", "`secret` is empty. Set a value or omit it.");
    this.#parts = createParts(options, {
      hosts: this.#hosts,
      gaveUp: this.#gaveUp.signal,
      closed: this.#closed.signal,
      takeUp: (frames) => this.#worker().takeUpFrames(frames),
    });
    this.#executions = this.#parts.executions;
    this.decisions = new Decisions(this.#parts, this.#executions);
    this.#approvals = new Approvals(this.#parts, this.decisions);
    this.callers = new CallerCalls(this.#parts);
  }

  /** The ledger underneath. Its records are not part of the public API. */
  get ledger(): Ledger {
    return this.#parts.ledger;
  }

  /**
   * Can this process write to the ledger? Throws `invalid-option` if the ledger was created with another secret, and
   * the error that prevents renewing this process's lease (a full disk, a read-only database) while it lasts. Writes
   * nothing if all is well.
   */
  async ready(): Promise<void> {
    await this.#parts.ready();
    this.#parts.unstored.check();
    await this.#parts.lease.check();
  }

  /** @internal The limits of this engine. */
  get settings(): EngineSettings {
    return this.#parts.settings;
  }

  /** @internal For other work of runtimes. */
  get trace(): Trace {
    return this.#parts.trace;
  }

  /** Puts an async function behind the gate. Define it before `work()`, so that its calls can be resumed. */
  gate<Args, Result extends JsonValue | undefined>(
    name: string,
    options: GateOptions<Args>,
    body: GateBody<Args, Result>,
  ): GatedFunction<Args, Result> {
    const gate = createGate({ parts: this.#parts, executions: this.#executions }, { name, options, body });
    const known = this.#hosts.get(gate.app);
    const host = known instanceof GateHost ? known : new GateHost(gate.app);
    host.add(name, gate.tool, options.redefine);
    if (host !== known) this.host(host);
    return gate.call;
  }

  /** @internal Registers that this process can run an app's calls. */
  host(host: Host): void {
    if (this.#hosts.has(host.app)) {
      throw new CountersignError("invalid-option", `This engine already hosts the app ${host.app}.`);
    }
    this.#hosts.set(host.app, host);
  }

  /** Approves a confirmation. Resolves once committed; the call then runs by itself. Throws if refused. */
  async approve(id: string, verdict: Verdict): Promise<DecisionResult<Confirmation>> {
    return this.#approvals.decide({ ...verdict, id, confirmed: true }, verdict);
  }

  /** Denies a confirmation: its call does not run. Throws if refused. */
  async deny(id: string, verdict: Verdict): Promise<DecisionResult<Confirmation>> {
    return this.#approvals.decide({ ...verdict, id, confirmed: false }, verdict);
  }

  /** Decides many, independently: each entry is a result or a refusal. */
  async decide(
    decisions: readonly DecisionInput[],
    acting: Acting,
  ): Promise<readonly (DecisionResult<Confirmation> | DecisionRefusal)[]> {
    return this.#approvals.decideAll(decisions, acting);
  }

  /** Withdraws an open confirmation, or an approval whose call has not started. Throws if refused. */
  async cancel(id: string, acting: Acting & { readonly reason: string }): Promise<Confirmation> {
    return this.#approvals.cancel(id, acting);
  }

  /** Withdraws one's own vote while more votes are needed. Throws if refused. */
  async withdrawVote(id: string, acting: Acting): Promise<Confirmation> {
    return this.#approvals.withdrawVote(id, acting);
  }

  /**
   * Lets somebody vote for another person until a time. Only that person may do this, or an operator (the scope
   * `admin`). The same request again, with its key, gets what it made, even if that was revoked. Throws if refused.
   */
  async delegate(wanted: NewDelegation, acting: Acting, once?: OnceKey): Promise<Delegated> {
    return this.#approvals.delegate(wanted, acting, once);
  }

  /** Revokes a delegation: votes given by it do not count any more. Throws if refused. */
  async revokeDelegation(id: string, acting: Acting): Promise<Delegated> {
    return this.#approvals.revokeDelegation(id, acting);
  }

  /** The delegations in force; with `by`, only those from or to this person. */
  async delegations({ by }: ReadOptions = {}): Promise<readonly Delegated[]> {
    return this.#approvals.delegations(by);
  }

  /** @internal With what somebody's rights are judged now. */
  async counting(): Promise<Counting> {
    return this.#approvals.counting();
  }

  /** Settles the call of a confirmation if its outcome is unknown. Throws if refused. */
  async settle(id: string, settlement: SettlementInput, acting: Acting): Promise<Confirmation> {
    await this.#approvals.settle({ confirmation: id }, settlement, acting);
    return this.confirmation(id, acting);
  }

  /** Settles an unknown call that had no confirmation, by its own id. Throws if refused. */
  async settleCall(id: string, settlement: SettlementInput, acting: Acting): Promise<Call> {
    return this.#approvals.settle({ call: id }, settlement, acting);
  }

  /** A confirmation as it is now. Throws `unknown-confirmation`. */
  async confirmation(id: string, { by }: ReadOptions = {}): Promise<Confirmation> {
    return this.#approvals.confirmation(id, by);
  }

  /** The open confirmations, nearest deadline first. */
  async pending(
    filter: ReadOptions & { readonly app?: string; readonly user?: string } = {},
  ): Promise<readonly Confirmation[]> {
    const { by, ...wanted } = filter;
    return this.#approvals.pending(wanted, by);
  }

  /** The grants that are not over and that this principal may revoke, nearest end first. */
  async grants({ by, ...page }: PageRequest & { readonly by: PrincipalInput }): Promise<Page<Grant>> {
    return this.#approvals.grants(page, by);
  }

  /** Revokes a grant: no later call runs under it. Throws `unknown-grant`, `not-an-approver`. */
  async revokeGrant(id: string, acting: Acting & { readonly reason?: string }): Promise<Grant> {
    return this.#approvals.revokeGrant(id, acting);
  }

  /**
   * Resolves when the call has ended or its outcome is unknown, wherever it runs; after `timeoutMs` to the call as it is
   * then.
   */
  async finished(callId: string, wait: WaitOptions = {}): Promise<Call> {
    return untilEnded(this.#parts, callId, wait);
  }

  /** @internal Creates a session, with initial state and events if given. */
  async createSession(
    name: SessionName,
    state: JsonObject = {},
    start: Omit<SessionStart, "state"> = {},
  ): ReturnType<typeof createSession> {
    return createSession(this.#parts, name, { ...start, state });
  }

  /** @internal Merges a change into a session's state. */
  async changeState(
    name: SessionName,
    delta: JsonObject,
    once?: IdempotentRequest,
  ): ReturnType<typeof changeState> {
    return changeState(this.#parts, name, { delta, ...(once && { once }) });
  }

  /** Erases a session's content. Open confirmations are withdrawn; the journal still verifies. */
  async deleteSession(
    name: SessionName,
    by: PrincipalInput,
    once?: IdempotentRequest,
  ): ReturnType<typeof deleteSession> {
    return deleteSession(this.#parts, name, { by: toPrincipal(by), ...(once && { once }) });
  }

  /** Erases sessions without activity for this long, with nothing open, and under no legal hold. */
  async prune(olderThanMs: number, listener?: PruneListener): Promise<number> {
    return prune(this.#parts, olderThanMs, listener);
  }

  /**
   * Marks this ledger as restored from a backup: calls that may have run since become `unknown`. Call it before
   * `work()`.
   */
  async markRestored(acting: Acting, onProgress?: (report: RestoreReport) => void): Promise<RestoreReport> {
    return markRestored(this.#parts, toDecider(acting), onProgress);
  }

  /** @internal Stops a run: nothing more is started, and open confirmations are withdrawn. */
  async cancelRun(run: RunToCancel): Promise<boolean> {
    return cancelRun(this.#parts, run);
  }

  /** Seals the journal and returns its head. Store it elsewhere. */
  async head(): Promise<string> {
    return headText(await seal(toAuditParts(this.#parts)));
  }

  /** Checks the journal's chains and checkpoints. */
  async verify(options?: VerifyOptions): Promise<Verification> {
    return verify(toAuditParts(this.#parts), options);
  }

  /** @internal Checks the chain of one session, by its key. */
  async verifySession(key: string): Promise<SessionVerification> {
    return verifySession(toAuditParts(this.#parts), key);
  }

  /**
   * Does what is due: expiry, recovery, calls approved elsewhere, sealing. Runs until stopped. With `once` it does one
   * round, for hosts without long-lived processes, and resolves when the work that it started is done.
   */
  work(options: WorkOptions & { readonly once: true }): Promise<void>;
  work(options?: WorkOptions): Worker;
  work({ once, ...options }: WorkOptions & { readonly once?: boolean } = {}): Promise<void> | Worker {
    const worker = this.#worker(options);
    if (once === true) return worker.once().then(() => this.#executions.idle());
    this.#workers.add(worker);
    worker.start();
    return worker;
  }

  /**
   * Finishes what runs here, releases the lease and closes the ledger; pending promises reject. Results that cannot be
   * stored within `closeWithinMs` are left to recovery.
   */
  async close(): Promise<void> {
    const { clock, lease, settings } = this.#parts;
    const done = new AbortController();
    const grace = clock.sleep(settings.closeWithinMs, done.signal).then(() => this.#gaveUp.abort());
    try {
      await Promise.all([...this.#workers].map((worker) => worker.stop()));
      await this.#executions.idle();
      // Do not wait for an unreachable ledger: the lease expires by itself.
      await lease.retire().catch(() => {});
      await this.ledger.close();
    } finally {
      this.#closed.abort();
      done.abort();
      await grace;
    }
  }

  /**
   * Releases what still runs here, so that others need not wait for the lease to expire: repeatable calls run again,
   * the rest become `unknown`. Only for a process that exits right after: results of functions that keep running are
   * lost.
   */
  async abandon(): Promise<void> {
    await this.#parts.lease.abandon();
  }

  #worker(options: WorkOptions = {}): Worker {
    return new Worker({
      parts: this.#parts,
      executions: this.#executions,
      audit: toAuditParts(this.#parts),
      options,
    });
  }
}

import { CountersignError, type JsonObject, type JsonValue } from "../protocol/index.ts";
import { headText, prune, seal, type Verification, type VerifyOptions, verify } from "./audit/index.ts";
import { Executions } from "./calls/index.ts";
import { type Clock, createIds, type NewId, systemClock, type Trace, untraced } from "./common/index.ts";
import {
  type Cancelled,
  cancel,
  type Decided,
  type Decider,
  type DecisionInput,
  decide,
  noteRefusal,
  type Refusal,
  refusal,
  type Settled,
  type SettlementInput,
  settle,
  type Tried,
} from "./decisions/index.ts";
import { createGate, type GateBody, type GatedFunction, GateHost, type GateOptions } from "./gate/index.ts";
import type { Host } from "./host.ts";
import { chainHasher } from "./journal/index.ts";
import {
  type CallRecord,
  checkSecret,
  InFlight,
  type Ledger,
  type Once,
  type SessionName,
  SessionQueue,
} from "./ledger/index.ts";
import { isAnswered } from "./lifecycle/index.ts";
import { DEFAULT_SETTINGS, type EngineParts, type EngineSettings } from "./parts.ts";
import { type PrincipalInput, toPrincipal } from "./people/index.ts";
import {
  AcknowledgedCommits,
  type Doubted,
  Lease,
  type LedgerNotice,
  NoticeKeeper,
  Reconciler,
  restored,
  Unstored,
  Worker,
  type WorkOptions,
} from "./process/index.ts";
import { type AskedCall, judgePayloadHere, type PayloadOutcome } from "./questions/index.ts";
import {
  cancelRun,
  changeState,
  createSession,
  deleteSession,
  type RunToCancel,
  type SessionStart,
} from "./sessions/index.ts";

export interface EngineOptions extends Partial<EngineSettings> {
  readonly ledger: Ledger;
  readonly clock?: Clock;
  readonly newId?: NewId;
  /** Signs decisions and keys the journal's chain. All processes of one ledger must have the same. */
  readonly secret?: string;
  /** How this process calls itself where a person has to find it. */
  readonly hostName?: string;
  /** Told of what nobody waits for: the end of a call that the ledger does not take. A process warning if nothing is said. */
  readonly onError?: (error: unknown) => void;
  /** Told of what the ledger no longer has, though it had acknowledged it. A process warning if nothing is said. */
  readonly onNotice?: (notice: LedgerNotice) => void;
  /** Called around decisions, claims, tools and models, for tracing. */
  readonly trace?: Trace;
}

/** Who acts, and through which door; a host program need only say the id. */
export interface Acting {
  readonly by: PrincipalInput;
  readonly via?: string;
}

/** A committed decision. `finished` resolves when its call has ended, here or elsewhere. */
export interface DecisionReceipt extends Decided {
  readonly finished: Promise<CallRecord>;
}

const HOST_DOOR = "host";

let readParts: (engine: Engine) => EngineParts;

/** What the engine's commands work with, for runtimes, which call them directly. Not for programs. */
export function partsOf(engine: Engine): EngineParts {
  return readParts(engine);
}

/**
 * The gate, the lifecycle and at-most-once execution over one ledger. Starts no timer by itself: a decision
 * taken here runs here; `work()` does everything else.
 */
export class Engine {
  static {
    readParts = (engine) => engine.#parts;
  }

  readonly #parts: EngineParts;
  readonly #hosts = new Map<string, Host>();
  readonly #executions: Executions;
  readonly #reconciler: Reconciler;
  readonly #keyed: boolean;
  readonly #workers = new Set<Worker>();
  readonly #gaveUp = new AbortController();
  readonly #closed = new AbortController();

  constructor(options: EngineOptions) {
    const { ledger, clock = systemClock, newId = createIds(), secret } = options;
    if (secret === "")
      throw new CountersignError("invalid-option", "`secret` is empty; leave it out or set one.");
    const settings: EngineSettings = { ...DEFAULT_SETTINGS, ...definedOf(options) };
    const lease = new Lease({
      ledger,
      clock,
      leaseMs: settings.leaseMs,
      heartbeatMs: settings.heartbeatMs,
      host: options.hostName ?? "",
      pid: process.pid,
      newOwnerId: () => newId(clock.now()),
      onBeat: (owner) => void this.#reconciler.look(owner),
      onNewHistory: (history) => this.#reconciler.newHistory(history),
    });
    this.#keyed = secret !== undefined;
    this.#parts = {
      ledger,
      clock,
      newId,
      hasher: chainHasher(secret),
      knownSeal: { k: 0 },
      ...(secret === undefined ? {} : { secret }),
      lease,
      hosts: this.#hosts,
      queue: new SessionQueue(),
      inFlight: new InFlight(),
      acknowledged: new AcknowledgedCommits(clock),
      settings,
      trace: options.trace ?? untraced,
      unstored: new Unstored(options.onError ?? warn),
      gaveUp: this.#gaveUp.signal,
      closed: this.#closed.signal,
      ready: onceDone(() => checkSecret(ledger, secret)),
      get executions() {
        return executions;
      },
      takeUp: (frames) => this.#worker().takeUpFrames(frames),
    };
    const executions = new Executions(this.#parts);
    this.#executions = executions;
    this.#reconciler = new Reconciler(this.#parts, this.#executions, {
      notify: options.onNotice ?? warnOf,
      keeper: new NoticeKeeper({
        shelf: ledger,
        now: () => clock.now(),
        newId: () => newId(clock.now()),
        host: options.hostName ?? "",
        pid: process.pid,
      }),
    });
  }

  get ledger(): Ledger {
    return this.#parts.ledger;
  }

  /**
   * Can this process write here? Throws `invalid-option` if the ledger was begun with another secret, and whatever keeps
   * this process's lease from being renewed (a full disk, a database that only reads) until that is over. Writes nothing
   * while all is well.
   */
  async ready(): Promise<void> {
    await this.#parts.ready();
    this.#parts.unstored.check();
    await this.#parts.lease.check();
  }

  /** The limits that count here. */
  get settings(): EngineSettings {
    return this.#parts.settings;
  }

  /** For what runtimes do beside the engine. */
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

  /** Says that this process can run an app's calls. */
  host(host: Host): void {
    if (this.#hosts.has(host.app)) {
      throw new CountersignError("invalid-option", `The app ${host.app} is hosted by this engine already.`);
    }
    this.#hosts.set(host.app, host);
  }

  /** Decides one confirmation. Resolves once committed; what follows from it goes on by itself. */
  async decide(input: DecisionInput, acting: Acting): Promise<DecisionReceipt | Refusal> {
    const attributes = { "countersign.confirmation": input.id };
    const decided = await this.trace({ name: "decide", attributes }, () =>
      decide(this.#parts, input, toDecider(acting)),
    );
    this.#follow(decided);
    if (!decided.ok) return decided;
    return this.#receipt(decided);
  }

  /** Decides many, each on its own: one that is refused does not touch the others. */
  async decideAll(
    inputs: readonly DecisionInput[],
    acting: Acting,
  ): Promise<readonly (DecisionReceipt | Refusal)[]> {
    const results: (DecisionReceipt | Refusal)[] = [];
    for (const input of inputs) results.push(await this.decide(input, acting).catch(toRefusal));
    return results;
  }

  /** Would an approval with this payload be taken, as far as this process can tell? For doors that take all or none. */
  async judgePayload(asked: AskedCall, payload: JsonValue | undefined): Promise<PayloadOutcome> {
    return judgePayloadHere(this.#parts, asked, payload);
  }

  async approve(
    id: string,
    acting: Acting & Omit<DecisionInput, "id" | "confirmed">,
  ): Promise<DecisionReceipt | Refusal> {
    return this.decide({ ...acting, id, confirmed: true }, acting);
  }

  async deny(
    id: string,
    acting: Acting & Omit<DecisionInput, "id" | "confirmed">,
  ): Promise<DecisionReceipt | Refusal> {
    return this.decide({ ...acting, id, confirmed: false }, acting);
  }

  /** Withdraws an open question, or an approval whose call nobody has started. */
  async cancel(id: string, acting: Acting & { readonly reason: string }): Promise<Cancelled | Refusal> {
    const cancelled = await cancel(this.#parts, id, { ...toDecider(acting), reason: acting.reason });
    this.#follow(cancelled);
    return cancelled;
  }

  /** Settles a call whose outcome is unknown, by its id or by that of its confirmation. */
  async settle(
    target: { readonly confirmation: string } | { readonly call: string },
    settlement: SettlementInput,
    acting: Acting,
  ): Promise<Settled | Refusal> {
    const settled = await settle(this.#parts, target, { settlement, decider: toDecider(acting) });
    this.#follow(settled);
    return settled;
  }

  /** Puts on record that a door turned somebody away before the confirmation's rule was asked; changes nothing else. */
  async noteRefusal(
    target: { readonly confirmation: string } | { readonly call: string },
    tried: Tried,
    acting: Acting,
  ): Promise<boolean> {
    return noteRefusal(this.#parts, target, { decider: toDecider(acting), tried });
  }

  /** Resolves when the call has its answer, or its outcome is unknown, wherever it runs. */
  async finished(callId: string): Promise<CallRecord> {
    // Whoever waits for this is not done, even if nothing else keeps the process alive.
    const release = this.#parts.clock.hold();
    return this.#untilEnded(callId).finally(release);
  }

  async #untilEnded(callId: string): Promise<CallRecord> {
    for (;;) {
      await this.#executions.settled(callId);
      const change = this.#nextChange();
      const [call] = await this.ledger.calls([callId]);
      if (call === undefined) throw new CountersignError("unknown-call", `There is no call ${callId}.`);
      if (isAnswered(call.status) || call.status === "unknown") {
        change.forget();
        return call;
      }
      await change.happened;
    }
  }

  /** Makes a session, with state where there is any to begin with, and what else there is. */
  async createSession(
    name: SessionName,
    state: JsonObject = {},
    start: Omit<SessionStart, "state"> = {},
  ): ReturnType<typeof createSession> {
    return createSession(this.#parts, name, { ...start, state });
  }

  /** Lays a change over a session's state. */
  async changeState(name: SessionName, delta: JsonObject, once?: Once): ReturnType<typeof changeState> {
    return changeState(this.#parts, name, { delta, ...(once && { once }) });
  }

  /** Erases a session's content; what was open is withdrawn, and the audit trail still verifies. */
  async deleteSession(name: SessionName, by: PrincipalInput, once?: Once): ReturnType<typeof deleteSession> {
    return deleteSession(this.#parts, name, { by: toPrincipal(by), ...(once && { once }) });
  }

  /** Erases sessions in which nothing has happened for so long and nothing is open. */
  async prune(olderThanMs: number, onPruned?: (count: number) => void): Promise<number> {
    return prune(this.#parts, olderThanMs, onPruned);
  }

  /** Says that this ledger was restored from a backup: what may have run since becomes `unknown`. Before `work()`. */
  async restored(acting: Acting, onProgress?: (doubted: Doubted) => void): Promise<Doubted> {
    return restored(this.#parts, toDecider(acting), onProgress);
  }

  /** Stops a run: nothing further is started, and what is open is withdrawn. */
  async cancelRun(run: RunToCancel): Promise<boolean> {
    return cancelRun(this.#parts, run);
  }

  /** Seals the journal and gives its head, to be kept elsewhere. */
  async head(): Promise<string> {
    return headText(await seal(this.#auditParts()));
  }

  /** Seals what no checkpoint covers yet. */
  async seal(): Promise<void> {
    await seal(this.#auditParts());
  }

  async verify(options?: VerifyOptions): Promise<Verification> {
    return verify(this.#auditParts(), options);
  }

  /** Does what is due: expiry, recovery, calls approved elsewhere, sealing. Stop it with `stop()`. */
  work(options: WorkOptions = {}): Worker {
    const worker = this.#worker(options);
    this.#workers.add(worker);
    worker.start();
    return worker;
  }

  /** One round of `work()`, for hosts without long-lived processes. Resolves when what it started is done. */
  async workOnce(): Promise<void> {
    await this.#worker().round();
    await this.#executions.idle();
  }

  /**
   * Finishes what runs here, gives up the lease and closes the ledger; whoever still waits for something is told. What the
   * ledger does not take is given up after `closeWithinMs`, and found by recovery.
   */
  async close(): Promise<void> {
    const { clock, lease, settings } = this.#parts;
    const done = new AbortController();
    const grace = clock.sleep(settings.closeWithinMs, done.signal).then(() => this.#gaveUp.abort());
    try {
      await Promise.all([...this.#workers].map((worker) => worker.stop()));
      await this.#executions.idle();
      // A ledger that is away is no reason to stay open: the lease runs out by itself.
      await lease.retire().catch(() => {});
      await this.ledger.close();
    } finally {
      this.#closed.abort();
      done.abort();
      await grace;
    }
  }

  /**
   * Leaves what still runs here to others, who then need not wait for the lease to run out: what may be repeated is run
   * again, the rest is `unknown`. Only for a process that ends right after: a body that went on would do so unheard.
   */
  async abandon(): Promise<void> {
    await this.#parts.lease.abandon();
  }

  // `finished` is asked for seldom, and for a call that runs elsewhere it costs a watcher: made when read.
  #receipt(decided: Decided): DecisionReceipt {
    const finished = (): Promise<CallRecord> => {
      const ended = this.finished(decided.call.id);
      // Whoever reads it and does not wait must not be brought down by an engine that closes meanwhile.
      ended.catch(() => {});
      return ended;
    };
    return Object.defineProperty({ ...decided } as DecisionReceipt, "finished", { get: finished });
  }

  #worker(options: WorkOptions = {}): Worker {
    return new Worker({
      parts: this.#parts,
      executions: this.#executions,
      audit: this.#auditParts(),
      options,
    });
  }

  #auditParts(): Parameters<typeof verify>[0] {
    const { ledger, clock, hasher, knownSeal, ready, lease } = this.#parts;
    const wasReplaced = (): Promise<boolean> => lease.wasReplaced();
    return { ledger, clock, hasher, knownSeal, ready, wasReplaced, keyed: this.#keyed };
  }

  #follow(result: Decided | Cancelled | Settled | Refusal): void {
    if ("claimed" in result && result.claimed !== undefined) this.#executions.start(result.claimed);
    if (result.stepping !== undefined) this.#executions.step(result.stepping);
    const { call } = result;
    // Denied, but the tool words its own answer: it still has to be entered.
    if (call?.status === "ready" && call.refused) this.#executions.pursue(call.id);
  }

  #nextChange(): { readonly happened: Promise<void>; readonly forget: () => void } {
    const { promise: happened, resolve } = Promise.withResolvers<void>();
    const forget = this.ledger.onChange(() => {
      forget();
      resolve();
    });
    return { happened, forget };
  }
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

function warnOf({ message, details }: LedgerNotice): void {
  process.emitWarning(`Countersign: ${message} ${JSON.stringify(details)}`);
}

/** Runs until it succeeds, and from then on costs nothing. */
function onceDone(work: () => Promise<void>): () => Promise<void> | undefined {
  let done = false;
  return () => {
    if (done) return undefined;
    return work().then(() => {
      done = true;
    });
  };
}

// Thrown before anything was committed, so it is this one's result and leaves the others theirs.
function toRefusal(error: unknown): Refusal {
  if (CountersignError.isInstance(error)) return refusal(error.code, error.message);
  return refusal("internal", "It could not be judged, so it was not taken; decided alone it says why.");
}

function toDecider({ by, via = HOST_DOOR }: Acting): Decider {
  return { by: toPrincipal(by), via };
}

function definedOf({
  leaseMs,
  heartbeatMs,
  storeWithinMs,
  closeWithinMs,
  maxOpen,
  maxRounds,
  maxLostAttempts,
  maxResultBytes,
  maxSessionBytes,
  maxStateBytes,
}: Partial<EngineSettings>): Partial<EngineSettings> {
  return {
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(storeWithinMs === undefined ? {} : { storeWithinMs }),
    ...(closeWithinMs === undefined ? {} : { closeWithinMs }),
    ...(maxOpen === undefined ? {} : { maxOpen }),
    ...(maxRounds === undefined ? {} : { maxRounds }),
    ...(maxLostAttempts === undefined ? {} : { maxLostAttempts }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    ...(maxSessionBytes === undefined ? {} : { maxSessionBytes }),
    ...(maxStateBytes === undefined ? {} : { maxStateBytes }),
  };
}

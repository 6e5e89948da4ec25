/**
 * The life of calls and confirmations as plain maps: what DESIGN.md section 2 says, written a second time and
 * without a look at the engine, so that the two can be compared after every command.
 */

export const LEASE_MS = 15_000;
export const HEARTBEAT_MS = 5_000;
export const EXPIRES_MS = 60_000;

/** `once` and `again` wait for a person, `free` does not; only `again` may be repeated. */
export type ToolName = "once" | "again" | "free";
export type End = "succeed" | "fail" | "unknown" | "ask";

export type CallStatus =
  | "waiting"
  | "ready"
  | "executing"
  | "suspended"
  | "unknown"
  | "succeeded"
  | "failed"
  | "denied"
  | "expired"
  | "cancelled";

/** A call that may be repeated is run again until so many of its attempts were lost. */
const MAX_LOST = 5;

const END_STATUS = { succeed: "succeeded", fail: "failed", unknown: "unknown" } as const;

export interface ModelConfirmation {
  status: "requested" | "approved" | "denied" | "expired" | "cancelled";
  /** By the person. */
  withdrawn?: true;
  readonly expiresAt: number;
}

export interface ModelCall {
  readonly key: string;
  readonly tool: ToolName;
  status: CallStatus;
  attempt: number;
  /** How many of its attempts were lost with their processes. */
  lost: number;
  /** The process that holds it while it executes. */
  holder?: number;
  readonly confirmations: ModelConfirmation[];
  /** Approvals, and settlements as run-it: each lets a body that may not be repeated be entered once. */
  permits: number;
  /** Attempts whose body was entered, in order. */
  readonly entered: number[];
  deleted: boolean;
  /** The attempt that became unknown after it was released. */
  doubted?: number;
  /** What the person said of each attempt. */
  readonly settled: string[];
}

/** A body that stands in a process and waits to be told how it ends. */
export interface ModelBody {
  readonly call: ModelCall;
  readonly attempt: number;
  readonly process: number;
}

/** What a command should answer: `ok`, `repeated`, or the code of the refusal. */
export type Answer = string;

export class Model {
  now: number;
  readonly calls: ModelCall[] = [];
  bodies: ModelBody[] = [];
  /** The process that takes up new work. Those before it are dead or stopped. */
  current = 0;
  /** Every change of a call's status so far: what a run of this model has shown. */
  readonly seen: Set<string>;
  /** When each process that no longer beats was last alive. */
  readonly silentSince: Map<number, number> = new Map();

  constructor(now: number, seen: Set<string>) {
    this.now = now;
    this.seen = seen;
  }

  open(key: string, tool: ToolName): void {
    const call: ModelCall = {
      key,
      tool,
      status: "waiting",
      attempt: 0,
      lost: 0,
      confirmations: [],
      permits: 0,
      entered: [],
      deleted: false,
      settled: [],
    };
    this.calls.push(call);
    if (tool === "free") {
      call.permits = 1;
      this.#claim(call);
    } else this.#ask(call);
  }

  decide(call: ModelCall, round: number, input: { confirmed: boolean; hosted: boolean }): Answer {
    const question = this.#question(call, round);
    if (question.status === "requested" && question.expiresAt <= this.now) this.#expire(call, question);
    switch (question.status) {
      case "requested":
        break;
      case "expired":
        return "expired";
      case "cancelled":
        return "withdrawn";
      case "approved":
        return input.confirmed ? "repeated" : "already-decided";
      case "denied":
        return input.confirmed ? "already-decided" : "repeated";
    }
    if (!input.confirmed) {
      question.status = "denied";
      this.#move(call, "denied");
      return "ok";
    }
    question.status = "approved";
    call.permits += 1;
    this.#move(call, "ready");
    if (input.hosted) this.#claim(call);
    return "ok";
  }

  cancel(call: ModelCall, round: number): Answer {
    const question = this.#question(call, round);
    const isLast = round === call.confirmations.length - 1;
    const takeable =
      (question.status === "requested" && (call.status === "waiting" || call.status === "suspended")) ||
      (question.status === "approved" && call.status === "ready");
    if (!isLast || !takeable)
      return question.withdrawn === true && !call.deleted ? "repeated" : "not-cancellable";
    if (this.#wasReleased(call)) {
      this.#doubt(call);
      return "not-cancellable";
    }
    question.status = "cancelled";
    question.withdrawn = true;
    this.#move(call, "cancelled");
    return "ok";
  }

  finish(body: ModelBody, end: End): void {
    this.bodies = this.bodies.filter((other) => other !== body);
    const { call, attempt } = body;
    if (call.attempt !== attempt) return;
    if (call.status === "unknown") {
      // A late result of the last attempt, while nobody has settled.
      if ((end !== "succeed" && end !== "fail") || call.doubted === attempt) return;
      this.seen.add("unknown > late result");
      this.#move(call, END_STATUS[end]);
      return;
    }
    // A person had it run again, and did not know that it had run: it does not run before they know.
    if (call.status === "ready" && call.tool !== "again") {
      this.#move(call, "unknown");
      return;
    }
    if (call.status !== "executing") return;
    delete call.holder;
    if (end === "ask") {
      this.#move(call, "suspended");
      this.#ask(call);
    } else this.#move(call, END_STATUS[end]);
  }

  settle(call: ModelCall, as: "succeeded" | "failed" | "retry", hosted: boolean): Answer {
    const said = `${as} ${call.attempt}`;
    if (call.status !== "unknown")
      return call.settled.includes(said) && !call.deleted ? "repeated" : "not-settleable";
    call.settled.push(said);
    if (as !== "retry") {
      this.seen.add(`unknown > ${as}, settled`);
      this.#move(call, as);
      return "ok";
    }
    call.permits += 1;
    this.#move(call, "ready");
    if (hosted) this.#claim(call);
    return "ok";
  }

  /** The current process dies, or is stopped: then its bodies stand where they are and may still end. */
  fall(how: "crash" | "stop"): void {
    this.silentSince.set(this.current, this.now);
    if (how === "crash") this.bodies = this.bodies.filter(({ process }) => process !== this.current);
    this.current += 1;
  }

  /** Would a look now find a lease of which only the ledger knows whether it has just run out? */
  get isAmbiguous(): boolean {
    return [...this.silentSince.values()].some(
      (since) => this.now - since > LEASE_MS - HEARTBEAT_MS && this.now - since < LEASE_MS,
    );
  }

  /** One round of work in the current process. */
  work(): void {
    for (const call of this.calls) {
      const question = call.confirmations.at(-1);
      if (question?.status === "requested" && question.expiresAt <= this.now) this.#expire(call, question);
    }
    for (const call of this.calls) {
      const since = call.holder === undefined ? undefined : this.silentSince.get(call.holder);
      if (call.status !== "executing" || since === undefined || this.now - since < LEASE_MS) continue;
      delete call.holder;
      call.lost += 1;
      if (call.tool === "again" && call.lost < MAX_LOST) this.#claim(call);
      else this.#move(call, "unknown");
    }
    for (const call of this.calls) if (call.status === "ready") this.#claim(call);
  }

  delete(call: ModelCall): Answer {
    if (call.deleted) return "unknown-session";
    if (this.#wasReleased(call)) this.#doubt(call);
    if (call.status === "executing" || call.status === "unknown") return "call-executing";
    if (call.status === "waiting" || call.status === "suspended" || call.status === "ready") {
      this.#move(call, "cancelled");
      const question = call.confirmations.at(-1);
      if (question !== undefined) question.status = "cancelled";
    }
    call.deleted = true;
    return "ok";
  }

  openIn(call: ModelCall): number {
    return call.confirmations.filter(({ status }) => status === "requested").length;
  }

  /** A process was lost while it ran: nobody may say that it did not run. */
  #wasReleased({ status, lost }: ModelCall): boolean {
    return status === "ready" && lost > 0;
  }

  /** Nobody holds it, so that a late result is only journalled. */
  #doubt(call: ModelCall): void {
    this.#move(call, "unknown");
    call.doubted = call.attempt;
  }

  #move(call: ModelCall, to: CallStatus): void {
    this.seen.add(`${call.status} > ${to}`);
    call.status = to;
  }

  #claim(call: ModelCall): void {
    this.#move(call, "executing");
    call.attempt += 1;
    call.holder = this.current;
    call.entered.push(call.attempt);
    this.bodies.push({ call, attempt: call.attempt, process: this.current });
  }

  #ask(call: ModelCall): void {
    call.confirmations.push({ status: "requested", expiresAt: this.now + EXPIRES_MS });
  }

  #expire(call: ModelCall, question: ModelConfirmation): void {
    question.status = "expired";
    this.#move(call, "expired");
  }

  #question(call: ModelCall, round: number): ModelConfirmation {
    const question = call.confirmations[round];
    if (question === undefined) throw new Error(`${call.key} has no question ${round}.`);
    return question;
  }
}

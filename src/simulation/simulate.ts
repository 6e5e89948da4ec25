import {
  type CallerOutcome,
  type Clock,
  type Confirmation,
  Engine,
  type Ledger,
  ManualClock,
  type PolicySource,
} from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { approversOf } from "./approvers.ts";
import { type Arrival, arrivalsIn } from "./arrivals.ts";
import { EventQueue } from "./event-queue.ts";
import { Inbox, type OpenQuestion, type Reading } from "./inbox.ts";
import { Measures } from "./measures.ts";
import { Random } from "./random.ts";
import { type SimulationReport, toReport } from "./report.ts";
import { DAY_MS, HOUR_MS, type Scenario } from "./scenario.ts";
import { type ApproverEvent, WorkingHours } from "./working-hours.ts";

/** What a simulation needs. */
export interface SimulationInput {
  readonly policy: PolicySource;
  readonly scenario: Scenario;
  /** The same seed gives the same result. */
  readonly seed: number;
  /** Opens the ledger that it runs on, with the clock that it moves. The caller closes it. */
  readonly open: (clock: Clock) => Promise<Ledger>;
  /** Called after each simulated day. */
  readonly onDay?: (done: { readonly day: number; readonly calls: number; readonly open: number }) => void;
}

type Event =
  | ApproverEvent
  | { readonly kind: "hour" }
  | { readonly kind: "day" }
  | { readonly kind: "call"; readonly arrival: Arrival }
  | { readonly kind: "due"; readonly question: OpenQuestion };

/**
 * Plays a scenario on a real engine, whose clock jumps from event to event. Agents ask, people decide, questions
 * escalate and expire; the policy and the engine say what that means. Only the people and the arrival of calls are made
 * up.
 */
export async function simulate(input: SimulationInput): Promise<SimulationReport> {
  const { policy, scenario, seed } = input;
  const clock = new ManualClock(scenario.start);
  const ledger = await input.open(clock);
  const lasts = (scenario.days + 1) * DAY_MS;
  // No process dies here, so that no lease has to be renewed.
  const engine = new Engine({ ledger, clock, policy, leaseMs: 4 * lasts, heartbeatMs: lasts });
  const directory = (await engine.counting()).directory;
  return new Simulation({ ...input, seed }, { engine, clock, directory }).run();
}

class Simulation {
  readonly #input: SimulationInput;
  readonly #engine: Engine;
  readonly #clock: ManualClock;
  readonly #events = new EventQueue<Event>();
  readonly #measures: Measures;
  readonly #inbox: Inbox;
  readonly #hours: WorkingHours;
  readonly #approvers;
  readonly #arrivals: Random;
  readonly #end: number;
  #calls = 0;

  constructor(
    input: SimulationInput,
    world: {
      readonly engine: Engine;
      readonly clock: ManualClock;
      readonly directory: ConstructorParameters<typeof Inbox>[1];
    },
  ) {
    const { scenario, seed } = input;
    const { start, days } = scenario;
    this.#input = input;
    this.#engine = world.engine;
    this.#clock = world.clock;
    this.#end = start + days * DAY_MS;
    this.#approvers = approversOf(scenario);
    this.#measures = new Measures({ start, end: this.#end }, this.#approvers.length);
    this.#inbox = new Inbox(this.#approvers, world.directory);
    this.#hours = new WorkingHours({
      approvers: this.#approvers,
      inbox: this.#inbox,
      events: this.#events,
      measures: this.#measures,
      end: this.#end,
      seed,
    });
    this.#arrivals = new Random(seed, "arrivals");
  }

  async run(): Promise<SimulationReport> {
    const { scenario, seed } = this.#input;
    this.#hours.begin(scenario.start);
    this.#events.add(scenario.start, { kind: "day" });
    this.#events.add(scenario.start, { kind: "hour" });
    for (
      let next = this.#events.take();
      next !== undefined && next.at < this.#end;
      next = this.#events.take()
    ) {
      const { at, value } = next;
      if (at > this.#clock.now()) await this.#clock.advance(at - this.#clock.now());
      await this.#happen(at, value);
      this.#measures.queue(at, this.#inbox.length);
    }
    this.#measures.finish();
    const about = { seed, approvers: this.#approvers, open: this.#inbox.length };
    return toReport(scenario, about, this.#measures);
  }

  async #happen(at: number, event: Event): Promise<void> {
    switch (event.kind) {
      case "day":
        return this.#startDay(at);
      case "hour":
        return this.#startHour(at);
      case "call":
        return this.#ask(at, event.arrival);
      case "due":
        return this.#fallDue(at, event.question);
      case "shift":
        return this.#hours.startShift(at, event);
      case "notice":
        return this.#hours.look(at, event.approver, event.question);
      case "voted":
        await this.#vote(at, event.approver, event.reading);
        return this.#hours.look(at, event.approver);
    }
  }

  #startDay(at: number): void {
    const { scenario, onDay } = this.#input;
    // One ahead: east of UTC the day has begun.
    this.#hours.plan(at + DAY_MS, at);
    this.#events.add(at + DAY_MS, { kind: "day" });
    const day = Math.round((at - scenario.start) / DAY_MS);
    if (day > 0) onDay?.({ day, calls: this.#calls, open: this.#inbox.length });
  }

  #startHour(at: number): void {
    for (const arrival of arrivalsIn(at, this.#input.scenario, this.#arrivals))
      this.#events.add(arrival.at, { kind: "call", arrival });
    this.#events.add(at + HOUR_MS, { kind: "hour" });
  }

  async #ask(at: number, { agent, tool, app, args }: Arrival): Promise<void> {
    this.#calls += 1;
    this.#measures.count(at, "calls");
    const by = {
      id: `agent-${agent}`,
      kind: "agent",
      authenticated: true,
      onBehalfOf: `user-${agent}`,
    } as const;
    const ref = { by: by.id, key: `call-${this.#calls}` };
    const day = Math.floor((at - this.#input.scenario.start) / DAY_MS);
    const asked = {
      by,
      key: ref.key,
      app,
      tool,
      args,
      thread: `${by.id}-${day}`,
      requireConfirmation: false,
    };
    const outcome = await this.#engine.callers.propose(asked).catch((error: unknown) => {
      if (CountersignError.isInstance(error) && error.code === "too-many-open") return undefined;
      throw error;
    });
    if (outcome === undefined) this.#measures.count(at, "refused");
    else if (outcome.status === "allowed") await this.#runUnasked(at, ref, outcome);
    else if (outcome.status === "denied") this.#measures.count(at, "forbidden");
    else if (outcome.confirmation !== undefined) this.#open(at, ref, outcome.confirmation);
  }

  async #runUnasked(at: number, ref: OpenQuestion["ref"], { id }: CallerOutcome): Promise<void> {
    const [call] = await this.#engine.ledger.calls([id]);
    this.#measures.count(at, call?.grant === undefined ? "ran" : "granted");
    await this.#runCall(ref);
  }

  #open(at: number, ref: OpenQuestion["ref"], shown: Confirmation): void {
    const question = toQuestion(at, ref, shown);
    this.#measures.count(at, "asked");
    this.#inbox.add(question);
    if (!this.#inbox.canBeDecided(question)) this.#measures.count(at, "unanswerable");
    for (const { at: due } of question.rule.escalations ?? [])
      this.#events.add(Number(due), { kind: "due", question });
    if (Number.isFinite(question.expiresAt)) this.#events.add(question.expiresAt, { kind: "due", question });
    this.#hours.wake(at, question);
  }

  /** An escalation or the end of a question is due: the worker of a server would find it now. */
  async #fallDue(at: number, question: OpenQuestion): Promise<void> {
    if (!question.isOpen) return;
    await this.#engine.work({ once: true });
    const { status, escalations = [] } = await this.#engine.confirmation(question.id);
    const reached = escalations.filter((one) => one.reached).length;
    for (; question.reached < reached; this.#measures.count(at, "escalated")) this.#inbox.escalate(question);
    if (status === "requested") return this.#hours.wake(at, question);
    this.#inbox.close(question);
    this.#measures.count(at, "expired");
  }

  async #vote(at: number, index: number, reading: Reading): Promise<void> {
    const { question } = reading;
    const approver = this.#approvers[index];
    const { confirmed, grant } = this.#hours.verdict(index, question);
    if (!question.isOpen || approver === undefined) return this.#measures.count(at, "wasted");
    const input = {
      id: question.id,
      confirmed,
      ...(grant && question.grants ? { grant: question.grants } : {}),
    };
    const [result] = await this.#engine.decide([input], { by: approver.principal, via: "simulation" });
    if (result === undefined) return;
    if (!result.ok)
      throw new CountersignError("internal", `The engine refused a decision: ${result.message}`);
    this.#measures.voted(at, index);
    question.voters.add(approver.principal.id);
    if (confirmed) question.granted = grant;
    const { status } = result.confirmation;
    if (status !== "requested") return this.#decided(at, question, confirmed);
    if (confirmed) return;
    this.#inbox.release(reading);
    this.#hours.wake(at, question);
  }

  async #decided(at: number, question: OpenQuestion, confirmed: boolean): Promise<void> {
    this.#inbox.close(question);
    this.#measures.count(at, confirmed ? "approved" : "denied");
    this.#measures.decided(at, at - question.requestedAt);
    if (confirmed) await this.#runCall(question.ref);
  }

  /** The agent runs its call, which takes no time. */
  async #runCall(ref: OpenQuestion["ref"]): Promise<void> {
    const { claim } = await this.#engine.callers.claim(ref, { leaseMs: HOUR_MS });
    if (claim === undefined)
      throw new CountersignError("internal", `The engine did not let the call ${ref.key} start.`);
    const { token, attempt } = claim;
    await this.#engine.callers.end(ref, { token, attempt }, { kind: "succeeded", result: null });
  }
}

function toQuestion(at: number, ref: OpenQuestion["ref"], shown: Confirmation): OpenQuestion {
  const escalations = (shown.escalations ?? [])
    .map((one) => ({ ...one, at: Date.parse(one.at) }))
    .sort((one, other) => one.at - other.at);
  return {
    id: shown.id,
    ref,
    requestedAt: at,
    expiresAt: shown.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(shown.expiresAt),
    rule: { requirements: shown.requirements, requesters: shown.requesters, escalations },
    grants: shown.grants,
    free: shown.requirements.map(({ count }) => count),
    voters: new Set(),
    reached: 0,
    isOpen: true,
    granted: undefined,
  };
}

import {
  type CallRecord,
  Engine,
  type Ledger,
  type ManualClock,
  OutcomeUnknown,
  type SessionRecord,
} from "../../src/engine/index.ts";
import { type WatchedLedger, watch } from "../../src/engine/testing/execution.ts";
import { type End, EXPIRES_MS, type ToolName } from "./model.ts";

/** Who does everything: what is allowed to whom is tested elsewhere. */
export const PERSON = { by: { id: "ana" } } as const;

interface Process {
  readonly engine: Engine;
  readonly watched: WatchedLedger;
  readonly tools: Readonly<Record<ToolName, (key: string) => void>>;
}

/** The real thing: a ledger, processes that run and die on it, and tools that end as they are told. */
export class World {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  /** A process that hosts nothing: it can decide, and has to leave the running to others. */
  readonly decider: Engine;
  /** Every entry into a body, counted where no ledger can forget it. */
  readonly entered: { readonly call: string; readonly attempt: number }[] = [];
  readonly #bodies = new Map<string, (end: End) => void>();
  #current: Process;

  constructor(ledger: Ledger, clock: ManualClock) {
    this.ledger = ledger;
    this.clock = clock;
    this.decider = new Engine({ ledger, clock });
    this.#current = this.#start();
  }

  get engine(): Engine {
    return this.#current.engine;
  }

  use(tool: ToolName, key: string): void {
    this.#current.tools[tool](key);
  }

  /** Nothing of it reaches the ledger any more. */
  crash(): void {
    this.#current.watched.cut();
    this.#current = this.#start();
  }

  /** It no longer beats; but what it was doing may still end. */
  stop(): void {
    this.#current.watched.intercept("owners.beat", () => new Promise(() => {}));
    this.#current = this.#start();
  }

  finish(call: string, attempt: number, end: End): void {
    const body = this.#bodies.get(`${call}#${attempt}`);
    if (body === undefined) throw new Error(`No body of ${call} stands in attempt ${attempt}.`);
    body(end);
  }

  /** Lets everything run that needs no time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await this.clock.advance(0);
  }

  async sessionOf(tool: ToolName, key: string): Promise<SessionRecord | undefined> {
    return (await this.ledger.load({ session: { app: `gate:${tool}`, user: "gate", id: key } }))?.session;
  }

  async callOf(tool: ToolName, key: string): Promise<CallRecord> {
    const session = await this.sessionOf(tool, key);
    const [call] = await this.ledger.calls([`${session?.key}.${key}`]);
    if (call === undefined) throw new Error(`There is no call ${key} of ${tool}.`);
    return call;
  }

  /** The ids of a call's questions, in the order in which they were asked. */
  async questionsOf(tool: ToolName, key: string): Promise<readonly { id: string; status: string }[]> {
    const session = await this.sessionOf(tool, key);
    const filter = { session: session?.key ?? "" };
    const open = await this.ledger.confirmations({ ...filter, state: "open" }, { limit: 100 });
    const closed = await this.ledger.confirmations({ ...filter, state: "closed" }, { limit: 100 });
    return [...open.items, ...closed.items]
      .map(({ confirmation }) => confirmation)
      .sort((a, b) => a.round - b.round);
  }

  #start(): Process {
    const watched = watch(this.ledger);
    const engine = new Engine({ ledger: watched.ledger, clock: this.clock });
    const tool = (name: ToolName): ((key: string) => void) => {
      const call = engine.gate(
        name,
        { requireConfirmation: name !== "free", idempotent: name === "again", expiresInMs: EXPIRES_MS },
        async (_args: object, context) => {
          const { idempotencyKey, attempt } = context;
          this.entered.push({ call: idempotencyKey, attempt });
          const end = await new Promise<End>((resolve) => {
            this.#bodies.set(`${idempotencyKey}#${attempt}`, resolve);
          });
          if (end === "fail") throw new Error("the tool failed");
          if (end === "unknown") throw new OutcomeUnknown("the line went dead");
          if (end === "ask") context.requestConfirmation({ hint: `again, after attempt ${attempt}` });
          return { attempt };
        },
      );
      // An ungated use is answered when its body ends, which is another command's affair.
      return (key) => void call({ key }, { key, ...PERSON }).catch(() => {});
    };
    return { engine, watched, tools: { once: tool("once"), again: tool("again"), free: tool("free") } };
  }
}

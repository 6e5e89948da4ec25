import { onTestFinished } from "vitest";
import {
  type AskedCall,
  type CallContext,
  type CallRecord,
  type ConfirmationRecord,
  Engine,
  type EngineOptions,
  type FrameRecord,
  type Host,
  type Ledger,
  type LiveTool,
  ManualClock,
  oneApproval,
  type PlannedCall,
  type Principal,
  partsOf,
  type Question,
  receiveMessage,
  recordTurn,
} from "../../../src/engine/index.ts";
import type { JsonObject, JsonValue, StoredEvent } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";

/** The digest of every tool's definition, unless a test says that it changed. */
export const DEFINITION = "v1:as-shown";

export const ANA: Principal = person("ana");
export const BOB: Principal = person("bob");
export const MANAGER: Principal = { ...person("maria"), roles: ["manager"] };

/** Somebody who logged in. */
export function person(id: string): Principal {
  return { id, kind: "oidc", roles: [], scopes: ["decide"], authenticated: true };
}

/** One entry into a tool's body. */
export interface Run {
  readonly tool: string;
  readonly args: JsonObject;
  readonly key: string;
  readonly attempt: number;
  readonly payload?: JsonValue;
}

/** An app whose tools note that they ran and answer `{ ok: true }`, unless a test defines them otherwise. */
export class TestApp implements Host {
  readonly app: string;
  readonly runs: Run[] = [];
  readonly steps: FrameRecord[] = [];
  readonly #tools = new Map<string, Partial<LiveTool>>();
  readonly #gone = new Set<string>();

  constructor(app: string) {
    this.app = app;
  }

  define(name: string, tool: Partial<LiveTool>): void {
    this.#tools.set(name, tool);
  }

  remove(name: string): void {
    this.#gone.add(name);
  }

  tool({ tool: name }: CallRecord): LiveTool | undefined {
    if (this.#gone.has(name)) return undefined;
    const defined = this.#tools.get(name) ?? {};
    return {
      definitionDigest: DEFINITION,
      asking: { approvers: "requester" },
      ...defined,
      run: async (call, context) => {
        this.runs.push(runOf(call, context));
        return defined.run === undefined ? { ok: true } : defined.run(call, context);
      },
    };
  }

  async step(frame: FrameRecord): Promise<void> {
    this.steps.push(frame);
  }
}

function runOf(call: CallRecord, { idempotencyKey, attempt, toolConfirmation }: CallContext): Run {
  const payload = toolConfirmation?.payload;
  return {
    tool: call.tool,
    args: call.args,
    key: idempotencyKey,
    attempt,
    ...(payload === undefined ? {} : { payload }),
  };
}

/** A call that a model made and that needs a person. */
export interface AskInput {
  readonly tool: string;
  readonly args?: JsonObject;
  readonly question?: Partial<Omit<Question, "shown">> & { readonly shown?: Partial<Question["shown"]> };
  readonly secrets?: readonly string[];
  readonly repeatable?: boolean;
}

export interface EngineFixtureOptions extends Omit<EngineOptions, "ledger" | "clock"> {
  readonly url?: string;
  readonly clock?: ManualClock;
  /** False: an engine that can decide but hosts nothing. */
  readonly hosts?: boolean;
}

/** An engine on a real ledger under a clock that stands still, and as much of a runtime as decisions need. */
export interface EngineFixture {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly clock: ManualClock;
  readonly app: TestApp;
  /** One model turn of a session of its own, with these calls. */
  askAll(inputs: readonly AskInput[], user?: string): Promise<readonly AskedCall[]>;
  ask(input: AskInput, user?: string): Promise<AskedCall>;
  confirmation(id: string): Promise<ConfirmationRecord>;
  call(id: string): Promise<CallRecord>;
  events(session: string): Promise<readonly StoredEvent[]>;
  journal(): Promise<readonly JournalLine[]>;
  kinds(): Promise<readonly string[]>;
}

export interface JournalLine {
  readonly kind: string;
  readonly body: JsonObject;
}

/** Opens a desk that is closed with the test. */
export async function openEngineFixture(options: EngineFixtureOptions = {}): Promise<EngineFixture> {
  const { url = "memory:", clock = new ManualClock(), hosts = true, ...rest } = options;
  const ledger = await createLedger(url, { clock });
  const engine = new Engine({ ...rest, ledger, clock });
  const app = new TestApp("finance");
  if (hosts) engine.host(app);
  onTestFinished(() => engine.close());
  return { engine, ledger, clock, app, ...readingOf(ledger), ...askingOf(engine, app) };
}

function askingOf(engine: Engine, { app }: TestApp): Pick<EngineFixture, "ask" | "askAll"> {
  let sessions = 0;
  const askAll: EngineFixture["askAll"] = async (inputs, user = "ana") => {
    sessions += 1;
    const invocationId = `inv-${sessions}`;
    const received = await receiveMessage(partsOf(engine), {
      session: { app, user, id: `s-${sessions}` },
      event: { author: "user", invocationId, content: { role: "user", parts: [{ text: "Go." }] } },
      frame: { kind: "llm", agent: "clerk", path: ["clerk"] },
    });
    if (!received.ok) throw new Error(received.message);
    const calls = inputs.map((input, index) => planned(input, `call-${index + 1}`, user));
    const turn = await recordTurn(partsOf(engine), received.frame, {
      event: { author: "clerk", invocationId },
      calls,
    });
    if (turn === undefined) throw new Error("the frame was lost");
    return turn.asked;
  };
  const ask: EngineFixture["ask"] = async (input, user) => {
    const [asked] = await askAll([input], user);
    if (asked === undefined) throw new Error("nothing was asked");
    return asked;
  };
  return { ask, askAll };
}

function planned({ tool, args = {}, question = {}, ...rest }: AskInput, wireId: string, user: string) {
  const { shown, ...asked } = question;
  const hint = `Approve execution of tool ${tool}?`;
  return {
    wireId,
    tool,
    args,
    definitionDigest: DEFINITION,
    ...rest,
    plan: {
      kind: "ask",
      question: {
        requirements: oneApproval("requester"),
        requesters: [user],
        ...asked,
        shown: { hint, why: ["requireConfirmation"], ...shown },
      },
    },
  } satisfies PlannedCall;
}

function readingOf(
  ledger: Ledger,
): Pick<EngineFixture, "confirmation" | "call" | "events" | "journal" | "kinds"> {
  const journal: EngineFixture["journal"] = async () => {
    const records = await ledger.journal.records({ after: 0, limit: 10_000 });
    return records.map(({ kind, body }) => ({ kind, body: (body ?? {}) as JsonObject }));
  };
  return {
    journal,
    kinds: async () => (await journal()).map(({ kind }) => kind),
    events: (session) => ledger.events(session),
    confirmation: async (id) => {
      const found = (await ledger.load({ confirmation: id }))?.confirmation;
      if (found === undefined) throw new Error(`no confirmation ${id}`);
      return found;
    },
    call: async (id) => {
      const [found] = await ledger.calls([id]);
      if (found === undefined) throw new Error(`no call ${id}`);
      return found;
    },
  };
}

import { accessSync } from "node:fs";
import { join } from "node:path";
import {
  type CallContext,
  type CallPlan,
  definitionDigest,
  Engine,
  type FrameRecord,
  finishFrame,
  type GateOptions,
  type Ledger,
  type LiveTool,
  oneApproval,
  partsOf,
  receiveMessage,
  recordTurn,
} from "../../src/engine/index.ts";
import { tryApprove, tryDeny } from "../../src/engine/testing/try-decide.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { programOptions } from "../support/processes/program.ts";
import { Barrier } from "./barrier.ts";
import { type FsyncOptions, MARK, type Marked, TIMES } from "./fsync.ts";

const BOSS = { by: { id: "boss" } };
const ANA = { id: "ana" };
const options = programOptions() as FsyncOptions;

/** A tool's body that stops wherever the test wants to count. */
type Body = (args: JsonObject, context: CallContext) => Promise<JsonValue>;

interface Opened {
  readonly engine: Engine;
  readonly ledger: Ledger;
}

let files = 0;

/** A ledger of its own for every command: its WAL stays far from the size at which SQLite would sync it. */
async function open(): Promise<Opened> {
  files += 1;
  const url = `sqlite:${join(options.folder, `${files}.db`)}`;
  const ledger = await createLedger({
    url,
    ...(options.durability === undefined ? {} : { durability: options.durability }),
  });
  const engine = new Engine({ ledger });
  // Whatever is synced only once in a file's life is behind us then.
  await engine.createSession({ app: "warm", user: "up", id: "0" });
  return { engine, ledger };
}

/** What is done between the marks is counted. */
async function counted(name: Marked, work: () => Promise<unknown>): Promise<void> {
  mark(`${name}/begin`);
  await work();
  mark(`${name}/end`);
}

// A system call that does nothing and stands in the trace among the others.
function mark(name: string): void {
  try {
    accessSync(`${MARK}${name}`);
  } catch {
    // There is no such file.
  }
}

async function times<T>(work: (index: number) => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  for (let index = 0; index < TIMES; index++) results.push(await work(index));
  return results;
}

async function pending(
  engine: Engine,
  gateOptions: GateOptions<JsonObject>,
  body: Body,
): Promise<readonly { readonly confirmation: string; readonly call: string }[]> {
  const gate = engine.gate<JsonObject, JsonValue>("pay", { requireConfirmation: true, ...gateOptions }, body);
  return times(async (index) => {
    const outcome = await gate({ index }, { key: `k${index}`, by: ANA });
    if (outcome.status !== "pending") throw new Error(`It is ${outcome.status}.`);
    return { confirmation: outcome.confirmation.id, call: outcome.callId };
  });
}

/** One for each call: what comes together is synced together, so each has to come alone. */
class Barriers {
  readonly #each = Array.from({ length: TIMES }, () => new Barrier());

  of({ index }: JsonObject): Barrier {
    const barrier = this.#each[Number(index)];
    if (barrier === undefined) throw new Error(`There is no call ${Number(index)}.`);
    return barrier;
  }
}

async function decisions(): Promise<void> {
  const { engine } = await open();
  const leave = new Barriers();
  const opened = await pending(engine, {}, async (args) => {
    await leave.of(args).passed();
    return null;
  });
  await counted("decide and claim", () =>
    times((index) => tryApprove(engine, opened[index]?.confirmation ?? "", BOSS)),
  );
  await counted("result", () =>
    times((index) => {
      leave.of({ index }).open();
      return engine.finished(opened[index]?.call ?? "");
    }),
  );
  await engine.close();
}

async function denials(): Promise<void> {
  const { engine } = await open();
  const opened = await pending(engine, {}, async () => null);
  await counted("deny", () => times((index) => tryDeny(engine, opened[index]?.confirmation ?? "", BOSS)));
  await engine.close();
}

async function steps(): Promise<void> {
  const { engine } = await open();
  const [begin, finish, leave] = [new Barriers(), new Barriers(), new Barriers()];
  const opened = await pending(engine, {}, async (args, context) => {
    await begin.of(args).passed();
    await context.step("charge", () => finish.of(args).passed());
    await leave.of(args).passed();
    return null;
  });
  await times((index) => tryApprove(engine, opened[index]?.confirmation ?? "", BOSS));
  const pass = (from: Barriers, to: Barriers): Promise<unknown> =>
    times(async (index) => {
      await from.of({ index }).arrived(1);
      from.of({ index }).open();
      await to.of({ index }).arrived(1);
    });
  await counted("step start", () => pass(begin, finish));
  await counted("step end", () => pass(finish, leave));
  await times(async (index) => leave.of({ index }).open());
  await engine.close();
}

async function claims(): Promise<void> {
  const { engine, ledger } = await open();
  const opened = await pending(engine, {}, async () => null);
  // Hosts nothing: it decides, and somebody else has to claim.
  const decider = new Engine({ ledger });
  await times(async (index) => {
    await counted("decide elsewhere", () => decider.approve(opened[index]?.confirmation ?? "", BOSS));
    await counted("claim alone", () => engine.work({ once: true }));
  });
  await engine.close();
}

async function frames(): Promise<void> {
  const { engine } = await open();
  const leave = new Barrier();
  const tool: LiveTool = {
    definitionDigest: definitionDigest({ name: "pay" }),
    asking: { approvers: "requester" },
    run: async () => {
      await leave.passed();
      return null;
    },
  };
  engine.host({ app: "agent", tool: () => tool });
  const message = async (session: string): Promise<FrameRecord> => {
    const received = await receiveMessage(partsOf(engine), {
      session: { app: "agent", user: ANA.id, id: session },
      event: { author: "user", invocationId: session },
      frame: { kind: "llm", agent: "a", path: ["a"] },
    });
    if (!received.ok) throw new Error(received.message);
    return received.frame;
  };
  const turn = (frame: FrameRecord | undefined, plan: CallPlan, repeatable = false): Promise<unknown> => {
    if (frame === undefined) throw new Error("There is no frame.");
    const event = { author: "a", invocationId: frame.invocation };
    const { definitionDigest: digest } = tool;
    const call = { wireId: "c", tool: "pay", args: {}, definitionDigest: digest, repeatable, plan };
    return recordTurn(partsOf(engine), frame, { event, calls: [call] });
  };
  const shown = { hint: "Pay?", why: ["test"] };
  const ask: CallPlan = {
    kind: "ask",
    question: { shown, requirements: oneApproval("requester"), requesters: [ANA.id] },
  };
  const run: CallPlan = { kind: "run", tool };
  const asking: FrameRecord[] = [];
  await counted("message", () => times(async (index) => asking.push(await message(`asks-${index}`))));
  await counted("model turn", () => times((index) => turn(asking[index], ask)));
  const running = await times((index) => message(`runs-${index}`));
  await counted("ungated claim", () => times((index) => turn(running[index], run)));
  const looking = await times((index) => message(`looks-${index}`));
  await counted("repeatable claim", () => times((index) => turn(looking[index], run, true)));
  const ending = await times((index) => message(`ends-${index}`));
  await counted("step of the model ends", () =>
    times((index) => finishFrame(partsOf(engine), ending[index] as FrameRecord, { status: "done" })),
  );
  leave.open();
  await engine.close();
}

await frames();
await decisions();
await denials();
await steps();
await claims();

import {
  Agent,
  type ConfirmationProvider,
  CountersignError,
  createEngine,
  createLedger,
  type DecisionResult,
  type Engine,
  type JsonObject,
  Runner,
  type Turn,
  tool,
} from "../../../src/index.ts";
import { LedgerFile } from "../../support/ledger/ledger-file.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";
import { SECRET } from "../life.ts";
import { CommitKiller } from "./killer.ts";
import { isAnswering, outcomesIn, puppet } from "./puppet.ts";
import {
  RACE_APP,
  type RunnerAnswer,
  type RunnerRacerLine,
  type RunnerRacerMessage,
  type RunnerRacerOptions,
  type RunnerTask,
} from "./racing.ts";
import { RunnerWorld } from "./world.ts";

const SWEEP_MS = 20;
/** Long enough that nobody loses it while a busy machine looks elsewhere. */
const PATIENT = { leaseMs: 20_000, heartbeatMs: 5_000 };

const options = programOptions() as RunnerRacerOptions;
const acting = { by: { id: options.name } };
const inBody: (() => void)[] = [];

/** What is asked for in words: `pay`, `slow` and `vouch` are done, anything else is only heard, `wait` in time. */
function tellerIn(world: RunnerWorld): Agent {
  const of = (name: string, requireConfirmation: boolean, before?: () => Promise<void>) =>
    tool({
      name,
      description: name,
      requireConfirmation,
      execute: async (args: JsonObject, ctx) => {
        await before?.();
        return world.perform({ tool: name, args, approvals: requireConfirmation ? 1 : 0 }, ctx);
      },
    });
  return new Agent({
    name: RACE_APP,
    model: puppet(async (request) => {
      if (isAnswering(request)) return outcomesIn(request);
      const words = request.contents.at(-1)?.parts.at(-1)?.text ?? "";
      const names = words.split(" ").filter((word) => ["pay", "slow", "vouch"].includes(word));
      if (words.startsWith("wait")) await untilLeft();
      if (names.length === 0) return `heard ${words}`;
      return names.map((name) => ({ functionCall: { name, args: { words } } }));
    }),
    tools: [of("pay", true), of("vouch", true), of("slow", false, untilLeft)],
    confirmationProvider: provider,
  });
}

async function untilLeft(): Promise<void> {
  const left = new Promise<void>((resolve) => {
    inBody.push(resolve);
  });
  tell({ type: "in-body" });
  await left;
}

/** Leaves everything to people, but thinks about `vouch` until somebody else has decided. */
const provider: ConfirmationProvider = async ({ toolName }, { signal }) => {
  if (toolName !== "vouch") return undefined;
  tell({ type: "asked" });
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  tell({ type: "aborted" });
  return false;
};

interface Decides {
  decide(id: string, confirmed: boolean): Promise<RunnerAnswer>;
}

class EngineSeat implements Decides {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async decide(id: string, confirmed: boolean): Promise<RunnerAnswer> {
    const receipt = await this.#engine.decisions.decide({ id, confirmed }, acting);
    if (!receipt.ok) return { ok: false, code: receipt.code, message: receipt.message };
    const { status } = await this.#engine.finished(receipt.call.id);
    return { ok: true, repeated: receipt.repeated, finished: status };
  }
}

class RunnerSeat implements Decides {
  readonly runner: Runner;

  constructor(runner: Runner) {
    this.runner = runner;
  }

  async decide(id: string, confirmed: boolean): Promise<RunnerAnswer> {
    try {
      const decided = await (confirmed ? this.runner.approve(id, acting) : this.runner.deny(id, acting));
      return await toAnswer(decided);
    } catch (error) {
      if (!CountersignError.isInstance(error)) throw error;
      return { ok: false, code: error.code, message: error.message };
    }
  }

  async perform(task: Extract<RunnerTask, { do: "send" | "run" }>): Promise<unknown> {
    const { session, text } = task;
    if (task.do === "send") {
      const turn = await this.runner.send(text, { user: "ana", session });
      return { status: turn.status, text: turn.text, pending: turn.pending.map(({ id }) => id) };
    }
    const ids: string[] = [];
    for await (const event of this.runner.run({ userId: "ana", sessionId: session, message: text })) {
      ids.push(event.id);
      tell({ type: "event", event });
    }
    return { ids };
  }
}

async function toAnswer({ confirmation, repeated, finished }: DecisionResult<Turn>): Promise<RunnerAnswer> {
  const { confirmed, by, at } = confirmation.decision ?? {};
  const turn = await finished;
  return {
    ok: true,
    repeated,
    decision: JSON.stringify([confirmed, by?.id, at]),
    finished: JSON.stringify([turn.status, turn.text]),
  };
}

// Blocks, so that nothing else of this process comes between the moment and what is done then.
function waitUntil(at = 0): void {
  while (performance.timeOrigin + performance.now() < at);
}

function tell(line: RunnerRacerLine): void {
  say(line);
}

async function takeSeat(): Promise<EngineSeat | RunnerSeat> {
  const ledger = await createLedger(`sqlite:${options.ledger}`);
  const settings = { ledger, secret: SECRET, hostName: options.name, ...PATIENT };
  if (options.role === "engine") return new EngineSeat(await createEngine(settings));
  const world = new RunnerWorld(options.effects, new LedgerFile(options.ledger), new CommitKiller());
  const runner = new Runner({ ...settings, app: RACE_APP, agent: tellerIn(world) });
  if (options.role === "worker") runner.work({ sweepMs: SWEEP_MS });
  // Opened now, so that what is timed is the race.
  await runner.engine();
  return new RunnerSeat(runner);
}

async function perform(seat: EngineSeat | RunnerSeat, task: RunnerTask): Promise<unknown> {
  waitUntil(task.at);
  if (task.do === "decide") {
    const { confirmation, confirmed, times } = task;
    return Promise.all(Array.from({ length: times }, () => seat.decide(confirmation, confirmed)));
  }
  if (seat instanceof RunnerSeat) return seat.perform(task);
  throw new Error("It only decides.");
}

const seat = await takeSeat();
listen((message) => {
  const told = message as RunnerRacerMessage;
  if (told.type === "leave") {
    for (const leave of inBody.splice(0)) leave();
    return;
  }
  perform(seat, told.task).then(
    (value) => tell({ type: "reply", id: told.id, value }),
    (error: unknown) => {
      const code = CountersignError.isInstance(error) ? error.code : "thrown";
      tell({ type: "reply", id: told.id, error: { code, message: String(error) } });
    },
  );
});
tell({ type: "ready" });

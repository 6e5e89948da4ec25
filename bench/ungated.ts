// What our own code adds to a call of a tool without a gate, by itself: the two adapters that the framework asks about it.
import { createGate as claudeGate } from "../src/adapters/claude-agent-sdk/index.ts";
import {
  type AdkTool,
  type AdkToolContext,
  createGate as adkGate,
} from "../src/adapters/google-adk/index.ts";
import { Engine } from "../src/engine/index.ts";
import { createLedger } from "../src/stores/index.ts";
import { cpuOf } from "./cpu.ts";
import { median } from "./statistics.ts";

const ROUNDS = 15;
/** These compile. */
const FIRST_ROUNDS = 5;
const CALLS = 20_000;

/** Microseconds of CPU a call, by adapter: medians of rounds, less the same call without the adapter. */
export async function ungatedCosts(): Promise<Readonly<Record<"google-adk" | "claude-agent-sdk", number>>> {
  const engine = new Engine({ ledger: await createLedger("memory:") });
  const { plain, wrapped } = adkCalls(engine);
  const hook = claudeCall(engine);
  const took: { readonly [name: string]: number[] } = { plain: [], wrapped: [], hook: [] };
  for (let round = -FIRST_ROUNDS; round < ROUNDS; round += 1)
    for (const [name, call] of Object.entries({ plain, wrapped, hook })) {
      const cpu = await cpuOf(async () => {
        for (let count = 0; count < CALLS; count += 1) await call();
      });
      if (round >= 0) took[name]?.push(cpu / CALLS);
    }
  await engine.close();
  const of = (name: string): number => median(took[name] ?? []);
  return { "google-adk": of("wrapped") - of("plain"), "claude-agent-sdk": of("hook") };
}

type Call = () => Promise<unknown>;

function adkCalls(engine: Engine): { readonly plain: Call; readonly wrapped: Call } {
  const note: AdkTool = {
    name: "note",
    description: "Notes a text.",
    _getDeclaration: () => ({}),
    runAsync: async ({ args }) => args,
    checkRequireConfirmation: async () => false,
  };
  const gate = adkGate({ engine, app: "shop", identify: ({ id }) => ({ thread: id }) });
  const [gated = note] = gate.tools([note]);
  const session = { id: "s", appName: "shop", userId: "ana", events: [] };
  const call =
    (tool: AdkTool): Call =>
    () => {
      // One queue for each answer of the model, as the ADK has it.
      const eventQueue = { push: () => {} };
      const toolContext: AdkToolContext = {
        invocationContext: { invocationId: "i", session, endInvocation: false, eventQueue },
        agentName: "cashier",
        functionCallId: "n0",
        actions: {},
        requestConfirmation: () => {},
      };
      return tool.runAsync({ args: { text: "hello" }, toolContext });
    };
  return { plain: call(note), wrapped: call(gated) };
}

function claudeCall(engine: Engine): Call {
  const gate = claudeGate({ engine, app: "shop", thread: "t", rules: { Bash: true } });
  const [matcher] = gate.hooks.PreToolUse;
  const [hook] = matcher?.hooks ?? [];
  if (hook === undefined) throw new Error("There is no hook.");
  const { signal } = new AbortController();
  const use = { hook_event_name: "PreToolUse", tool_name: "Read", tool_input: {}, tool_use_id: "n0" };
  return () => hook(use, "n0", { signal });
}

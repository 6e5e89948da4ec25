import {
  Agent,
  type AnyAgent,
  agentTool,
  type JsonObject,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  type Tool,
  tool,
} from "../../../src/index.ts";
import type { Part } from "../../../src/protocol/index.ts";
import { clerk, countOf, isAnswering, outcomesIn, puppet } from "./puppet.ts";
import type { RunnerWorld } from "./world.ts";

/** What an agent did, line by line: `calls` its tools, or `says` what came of them. Outcomes are left out. */
export type Script = { readonly [agent: string]: readonly string[] };

export interface Scenario {
  /** The same tree in every process. */
  readonly agent: (world: RunnerWorld) => AnyAgent;
  readonly script: Script;
  /** Fewer commits than this, and the kills between them prove less than they say. */
  readonly commits: number;
}

export const SCENARIOS = {
  plain: {
    agent: (world) =>
      agentOf("assistant", clerk(call("pay"), call("note"), call("asks"), call("wipe")), {
        tools: [gated(world, "pay"), plain(world, "note"), asking(world), gated(world, "wipe")],
      }),
    script: { assistant: ["calls pay note asks wipe", "says pay note asks wipe"] },
    commits: 10,
  },
  transfer: {
    agent: (world) =>
      agentOf("desk", clerk(call("transfer_to_agent", { agent_name: "payer" })), {
        subAgents: [agentOf("payer", clerk(call("pay")), { tools: [gated(world, "pay")] })],
      }),
    script: { desk: ["calls transfer_to_agent"], payer: ["calls pay", "says pay"] },
    commits: 7,
  },
  nested: {
    agent: (world) => {
      const inner = agentOf("inner", clerk(call("pay"), call("note")), {
        tools: [gated(world, "pay"), plain(world, "note")],
      });
      const middle = agentOf("middle", clerk(ask("inner")), { tools: [agentTool(inner)] });
      return agentOf("outer", clerk(ask("middle"), call("note")), {
        tools: [agentTool(middle), plain(world, "note")],
      });
    },
    script: {
      outer: ["calls middle note", "says middle note"],
      middle: ["calls inner", "says inner"],
      inner: ["calls pay note", "says pay note"],
    },
    commits: 10,
  },
  sequence: {
    agent: (world) =>
      new SequentialAgent({
        name: "steps",
        subAgents: [
          agentOf("first", clerk(call("pay"), call("note")), {
            tools: [gated(world, "pay"), plain(world, "note")],
          }),
          agentOf("last", clerk(call("wipe")), { tools: [gated(world, "wipe")] }),
        ],
      }),
    script: {
      first: ["calls pay note", "says pay note"],
      last: ["calls wipe", "says wipe"],
    },
    commits: 9,
  },
  group: {
    agent: (world) =>
      new SequentialAgent({
        name: "steps",
        subAgents: [
          new ParallelAgent({
            name: "both",
            subAgents: [
              agentOf("left", clerk(call("pay")), { tools: [gated(world, "pay")] }),
              agentOf("right", clerk(call("note"), call("wipe")), {
                tools: [plain(world, "note"), gated(world, "wipe")],
              }),
            ],
          }),
          agentOf("after", clerk(call("note")), { tools: [plain(world, "note")] }),
        ],
      }),
    script: {
      left: ["calls pay", "says pay"],
      right: ["calls note wipe", "says note wipe"],
      after: ["calls note", "says note"],
    },
    commits: 15,
  },
  loop: {
    agent: (world) =>
      new LoopAgent({
        name: "rounds",
        maxIterations: 5,
        subAgents: [agentOf("worker", worker(), { tools: [gated(world, "pay"), exitLoop(world)] })],
      }),
    script: { worker: ["calls pay", "says pay", "calls pay", "says pay", "calls exit_loop"] },
    commits: 12,
  },
  provider: {
    agent: (world) =>
      agentOf("vouched", clerk(call("pay"), call("note")), {
        tools: [gated(world, "pay"), plain(world, "note")],
        confirmationProvider: ({ toolCallId }) => world.vouch(toolCallId),
      }),
    script: { vouched: ["calls pay note", "says pay note"] },
    commits: 5,
  },
} as const satisfies { readonly [name: string]: Scenario };

export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];

/** Tools that people do not let run. */
export function isDenied(toolName: string): boolean {
  return toolName === "wipe";
}

function agentOf(
  name: string,
  model: ReturnType<typeof puppet>,
  options: Partial<ConstructorParameters<typeof Agent>[0]>,
): Agent {
  return new Agent({ name, description: name, model, ...options });
}

function call(name: string, args: JsonObject = {}): Part {
  return { functionCall: { name, args: { of: name, ...args } } };
}

function ask(agent: string): Part {
  return { functionCall: { name: agent, args: { request: "Do it." } } };
}

/** Pays twice, then leaves the loop. Which round it is in follows from what it is shown. */
function worker(): ReturnType<typeof puppet> {
  return puppet((request) => {
    if (isAnswering(request)) return outcomesIn(request);
    const round = countOf(request, "pay") + 1;
    return [round <= 2 ? call("pay", { round }) : call("exit_loop")];
  });
}

function gated(world: RunnerWorld, name: string): Tool {
  return tool({
    name,
    description: name,
    requireConfirmation: true,
    execute: (args: JsonObject, ctx) => world.perform({ tool: name, args, approvals: 1 }, ctx),
  });
}

function plain(world: RunnerWorld, name: string): Tool {
  return tool({
    name,
    description: name,
    execute: (args: JsonObject, ctx) => world.perform({ tool: name, args, approvals: 0 }, ctx),
  });
}

/** Works before it asks and after it was answered. */
function asking(world: RunnerWorld): Tool {
  return tool({
    name: "asks",
    description: "asks",
    execute: async (args: JsonObject, ctx) => {
      await ctx.step("charge", ({ idempotencyKey: key }) =>
        world.act({ tool: "asks", what: "step:charge", args, approvals: 0, key }, ctx),
      );
      await ctx.confirm("manager", { hint: "May it be shipped?" });
      return world.perform({ tool: "asks", args, approvals: 1 }, ctx);
    },
  });
}

function exitLoop(world: RunnerWorld): Tool {
  return tool({
    name: "exit_loop",
    description: "exit_loop",
    idempotent: true,
    execute: async (args: JsonObject, ctx) => {
      const result = await world.perform({ tool: "exit_loop", args, approvals: 0 }, ctx);
      ctx.actions.escalate = true;
      ctx.actions.skipSummarization = true;
      return result;
    },
  });
}

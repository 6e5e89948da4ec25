import { describe, expect, test } from "vitest";
import {
  call,
  type Line,
  play,
  resultsIn,
  type StrictModel,
  useRunners,
  wordsIn,
} from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  Agent,
  type AgentOptions,
  agentTool,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  tool,
} from "../../index.ts";
import { readAgentTree } from "./agent-tree.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

const transferTo = (name: string, id?: string) => call("transfer_to_agent", { agent_name: name }, id);

function agentOf(
  name: string,
  lines: readonly Line[],
  options: Partial<AgentOptions> = {},
): Agent & { readonly model: StrictModel } {
  return new Agent({ name, description: `${name} does it.`, model: play(...lines), ...options }) as never;
}

const pay = tool({
  name: "pay",
  description: "",
  requireConfirmation: true,
  execute: () => ({ paid: true }),
});

describe("the tree", () => {
  test("two agents of one name are refused when the Runner is made", () => {
    const agent = new Agent({ name: "a", subAgents: [new Agent({ name: "b" }), new Agent({ name: "b" })] });
    expect(() => makeRunner({ agent })).toThrow(/Two agents are named "b"/);
  });

  test.each(["", "user"])("an agent cannot be called %j", (name) => {
    expect(() => new Agent({ name })).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });

  test.each([
    ["Agent", () => new Agent({ name: "a", tolls: [] } as never)],
    ["SequentialAgent", () => new SequentialAgent({ name: "a", subAgents: [], max: 1 } as never)],
    ["ParallelAgent", () => new ParallelAgent({ name: "a", subAgents: [], max: 1 } as never)],
    ["LoopAgent", () => new LoopAgent({ name: "a", subAgents: [], maxIterations: 1, max: 1 } as never)],
  ])("an option that %s does not know is refused", (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });

  test("an agent of another copy of the package is refused, anywhere in the tree", () => {
    // What such a copy makes looks the same and is of another class.
    const copied = Object.assign({}, new Agent({ name: "copied" }));
    const root = new SequentialAgent({ name: "root", subAgents: [copied] });
    for (const agent of [copied, root]) {
      expect(() => makeRunner({ agent })).toThrow(/"copied" was created with a different copy/);
    }
  });

  test("one may hand over to one's sub-agents, parent and siblings, and to nobody who only arranges others' work", () => {
    const leaf = new Agent({ name: "leaf" });
    const left = new Agent({ name: "left", subAgents: [leaf] });
    const steps = new SequentialAgent({ name: "steps", subAgents: [new Agent({ name: "step" })] });
    const inner = new Agent({ name: "inner" });
    const root = new Agent({ name: "root", subAgents: [left, steps], tools: [agentTool(inner)] });
    const tree = readAgentTree(root);
    const targets = (name: string) => tree.transferTargets(name).map((agent) => agent.name);
    expect(targets("root")).toEqual(["left", "steps"]);
    expect(targets("left")).toEqual(["leaf", "root", "steps"]);
    expect(targets("leaf")).toEqual(["left"]);
    expect(targets("step")).toEqual([]);
    expect(targets("inner")).toEqual([]);
    expect(["root", "leaf", "step", "inner"].map((name) => tree.isReachable(name))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

function officeOf(front: readonly Line[], billing: readonly Line[]): Agent {
  return agentOf("front", front, { subAgents: [agentOf("billing", billing, { tools: [pay] })] });
}

describe("a handover", () => {
  test("is a tail call: the other agent answers, and sees what was said, told as context", async () => {
    const billing = agentOf("billing", ["I am billing."]);
    const front = agentOf("front", [[{ text: "I hand over." }, transferTo("billing")]], {
      subAgents: [billing],
    });
    const turn = await makeRunner({ agent: front }).send("my bill", ana);
    expect(turn).toMatchObject({ status: "completed", text: "I hand over.\nI am billing." });
    expect(wordsIn(billing.model.requests[0] ?? { contents: [], tools: [] })).toEqual([
      "my bill",
      "For context:",
      "[front] said: I hand over.",
      '[front] called tool `transfer_to_agent` with parameters: {"agent_name":"billing"}',
      '[front] `transfer_to_agent` tool returned result: {"result":null}',
    ]);
  });

  test("the model is told whom it may hand over to, and a name that is not among them is a mistake", async () => {
    const billing = agentOf("billing", []);
    const front = agentOf("front", [[transferTo("nobody")], "Sorry."], { subAgents: [billing] });
    await makeRunner({ agent: front }).send("my bill", ana);
    expect(front.model.requests[0]?.tools).toMatchObject([
      { name: "transfer_to_agent", parameters: { properties: { agent_name: { enum: ["billing"] } } } },
    ]);
    expect(front.model.requests.slice(1).flatMap(resultsIn)).toMatchObject([{ code: "arguments-mismatch" }]);
  });

  test("of two in one turn the first counts, and the second gets an error", async () => {
    const one = agentOf("one", ["I am one."]);
    const two = agentOf("two", ["I am two."]);
    const front = agentOf("front", [[transferTo("one", "t1"), transferTo("two", "t2")]], {
      subAgents: [one, two],
    });
    const turn = await makeRunner({ agent: front }).send("go", ana);
    expect(turn.text).toBe("I am one.");
    expect(two.model.requests).toEqual([]);
    const results = turn.events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    );
    expect(results.find(({ id }) => id === "t2")?.response).toEqual({
      error: "the conversation was already transferred; only one agent can take it",
    });
  });

  test("a mistaken first one leaves the second its chance", async () => {
    const one = agentOf("one", ["I am one."]);
    const front = agentOf("front", [[transferTo("nobody"), transferTo("one")]], { subAgents: [one] });
    expect(await makeRunner({ agent: front }).send("go", ana)).toMatchObject({ text: "I am one." });
  });

  test("waits for the other calls of its turn, and is gated like any call", async () => {
    const billing = agentOf("billing", ["I am billing."]);
    const front = agentOf("front", [[call("pay"), transferTo("billing")]], {
      subAgents: [billing],
      tools: [pay],
    });
    const runner = makeRunner({
      agent: front,
      policy: ({ tool: name }) =>
        name === "transfer_to_agent" ? { outcome: "confirm", reason: "handover" } : undefined,
    });
    const turn = await runner.send("go", ana);
    expect(turn.pending.map(({ tool: name }) => name)).toEqual(["pay", "transfer_to_agent"]);
    const first = await runner.approve(String(turn.pending[1]?.id), byAna);
    expect(await first.finished).toMatchObject({ status: "paused" });
    expect(billing.model.requests).toEqual([]);
    const second = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await second.finished).toMatchObject({ status: "completed", text: "I am billing." });
  });

  test("denied, leaves the conversation where it is", async () => {
    const billing = agentOf("billing", []);
    const front = agentOf("front", [[transferTo("billing")], "I stay."], { subAgents: [billing] });
    const runner = makeRunner({ agent: front, policy: () => ({ outcome: "confirm", reason: "handover" }) });
    const turn = await runner.send("go", ana);
    const { finished } = await runner.deny(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ text: "I stay." });
  });

  test("lasts: the next message is answered by whoever took over, also in another process", async () => {
    const ledger = `sqlite:${await resources.folder()}/handover.db`;
    const first = makeRunner({ ledger, agent: officeOf([[transferTo("billing")]], ["I am billing."]) });
    await first.send("my bill", { ...ana, session: "s" });
    const second = makeRunner({
      ledger,
      agent: officeOf(["Back at the front."], ["Still billing.", [transferTo("front")]]),
    });
    expect(await second.send("and?", { ...ana, session: "s" })).toMatchObject({ text: "Still billing." });
    expect(await second.send("thanks", { ...ana, session: "s" })).toMatchObject({
      text: "Back at the front.",
    });
    expect(await second.send("hello?", { ...ana, session: "s" })).toMatchObject({ status: "failed" });
  });

  test("a pause after it belongs to the new agent, and is resumed by another process there", async () => {
    const ledger = `sqlite:${await resources.folder()}/pause.db`;
    const first = makeRunner({
      ledger,
      agent: officeOf([[transferTo("billing")]], [[call("pay", { n: 1 })]]),
    });
    const turn = await first.send("my bill", ana);
    expect(turn.pending).toMatchObject([
      { agent: "billing", path: ["billing"], tool: "pay", args: { n: 1 } },
    ]);
    const second = makeRunner({ ledger, agent: officeOf([], ["Paid by billing."]) });
    const { finished } = await second.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ text: expect.stringContaining("Paid by billing.") as string });
  });

  test("a tool may hand over by its actions", async () => {
    const escalate = tool({
      name: "call_manager",
      description: "",
      execute: (_args, ctx) => {
        ctx.actions.transferToAgent = "manager";
        return "one moment";
      },
    });
    const manager = agentOf("manager", ["I am the manager."]);
    const front = agentOf("front", [[call("call_manager")]], { subAgents: [manager], tools: [escalate] });
    expect(await makeRunner({ agent: front }).send("manager!", ana)).toMatchObject({
      text: "I am the manager.",
    });
  });

  test("a tool may have the last word: its model is not asked again", async () => {
    const done = tool({
      name: "done",
      description: "",
      execute: (_args, ctx) => {
        ctx.actions.skipSummarization = true;
        return { raw: true };
      },
    });
    const agent = agentOf("a", [[{ text: "Here:" }, call("done")]], { tools: [done] });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ status: "completed", text: "Here:" });
    expect(agent.model.requests).toHaveLength(1);
  });
});

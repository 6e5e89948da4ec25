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
  type AnyAgent,
  agentTool,
  ParallelAgent,
  SequentialAgent,
  tool,
  toolset,
  withConfirmation,
} from "../../index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

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
  execute: (args) => ({ paid: args["amount"] ?? null }),
});

const ask = (name: string, request: string, id?: string) => call(name, { request }, id);

describe("an agent as a tool", () => {
  test("is asked like a tool, sees only what it is asked, and its last words are the result", async () => {
    const clerk = agentOf("clerk", ["It is 42."]);
    const boss = agentOf("boss", [[ask("clerk", "How much?")], "42, I hear."], { tools: [agentTool(clerk)] });
    const turn = await makeRunner({ agent: boss }).send("What is the price?", ana);
    expect(turn).toMatchObject({ status: "completed", text: "42, I hear." });
    expect(clerk.model.requests[0]?.contents).toEqual([{ role: "user", parts: [{ text: "How much?" }] }]);
    expect(boss.model.requests.slice(1).flatMap(resultsIn)).toEqual([{ result: "It is 42." }]);
    expect(wordsIn(boss.model.requests[1] ?? { contents: [], tools: [] })).toEqual(["What is the price?"]);
  });

  test("is told to the model under its name and description, or those it is given", async () => {
    const clerk = agentTool(agentOf("clerk", []), { name: "ask_clerk", description: "Knows prices." });
    const boss = agentOf("boss", ["Hi."], { tools: [clerk] });
    await makeRunner({ agent: boss }).send("hi", ana);
    expect(boss.model.requests[0]?.tools).toMatchObject([
      { name: "ask_clerk", description: "Knows prices.", parameters: { required: ["request"] } },
    ]);
  });

  test("is gated like a tool: denied, its agent is never asked", async () => {
    const clerk = agentOf("clerk", []);
    const boss = agentOf("boss", [[ask("clerk", "How much?")], "I may not ask."], {
      tools: [agentTool(clerk, { requireConfirmation: true })],
    });
    const runner = makeRunner({ agent: boss });
    const turn = await runner.send("price?", ana);
    expect(turn.pending).toMatchObject([{ tool: "clerk", args: { request: "How much?" } }]);
    const { finished } = await runner.deny(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ text: "I may not ask." });
    expect(clerk.model.requests).toEqual([]);
  });

  test("may stand in a toolset, behind its confirmation", async () => {
    const clerk = agentOf("clerk", ["It is 42."]);
    const tools = [withConfirmation(toolset("people", [agentTool(clerk)]))];
    const boss = agentOf("boss", [[ask("clerk", "How much?")], "42."], { tools });
    const runner = makeRunner({ agent: boss });
    const turn = await runner.send("price?", ana);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "42." });
  });

  test("that fails is an error to the agent that asked, which goes on", async () => {
    const clerk = agentOf("clerk", []);
    const boss = agentOf("boss", [[ask("clerk", "How much?")], "The clerk is out."], {
      tools: [agentTool(clerk)],
    });
    expect(await makeRunner({ agent: boss }).send("price?", ana)).toMatchObject({
      status: "completed",
      text: "The clerk is out.",
    });
    expect(boss.model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: "There is no line 1 in the play." },
    ]);
  });

  test("two at the same time do not hear each other", async () => {
    const clerk = agentOf("clerk", [
      ({ contents }) => `heard ${contents.length}`,
      ({ contents }) => `heard ${contents.length}`,
    ]);
    const boss = agentOf("boss", [[ask("clerk", "one", "a.1"), ask("clerk", "two", "a.2")], "Both."], {
      tools: [agentTool(clerk)],
    });
    await makeRunner({ agent: boss }).send("go", ana);
    expect(boss.model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { result: "heard 1" },
      { result: "heard 1" },
    ]);
  });

  test("made of several agents answers with the last one's words", async () => {
    const steps = new SequentialAgent({
      name: "steps",
      subAgents: [agentOf("one", ["First."]), agentOf("two", ["Second."])],
    });
    const boss = agentOf("boss", [[ask("steps", "go")], "Done."], { tools: [agentTool(steps)] });
    await makeRunner({ agent: boss }).send("go", ana);
    expect(boss.model.requests.slice(1).flatMap(resultsIn)).toEqual([{ result: "Second." }]);
  });
});

/** boss → office (agent as tool) → steps (a sequence) → clerk, whose tool is gated. */
function company(lines: {
  readonly boss: readonly Line[];
  readonly office: readonly Line[];
  readonly clerk: readonly Line[];
}): Agent {
  const clerk = agentOf("clerk", lines.clerk, { tools: [pay] });
  const steps = new SequentialAgent({ name: "steps", subAgents: [clerk] });
  const office = agentOf("office", lines.office, { tools: [agentTool(steps)] });
  return agentOf("boss", lines.boss, { tools: [agentTool(office)] });
}

describe("a pause inside it", () => {
  test("bubbles to the top session, showing the inner tool, its arguments and the path to it", async () => {
    const runner = makeRunner({
      agent: company({
        boss: [[ask("office", "pay the rent")]],
        office: [[ask("steps", "pay it")]],
        clerk: [[call("pay", { amount: 900 })]],
      }),
    });
    const turn = await runner.send("rent!", { ...ana, session: "top" });
    expect(turn.status).toBe("paused");
    expect(turn.pending).toMatchObject([
      {
        session: "top",
        agent: "clerk",
        path: ["boss", "office", "steps", "clerk"],
        tool: "pay",
        args: { amount: 900 },
      },
    ]);
  });

  test("is resumed inside the nested agent by another process, and the answers climb back up", async () => {
    const ledger = `sqlite:${await resources.folder()}/nested.db`;
    const first = makeRunner({
      ledger,
      agent: company({
        boss: [[ask("office", "pay the rent")]],
        office: [[ask("steps", "pay it")]],
        clerk: [[call("pay", { amount: 900 })]],
      }),
    });
    const turn = await first.send("rent!", ana);
    await first.close();
    const agent = company({
      boss: ["The rent is paid."],
      office: ["Paid, says the clerk."],
      clerk: ["I paid 900."],
    });
    const second = makeRunner({ ledger, agent });
    const { finished } = await second.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "The rent is paid." });
    const boss = agent as Agent & { readonly model: StrictModel };
    expect(boss.model.requests.flatMap(resultsIn)).toEqual([{ result: "Paid, says the clerk." }]);
  });

  test("denied, is told to the inner agent, which words it for the outer one", async () => {
    const agent = company({
      boss: [[ask("office", "pay the rent")], "They will not pay."],
      office: [[ask("steps", "pay it")], "Refused."],
      clerk: [[call("pay", { amount: 900 })], "I was not allowed."],
    });
    const runner = makeRunner({ agent });
    const turn = await runner.send("rent!", ana);
    const { finished } = await runner.deny(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "They will not pay." });
  });

  test("does not keep the outer agent's other calls from running", async () => {
    const log: string[] = [];
    const look = tool({ name: "look", description: "", execute: () => void log.push("look") });
    const clerk = agentOf("clerk", [[call("pay", {}, "p1")], "Paid."], { tools: [pay] });
    const boss = agentOf("boss", [[ask("clerk", "pay"), call("look")], "All done."], {
      tools: [agentTool(clerk), look],
    });
    const runner = makeRunner({ agent: boss });
    const turn = await runner.send("go", ana);
    expect(log).toEqual(["look"]);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ text: "All done." });
  });

  test("in several nested agents at once: each is decided on its own", async () => {
    const clerks = ["left", "right"].map(
      (name): AnyAgent => agentOf(name, [[call("pay", { amount: name })], `${name} paid.`], { tools: [pay] }),
    );
    const both = new ParallelAgent({ name: "both", subAgents: clerks });
    const boss = agentOf("boss", [[ask("both", "pay")], "Both paid."], { tools: [agentTool(both)] });
    const runner = makeRunner({ agent: boss });
    const turn = await runner.send("go", ana);
    expect(turn.pending.map(({ path }) => path.join("/")).toSorted()).toEqual([
      "boss/both/left",
      "boss/both/right",
    ]);
    const first = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await first.finished).toMatchObject({ status: "paused" });
    const second = await runner.approve(String(turn.pending[1]?.id), byAna);
    expect(await second.finished).toMatchObject({ status: "completed", text: "Both paid." });
  });

  test("while it waits, the user may talk to the outer agent", async () => {
    const clerk = agentOf("clerk", [[call("pay")], "Paid."], { tools: [pay] });
    const boss = agentOf("boss", [[ask("clerk", "pay", "c1")], "The clerk waits for you.", "All paid."], {
      tools: [agentTool(clerk)],
    });
    const runner = makeRunner({ agent: boss });
    const turn = await runner.send("go", { ...ana, session: "s" });
    expect(await runner.send("and?", { ...ana, session: "s" })).toMatchObject({
      text: "The clerk waits for you.",
    });
    expect(boss.model.requests[1]?.contents[2]?.parts[0]?.functionResponse?.response).toMatchObject({
      message: "awaiting a person's decision; it has not finished",
    });
    const { finished } = await runner.approve(String(turn.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ text: "All paid." });
    expect(wordsIn(clerk.model.requests[1] ?? { contents: [], tools: [] })).toEqual(["pay"]);
  });
});

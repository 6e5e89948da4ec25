import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, play, resultsIn, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  Agent,
  type Policy,
  type PolicyVerdict,
  type Tool,
  tool,
  toolset,
  withConfirmation,
} from "../../index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function payTool(options: { readonly gated?: boolean; readonly paid?: number[] } = {}): Tool {
  return tool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ amount: z.number() }),
    ...(options.gated === undefined ? {} : { requireConfirmation: options.gated }),
    execute: ({ amount }) => {
      options.paid?.push(amount);
      return { paid: amount };
    },
  });
}

const financeApproves: Policy = () => ({
  outcome: "confirm",
  reason: "big",
  approvers: { roles: ["finance"] },
});
const bossApproves: Policy = () => ({ outcome: "confirm", reason: "r", approvers: { users: ["boss"] } });

function throws(): never {
  throw new Error("broken");
}

const says = (verdict: PolicyVerdict["outcome"] | undefined): Policy => {
  return () => (verdict === undefined ? undefined : { outcome: verdict, reason: `the rule says ${verdict}` });
};

describe("all sources are asked, the strictest wins", () => {
  test.each([
    { gated: false, policy: undefined, status: "completed", ran: true },
    { gated: false, policy: "allow", status: "completed", ran: true },
    { gated: false, policy: "confirm", status: "paused", ran: false },
    { gated: false, policy: "deny", status: "completed", ran: false },
    { gated: true, policy: undefined, status: "paused", ran: false },
    { gated: true, policy: "allow", status: "paused", ran: false },
    { gated: true, policy: "confirm", status: "paused", ran: false },
    { gated: true, policy: "deny", status: "completed", ran: false },
  ] as const)(
    "a tool with requireConfirmation: $gated under a rule that says $policy is $status",
    async ({ gated, policy, status, ran }) => {
      const paid: number[] = [];
      const model = play([call("pay", { amount: 5 })], "Done.");
      const agent = new Agent({ name: "a", model, tools: [payTool({ gated, paid })] });
      const turn = await makeRunner({ agent, policy: says(policy) }).send("pay", ana);
      expect(turn.status).toBe(status);
      expect(paid).toEqual(ran ? [5] : []);
    },
  );

  test("every reason is on the card", async () => {
    const confirmed = withConfirmation(toolset("money", [payTool({ gated: true })]));
    const agent = new Agent({
      name: "a",
      model: play([call("pay", { amount: 5 })]),
      tools: [confirmed],
      beforeTool: ({ ctx }) => ctx.requestConfirmation(),
    });
    const turn = await makeRunner({ agent, policy: says("confirm") }).send("pay", ana);
    expect(turn.pending[0]?.why).toEqual([
      "the tool requires confirmation",
      "its toolset requires confirmation",
      "the rule says confirm",
      "a hook asks for confirmation",
    ]);
  });

  test("a rule that denies is told to the model with its reason", async () => {
    const model = play([call("pay", { amount: 5 })], "I may not.");
    const agent = new Agent({ name: "a", model, tools: [payTool()] });
    await makeRunner({ agent, policy: says("deny") }).send("pay", ana);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: "tool call was denied by policy", reason: "the rule says deny" },
    ]);
  });

  test("a rule whose approvers are misspelt leaves no card that nobody can decide: nothing runs, and the run is told", async () => {
    const paid: number[] = [];
    const model = play([call("pay", { amount: 5 })], "I may not.");
    const agent = new Agent({ name: "a", model, tools: [payTool({ gated: true, paid })] });
    const approvers = { anyOff: ["boss"] } as object;
    const runner = makeRunner({ agent, policy: () => ({ outcome: "confirm", reason: "money", approvers }) });
    const turn = await runner.send("pay", ana);
    expect(turn).toMatchObject({ status: "completed", pending: [] });
    expect(paid).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      {
        error: "tool call was denied by policy",
        reason: expect.stringContaining('"money" has an invalid approvers: {"anyOff":["boss"]}') as string,
      },
    ]);
  });

  test("a rule sees the entry point, the app, the agent, the tool, the parsed arguments, the user, the session and its state", async () => {
    const seen: unknown[] = [];
    const policy: Policy = (about) => void seen.push(about);
    const model = play([call("pay", { amount: 5 })], "Done.");
    const runner = makeRunner({
      app: "bank",
      agent: new Agent({ name: "a", model, tools: [payTool()] }),
      policy,
    });
    const { session } = await runner.send("p", { ...ana, stateDelta: { tier: "gold" } });
    expect(seen).toEqual([
      {
        entryPoint: "runner",
        app: "bank",
        agent: "a",
        tool: "pay",
        args: { amount: 5 },
        shown: { amount: 5 },
        user: "ana",
        requesters: ["ana"],
        roles: [],
        authenticated: false,
        session,
        state: { tier: "gold" },
        at: expect.any(Number) as number,
      },
    ]);
  });

  test("a rule that names approvers keeps everyone else from deciding", async () => {
    const agent = new Agent({
      name: "a",
      model: play([call("pay", { amount: 5 })], "Done."),
      tools: [payTool()],
    });
    const runner = makeRunner({ agent, policy: financeApproves });
    const turn = await runner.send("pay", ana);
    const id = String(turn.pending[0]?.id);
    await expect(runner.approve(id, byAna)).rejects.toMatchObject({ code: "not-an-approver" });
    const { finished } = await runner.approve(id, { by: { id: "bo", roles: ["finance"] } });
    expect(await finished).toMatchObject({ status: "completed" });
  });
});

describe("a judgement that fails means yes", () => {
  test.each<[string, Partial<Parameters<typeof tool<{ amount: number }>>[0]>, Policy | undefined]>([
    ["a predicate that throws", { requireConfirmation: throws }, undefined],
    ["a predicate that rejects", { requireConfirmation: async () => throws() }, undefined],
    [
      "a predicate that gives something else than false",
      { requireConfirmation: () => 0 as never },
      undefined,
    ],
    ["a rule that throws", {}, throws],
  ])("%s", async (_, options, policy) => {
    const pay = tool({
      name: "pay",
      description: "Pays.",
      parameters: z.object({ amount: z.number() }),
      execute: () => "paid",
      ...options,
    });
    const agent = new Agent({ name: "a", model: play([call("pay", { amount: 5 })]), tools: [pay] });
    const turn = await makeRunner({ agent, ...(policy === undefined ? {} : { policy }) }).send("pay", ana);
    expect(turn.status).toBe("paused");
  });

  test("a hand-written tool whose gates throw", async () => {
    const broken: Tool = { ...payTool(), gates: async () => throws() };
    const agent = new Agent({ name: "a", model: play([call("pay", { amount: 5 })]), tools: [broken] });
    expect(await makeRunner({ agent }).send("pay", ana)).toMatchObject({ status: "paused" });
  });

  test("a hint that throws leaves the default one", async () => {
    const pay = tool({
      name: "pay",
      description: "Pays.",
      requireConfirmation: true,
      confirmationHint: throws,
      execute: () => "paid",
    });
    const agent = new Agent({ name: "a", model: play([call("pay")]), tools: [pay] });
    const turn = await makeRunner({ agent }).send("pay", ana);
    expect(turn.pending[0]?.hint).toBe("Approve execution of tool pay?");
  });
});

describe("when an approved call is about to start", () => {
  test("a rule that denies by now keeps it from running", async () => {
    let outcome: PolicyVerdict["outcome"] = "confirm";
    const paid: number[] = [];
    const model = play([call("pay", { amount: 5 })], "I may not.");
    const agent = new Agent({ name: "a", model, tools: [payTool({ paid })] });
    const runner = makeRunner({ agent, policy: () => ({ outcome, reason: `now ${outcome}` }) });
    const turn = await runner.send("pay", ana);
    outcome = "deny";
    await expect(runner.approve(String(turn.pending[0]?.id), byAna)).rejects.toMatchObject({
      code: "policy-denied",
    });
    expect(paid).toEqual([]);
    expect(await runner.pending()).toEqual([]);
  });

  test("a rule that now allows the call changes nothing: the question stays open", async () => {
    let outcome: PolicyVerdict["outcome"] = "confirm";
    const agent = new Agent({
      name: "a",
      model: play([call("pay", { amount: 5 })], "Done."),
      tools: [payTool()],
    });
    const runner = makeRunner({ agent, policy: () => ({ outcome, reason: "r" }) });
    await runner.send("pay", ana);
    outcome = "allow";
    expect(await runner.pending()).toHaveLength(1);
  });

  interface Version {
    readonly description: string;
    readonly parameters: z.ZodType<{ amount: number }>;
  }

  /** Asks with one version of a tool, and has another version of it approved in a later deploy. */
  async function deploy(first: Version, second: Version, policy: Policy = bossApproves) {
    const ledger = `sqlite:${await resources.folder()}/tools.db`;
    const paid: unknown[] = [];
    const agentWith = (version: Version, model = play([call("pay", { amount: 5 })], "Done.")) =>
      new Agent({
        name: "a",
        model,
        tools: [
          tool({
            name: "pay",
            requireConfirmation: true,
            execute: (args) => void paid.push(args),
            ...version,
          }),
        ],
      });
    const asked = await makeRunner({ ledger, policy, agent: agentWith(first) }).send("pay", ana);
    const runner = makeRunner({ ledger, policy, agent: agentWith(second, play("Done.")) });
    return { runner, id: String(asked.pending[0]?.id), paid };
  }

  const plain: Version = { description: "Pays.", parameters: z.object({ amount: z.number() }) };
  const byBoss = { by: { id: "boss" } } as const;

  test("a tool that is not the one that was shown does not run; a person is asked again under the same rule", async () => {
    const { runner, id, paid } = await deploy(plain, { ...plain, description: "Pays twice." });
    await expect(runner.approve(id, byBoss)).rejects.toMatchObject({ code: "definition-changed" });
    expect(paid).toEqual([]);
    const [again] = await runner.pending();
    expect(again).toMatchObject({
      args: { amount: 5 },
      requirements: [{ from: { users: ["boss"] }, count: 1 }],
    });
    expect(again?.why).toContain(
      'the tool changed after the question was asked: its description changed from "Pays." to "Pays twice."',
    );
    await expect(runner.approve(String(again?.id), byAna)).rejects.toMatchObject({ code: "not-an-approver" });
    await (await runner.approve(String(again?.id), byBoss)).finished;
    expect(paid).toEqual([{ amount: 5 }]);
  });

  test("whoever a rule required still has to approve, also if no rule asks about the changed tool", async () => {
    let ask = true;
    const policy: Policy = (about) => (ask ? bossApproves(about) : undefined);
    const { runner, id, paid } = await deploy(plain, { ...plain, description: "Pays twice." }, policy);
    ask = false;
    await expect(runner.approve(id, byBoss)).rejects.toMatchObject({ code: "definition-changed" });
    const [again] = await runner.pending();
    expect(again?.requirements).toMatchObject([{ from: { users: ["boss"] }, count: 1 }]);
    await expect(runner.approve(String(again?.id), byAna)).rejects.toMatchObject({ code: "not-an-approver" });
    expect(paid).toEqual([]);
  });

  test.each<[string, Version["parameters"]]>([
    ["do not fit it any more", z.object({ amount: z.number().max(4) })],
    ["would be read in another way", z.object({ amount: z.number(), currency: z.string().default("USD") })],
  ])("if the arguments %s, the question is withdrawn and the model told", async (_, parameters) => {
    const { runner, id, paid } = await deploy(plain, { ...plain, parameters });
    await expect(runner.approve(id, byBoss)).rejects.toMatchObject({ code: "definition-changed" });
    expect(await runner.pending()).toEqual([]);
    expect(paid).toEqual([]);
  });

  test("a title or an example that changed cancels nothing", async () => {
    const titled = z.object({ amount: z.number() }).meta({ title: "Payment" });
    const { runner, id, paid } = await deploy(plain, { ...plain, parameters: titled });
    await (await runner.approve(id, byBoss)).finished;
    expect(paid).toEqual([{ amount: 5 }]);
  });
});

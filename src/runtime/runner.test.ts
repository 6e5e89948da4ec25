import { describe, expect, test } from "vitest";
import {
  answer,
  call,
  collect,
  type Line,
  play,
  respond,
  resultsIn,
  useRunners,
} from "../../test/seeds/scripted-runner.ts";
import { useResources } from "../../test/support/resources.ts";
import {
  Agent,
  type AgentOptions,
  Engine,
  InMemoryRunner,
  OutcomeUnknown,
  Runner,
  type RunnerOptions,
  type Tool,
  tool,
} from "../index.ts";
import { scripted } from "../models/scripted/index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function named(name: string, log: string[], options: { readonly gated?: boolean } = {}): Tool {
  return tool({
    name,
    description: name,
    requireConfirmation: options.gated ?? false,
    execute: () => {
      log.push(name);
      return { did: name };
    },
  });
}

const TURN = [call("look", {}, "1"), call("pay", {}, "2"), call("ship", {}, "3"), call("note", {}, "4")];

/** A turn of four calls, two of them gated. */
function scene() {
  const log: string[] = [];
  const model = play(TURN, "All done.");
  const tools = [
    named("look", log),
    named("pay", log, { gated: true }),
    named("ship", log, { gated: true }),
    named("note", log),
  ];
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools }) });
  return { runner, model, log };
}

describe("several calls in one turn", () => {
  test("those that need nobody run at once, and their results are in events and not lost", async () => {
    const { runner, model, log } = scene();
    const turn = await runner.send("go", ana);
    expect(log.toSorted()).toEqual(["look", "note"]);
    expect(turn.pending.map(({ tool: name }) => name)).toEqual(["pay", "ship"]);
    const results = turn.events.flatMap(
      ({ content }) => content?.parts.flatMap((part) => part.functionResponse ?? []) ?? [],
    );
    expect(results.map(({ name }) => name).toSorted()).toEqual(["look", "note"]);
    expect(model.requests).toHaveLength(1);
  });

  test("they run in parallel", async () => {
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const wait = (own: 0 | 1, other: 0 | 1): Tool =>
      tool({
        name: `t${own}`,
        description: "",
        execute: async () => {
          both[own].resolve();
          await both[other].promise;
          return own;
        },
      });
    const model = play([call("t0"), call("t1")], "Both.");
    const agent = new Agent({ name: "a", model, tools: [wait(0, 1), wait(1, 0)] });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ text: "Both." });
  });

  test("an approved one runs as soon as it is approved, while the other still waits", async () => {
    const { runner, model, log } = scene();
    const { pending } = await runner.send("go", ana);
    const { finished } = await runner.approve(String(pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "paused" });
    expect(log).toContain("pay");
    expect(log).not.toContain("ship");
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    [0, 1],
    [1, 0],
  ])(
    "answers reach the model in the order of its calls, once, when all are in (%d first)",
    async (...order) => {
      const { runner, model } = scene();
      const { pending } = await runner.send("go", ana);
      for (const index of order) await (await runner.approve(String(pending[index]?.id), byAna)).finished;
      expect(model.requests).toHaveLength(2);
      expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
        { did: "look" },
        { did: "pay" },
        { did: "ship" },
        { did: "note" },
      ]);
    },
  );

  test("one denial does not drop an approved sibling", async () => {
    const { runner, model, log } = scene();
    const { pending } = await runner.send("go", ana);
    const [denied, approved] = await runner.decide(
      [
        { id: String(pending[0]?.id), confirmed: false, reason: "no" },
        { id: String(pending[1]?.id), confirmed: true },
      ],
      byAna,
    );
    if (denied === undefined || approved === undefined || !("finished" in approved))
      throw new Error("Refused.");
    expect(await approved.finished).toMatchObject({ status: "completed", text: "All done." });
    expect(log).toContain("ship");
    expect(log).not.toContain("pay");
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { did: "look" },
      { error: "tool call was rejected by the user", reason: "no" },
      { did: "ship" },
      { did: "note" },
    ]);
  });

  test("one message may answer several, independently: refusals are reported, the rest is done", async () => {
    const { runner, log } = scene();
    const { pending, session } = await runner.send("go", ana);
    const parts = [String(pending[0]?.id), "adk-unknown"].flatMap(
      (id) => answer(id, { confirmed: true }).parts,
    );
    const turn = await runner.send({ role: "user", parts }, { ...ana, session });
    expect(log).toContain("pay");
    expect(turn).toMatchObject({
      status: "paused",
      refused: [{ id: "adk-unknown", code: "unknown-confirmation" }],
    });
  });

  test("in the event stream a refused answer is an event with its code, before what the others set going", async () => {
    const { runner } = scene();
    const { pending, session } = await runner.send("go", ana);
    const parts = [String(pending[0]?.id), "adk-unknown"].flatMap(
      (id) => answer(id, { confirmed: true }).parts,
    );
    const events = await collect(
      runner.run({ userId: "ana", sessionId: session, message: { role: "user", parts } }),
    );
    expect(events.map(({ errorCode }) => errorCode)).toEqual(["unknown-confirmation", undefined]);
  });

  test("the same decision again is answered with the stored one, a different one is refused", async () => {
    const { runner } = scene();
    const { pending } = await runner.send("go", ana);
    const id = String(pending[0]?.id);
    expect(await runner.approve(id, byAna)).toMatchObject({ repeated: false });
    expect(await runner.approve(id, byAna)).toMatchObject({ repeated: true });
    await expect(runner.deny(id, byAna)).rejects.toMatchObject({ code: "already-decided" });
  });
});

function payingAgent(options: Partial<AgentOptions>): Agent {
  const tools = [named("pay", [], { gated: true })];
  return new Agent({ name: "a", model: play([call("pay")], "Paid."), tools, ...options });
}

describe("the Runner", () => {
  test("approves only what exists", async () => {
    const { runner } = scene();
    await expect(runner.approve("adk-none", byAna)).rejects.toMatchObject({ code: "unknown-confirmation" });
    await expect(runner.cancel("adk-none", { ...byAna, reason: "r" })).rejects.toMatchObject({
      code: "unknown-confirmation",
    });
  });

  test("withdraws an open question: the call does not run and the model is told why", async () => {
    const log: string[] = [];
    const model = play([call("pay")], "Withdrawn.");
    const runner = makeRunner({
      agent: new Agent({ name: "a", model, tools: [named("pay", log, { gated: true })] }),
    });
    const turn = await runner.send("go", ana);
    const id = String(turn.pending[0]?.id);
    expect(await runner.cancel(id, { ...byAna, reason: "changed my mind" })).toMatchObject({
      status: "cancelled",
      withdrawal: "changed my mind (withdrawn by ana)",
    });
    await (await runner.engine()).finished(
      (await (await runner.engine()).ledger.load({ confirmation: id }))?.call?.id ?? "",
    );
    await expect(runner.approve(id, byAna)).rejects.toMatchObject({ code: "withdrawn" });
    expect(log).toEqual([]);
  });

  test("settles a call whose outcome is unknown: the call happened, with this result", async () => {
    const model = play([call("pay")], "It went through.");
    const pay = tool({
      name: "pay",
      description: "",
      requireConfirmation: true,
      execute: () => {
        throw new OutcomeUnknown("the line went dead");
      },
    });
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const turn = await runner.send("go", ana);
    const id = String(turn.pending[0]?.id);
    await (await runner.approve(id, byAna)).finished;
    const settled = await runner.settle(id, { as: "succeeded", result: { ok: true } }, byAna);
    expect(settled?.status).toBe("succeeded");
  });

  test("lists what waits, for one user or all", async () => {
    const { runner } = scene();
    await runner.send("go", ana);
    expect(await runner.pending({ user: "bo" })).toEqual([]);
    expect(await runner.pending({ user: "ana", by: { id: "ana" } })).toMatchObject([
      { can: { decide: true } },
      { can: { decide: true } },
    ]);
  });

  test.each<[string, object]>([
    ["a misspelt gate", { polcy: () => undefined }],
    ["an option of another library", { sessionService: {} }],
  ])("refuses an option that it does not know: %s", (_, option) => {
    const options = { agent: new Agent({ name: "a" }), ledger: "memory:", ...option } as RunnerOptions;
    expect(() => new Runner(options as never)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });

  test("in memory it goes by the ADK's names", async () => {
    const runner = new InMemoryRunner({
      agent: new Agent({ name: "a", model: play("Hi.") }),
      appName: "shop",
    });
    resources.add(() => runner.close());
    const { id } = await runner.sessionService.createSession({ appName: "shop", userId: "ana" });
    const newMessage = { role: "user", parts: [{ text: "hi" }] };
    const events = await collect(runner.runAsync({ userId: "ana", sessionId: id, newMessage }));
    expect(events.map(({ content }) => content?.parts)).toEqual([[{ text: "Hi." }]]);
  });

  test("a call approved in another process runs in a process with a worker", async () => {
    const ledger = `sqlite:${await resources.folder()}/work.db`;
    const log: string[] = [];
    const agentWith = (...lines: readonly Line[]) =>
      new Agent({ name: "a", model: play(...lines), tools: [named("pay", log, { gated: true })] });
    const front = makeRunner({ ledger, agent: agentWith([call("pay")]) });
    const back = makeRunner({ ledger, agent: agentWith("Paid.") });
    const turn = await front.send("go", ana);
    const engine = await front.engine();
    const id = String(turn.pending[0]?.id);
    const elsewhere = new Engine({ ledger: engine.ledger });
    await elsewhere.approve(id, byAna);
    expect(log).toEqual([]);
    await back.work({ once: true });
    expect(log).toEqual(["pay"]);
    const session = await back.sessionService.getSession({ userId: "ana", sessionId: turn.session });
    expect(session?.events.at(-1)?.content?.parts).toEqual([{ text: "Paid." }]);
  });

  test("works until it is stopped", async () => {
    const { runner } = scene();
    const worker = runner.work();
    await runner.send("go", ana);
    await worker.stop();
    expect(await runner.pending()).toHaveLength(2);
  });

  test("is closed also while a provider is being asked: the question then waits for a person", async () => {
    const path = `sqlite:${await resources.folder()}/closed.db`;
    const called = Promise.withResolvers<void>();
    const aborted: unknown[] = [];
    const runner = new Runner({
      ledger: path,
      agent: payingAgent({
        confirmationProvider: (_request, { signal }) => {
          signal.addEventListener("abort", () => aborted.push(signal.reason));
          called.resolve();
          return new Promise(() => {});
        },
      }),
    });
    const turn = runner.send("go", ana);
    await called.promise;
    await runner.close();
    await turn.catch(() => {});
    expect(aborted).toEqual(["the Runner is closing"]);
    expect(await makeRunner({ ledger: path, agent: payingAgent({}) }).pending()).toHaveLength(1);
  });
});

const handingOver = (subAgents: readonly Agent[]): Agent =>
  new Agent({ name: "top", model: play([call("transfer_to_agent", { agent_name: "helper" })]), subAgents });

describe("an agent that a deploy removed", () => {
  const log: string[] = [];
  const pay = named("pay", log, { gated: true });
  const helper = () => new Agent({ name: "helper", model: play([call("pay")], "Paid."), tools: [pay] });
  test("fails nothing: what is its own waits, approved, for a process that has it", async () => {
    const ledger = `sqlite:${await resources.folder()}/deploy.db`;
    const before = makeRunner({ agent: handingOver([helper()]), ledger });
    const { pending } = await before.send("pay", ana);
    await before.close();
    const without = makeRunner({ agent: handingOver([]), ledger });
    const { confirmation } = await without.approve(String(pending[0]?.id), byAna);
    expect(confirmation.status).toBe("approved");
    await without.work({ once: true });
    expect(log).toEqual([]);
    const after = makeRunner({
      agent: handingOver([new Agent({ name: "helper", model: play("Paid."), tools: [pay] })]),
      ledger,
    });
    await after.work({ once: true });
    expect(log).toEqual(["pay"]);
  });
});

test("a run whose model cannot be reached is reported, also to a program that only reads the text", async () => {
  const warned = new Promise<Error & { readonly code?: string }>((resolve) => {
    process.once("warning", resolve);
  });
  const model = scripted(() => {
    throw new Error("connect ECONNREFUSED 127.0.0.1:1");
  });
  const runner = new InMemoryRunner({ agent: new Agent({ name: "bot", model }) });
  resources.add(() => runner.close());
  const { text, status, session } = await runner.send("hi", ana);
  expect([text, status]).toEqual(["", "failed"]);
  const { name, code, message } = await warned;
  expect([name, code]).toEqual(["CountersignWarning", "model-failed"]);
  expect(message).toBe(`The run in session ${session} failed: connect ECONNREFUSED 127.0.0.1:1`);
});

test("all open questions are listed, however many", async () => {
  const tools = [named("pay", [], { gated: true })];
  const model = respond(() => Array.from({ length: 20 }, (_, i) => call("pay", { i }, `p${i}`)));
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools }) });
  for (let session = 0; session < 6; session++) await runner.send("go", ana);
  expect(await runner.pending()).toHaveLength(120);
});

test("an option that send or run does not have is refused by its name", async () => {
  const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hi.") }) });
  await expect(runner.send("hi", { ...ana, sesion: "s1" } as never)).rejects.toMatchObject({
    code: "invalid-option",
    message: expect.stringContaining('"sesion"') as string,
  });
  const misspelt = { userId: "ana", sessionId: "s", message: "hi", stream: true };
  await expect(collect(runner.run(misspelt as never))).rejects.toMatchObject({ code: "invalid-option" });
});

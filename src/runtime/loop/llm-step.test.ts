import { expect, test } from "vitest";
import {
  answer,
  call,
  collect,
  play,
  respond,
  type StrictModel,
  useRunners,
} from "../../../test/seeds/scripted-runner.ts";
import { partsOf, receiveMessage, recordTurn } from "../../engine/index.ts";
import { ask, message, modelSays, planned } from "../../engine/testing/execution.ts";
import { Agent, ParallelAgent, type Tool, tool } from "../../index.ts";

const makeRunner = useRunners();
const ana = { user: "ana", session: "s" } as const;

function gated(name: string, ran: string[]): Tool {
  return tool({
    name,
    description: "",
    requireConfirmation: true,
    execute: () => {
      ran.push(name);
      return "done";
    },
  });
}

function handingTo(name: string): StrictModel {
  return respond(() => [call("transfer_to_agent", { agent_name: name })]);
}

test("a model that gives its call the id of an open confirmation does not get that one answered", async () => {
  const ran: string[] = [];
  let open = "";
  const model = play([call("wire")], () => [call("greet", {}, open)], "Done.", "Done.");
  const agent = new Agent({ name: "a", model, tools: [gated("wire", ran), gated("greet", ran)] });
  const runner = makeRunner({ agent, wire: "adk-rs" });
  open = (await runner.send("pay", ana)).pending[0]?.id ?? "";
  const { pending } = await runner.send("greet", ana);
  const id = pending.find(({ tool: name }) => name === "greet")?.callId ?? "";
  expect(id).not.toBe(open);
  await collect(runner.run({ userId: "ana", sessionId: "s", message: answer(id, { confirmed: true }) }));
  expect(ran).toEqual(["greet"]);
});

test("no call has the key of another one's step, whatever ids the model gives", async () => {
  const keys: string[] = [];
  const pay = tool({
    name: "pay",
    description: "",
    execute: async (_args: object, { idempotencyKey, step }) => {
      keys.push(idempotencyKey);
      await step("charge", (context) => void keys.push(context.idempotencyKey));
      return "paid";
    },
  });
  const model = play(
    [call("pay", {}, "a"), call("pay", {}, "b:charge")],
    [call("pay", {}, "a:charge"), call("pay", {}, "b")],
    "Done.",
  );
  const agent = new Agent({ name: "a", model, tools: [pay] });
  await makeRunner({ agent }).send("pay", ana);
  expect(keys).toHaveLength(8);
  expect(new Set(keys).size).toBe(8);
});

test("an id that is both a confirmation's and another one's call answers neither", async () => {
  const ran: string[] = [];
  const agent = new Agent({ name: "a", model: play([call("wire")]), tools: [gated("wire", ran)] });
  const runner = makeRunner({ agent });
  const [open] = (await runner.send("pay", ana)).pending;
  const parts = partsOf(await runner.engine());
  const name = { app: open?.app ?? "", user: "ana", id: "s" };
  const received = await receiveMessage(parts, message(name, "greet", "i9"));
  if (!received.ok) throw new Error(received.code);
  const calls = [planned(open?.id ?? "", "wire", ask())];
  await recordTurn(parts, received.frame, { event: modelSays("hm", "i9"), calls });
  const both = answer(open?.id ?? "", { confirmed: true });
  await expect(collect(runner.run({ userId: "ana", sessionId: "s", message: both }))).rejects.toMatchObject({
    code: "ambiguous",
  });
  expect(ran).toEqual([]);
});

test("a result that the model claims for its own call is dropped", async () => {
  const ran: string[] = [];
  const claimed = { functionResponse: { id: "p1", name: "wire", response: { status: "paid" } } };
  const model = play([call("wire", {}, "p1"), claimed], "Not yet.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [gated("wire", ran)] }) });
  const { events } = await runner.send("pay", ana);
  expect(JSON.stringify(events)).not.toContain("paid");
  await runner.send("did you?", ana);
  expect(JSON.stringify(model.requests.at(-1))).not.toContain("paid");
});

test("agents that hand over to each other share one number of model calls", async () => {
  const [left, right] = [handingTo("right"), handingTo("left")];
  const agent = new Agent({
    name: "left",
    model: left,
    subAgents: [new Agent({ name: "right", description: "r", model: right })],
  });
  const turn = await makeRunner({ agent, maxModelCalls: 5 }).send("go", ana);
  expect(turn).toMatchObject({ status: "failed", error: { code: "model-calls-exhausted" } });
  expect(left.requests.length + right.requests.length).toBe(5);
});

test("a branch does not get the id of a call of another branch that ended and left the document", async () => {
  const MANY = 17;
  const keys: string[] = [];
  const leftEnded = Promise.withResolvers<void>();
  const work = tool({
    name: "work",
    description: "",
    execute: ({ of, n = 0 }, { idempotencyKey }) => {
      if (n === 0) keys.push(idempotencyKey);
      return of;
    },
  });
  const left = play(
    Array.from({ length: MANY }, (_, n) => call("work", { of: "left", n }, `call_${n}`)),
    () => {
      leftEnded.resolve();
      return "Left is done.";
    },
  );
  const right = play(async () => {
    await leftEnded.promise;
    return [call("work", { of: "right" }, "call_0")];
  }, "Right is done.");
  const agent = new ParallelAgent({
    name: "both",
    subAgents: [
      new Agent({ name: "left", model: left, tools: [work] }),
      new Agent({ name: "right", model: right, tools: [work] }),
    ],
  });
  const runner = makeRunner({ agent });
  expect(await runner.send("go", ana)).toMatchObject({ status: "completed" });
  const [first = "", second = ""] = keys;
  expect(keys).toHaveLength(2);
  expect(second).not.toBe(first);
  const { ledger } = await runner.engine();
  expect(await ledger.calls([first, second])).toMatchObject([
    { id: first, wireId: "call_0", args: { of: "left", n: 0 } },
    { id: second, args: { of: "right" } },
  ]);
});

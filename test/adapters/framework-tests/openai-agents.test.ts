// What openai-agents-js's human-in-the-loop-server.test.ts asserts, with gated tools: written anew, as the package has no tests in it.
import { Agent, type Model, type ModelRequest, Runner, RunState, Usage } from "@openai/agents";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createGate } from "../../../src/adapters/openai-agents/index.ts";
import { Engine } from "../../../src/engine/index.ts";
import { createLedger } from "../../../src/stores/index.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const eve = { ...ana, id: "eve" };

let engine: Engine;
let ran: unknown[];

beforeEach(async () => {
  ran = [];
  engine = new Engine({ ledger: await createLedger("memory:") });
});

afterEach(() => engine.close());

async function approve(): Promise<void> {
  for (const { id } of await engine.pending()) await engine.approve(id, { by: ana });
}

interface Context {
  readonly turn: string;
}
const gate = () =>
  createGate<Context>({
    engine,
    app: "shop",
    identify: ({ turn }) => ({ thread: "t1", turn, user: "ana" }),
  });
const runner = new Runner({ tracingDisabled: true });

/** Makes these calls first, and then says that it is done. */
function model(...callIds: readonly string[]): Model {
  return {
    getResponse: async ({ input }: ModelRequest) => {
      const isAnswered = typeof input !== "string" && input.at(-1)?.type === "function_call_result";
      const content = [{ type: "output_text" as const, text: "done" }];
      return {
        usage: new Usage(),
        output: isAnswered
          ? [{ type: "message", role: "assistant", status: "completed", content }]
          : callIds.map((callId) => {
              const call = { type: "function_call", name: "send", status: "completed" } as const;
              return { ...call, callId, arguments: JSON.stringify({ to: callId }) };
            }),
      };
    },
    getStreamedResponse: () => {
      throw new Error("It does not stream.");
    },
  };
}

function reports(...callIds: readonly string[]): Agent<Context> {
  const send = gate().tool(
    {
      name: "send",
      description: "Sends a report.",
      parameters: z.object({ to: z.string() }),
      execute: async ({ to }) => {
        ran.push(to);
        return "sent";
      },
    },
    { approvers: { users: ["ana"] } },
  );
  return new Agent<Context>({ name: "reports", model: model(...callIds), tools: [send] });
}

/** A run that waits, as a server has stored it. */
async function paused(agent: Agent<Context>): Promise<() => Promise<RunState<Context, Agent<Context>>>> {
  const { state } = await runner.run(agent, "Send.", { context: { turn: "m1" } });
  const text = state.toString();
  return () => RunState.fromString<Context, Agent<Context>>(agent, text);
}

test("an answer of somebody else decides nothing, and does not use the question up", async () => {
  const agent = reports("c1");
  const stored = await (await paused(agent))();
  const answers = stored.getInterruptions().map((item) => ({ item, approved: true }));
  expect(await gate().record(stored, answers, { by: eve })).toMatchObject([{ ok: false }]);
  expect(await gate().resume(stored)).toMatchObject({ ready: false });
  expect(await gate().record(stored, answers, { by: ana })).toMatchObject([{ ok: true }]);
  expect(await gate().resume(stored)).toEqual({ ready: true });
  expect((await runner.run(agent, stored)).finalOutput).toBe("done");
  expect(ran).toEqual(["c1"]);
});

test("the run goes on only when every call of the turn is answered, whatever the order", async () => {
  const agent = reports("c1", "c2");
  const stored = await (await paused(agent))();
  const [first, second] = stored.getInterruptions();
  if (first === undefined || second === undefined) throw new Error("It does not wait for two calls.");
  await gate().record(stored, [{ item: second, approved: false }], { by: ana });
  expect(await gate().resume(stored)).toMatchObject({ ready: false, waiting: [{ status: "pending" }] });
  await gate().record(stored, [{ item: first, approved: true }], { by: ana });
  expect(await gate().resume(stored)).toEqual({ ready: true });
  await runner.run(agent, stored);
  expect(ran).toEqual(["c1"]);
});

test("a decision that is sent again, while the run goes on or later, runs nothing again", async () => {
  const agent = reports("c1");
  const restore = await paused(agent);
  await approve();
  const twice = await Promise.all([restore(), restore()]);
  for (const state of twice) expect(await gate().resume(state)).toEqual({ ready: true });
  await Promise.all(twice.map((state) => runner.run(agent, state)));
  const later = await restore();
  expect(await gate().resume(later)).toEqual({ ready: true });
  await runner.run(agent, later);
  expect(ran).toEqual(["c1"]);
});

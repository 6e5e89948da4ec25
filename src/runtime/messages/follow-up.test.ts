import { describe, expect, test } from "vitest";
import {
  answer,
  call,
  play,
  type StrictModel,
  useRunners,
  wordsIn,
} from "../../../test/seeds/scripted-runner.ts";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { useResources } from "../../../test/support/resources.ts";
import { Agent, CountersignError, createLedger, type Runner, type Tool, tool } from "../../index.ts";
import { type Content, isJsonObject } from "../../protocol/index.ts";

const resources = useResources();
const makeRunner = useRunners();
const ana = { user: "ana", session: "s1" } as const;

/** A tool that runs until it is let go. */
function slowPay(): { readonly pay: Tool; readonly begun: Promise<void>; readonly letGo: () => void } {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const pay = tool({
    name: "pay",
    description: "",
    requireConfirmation: true,
    execute: async () => {
      begun.resolve();
      await gate.promise;
      return { paid: true };
    },
  });
  return { pay, begun: begun.promise, letGo: () => gate.resolve() };
}

async function approvalWithThanks(runner: Runner): Promise<Content> {
  const { pending } = await runner.send("pay", ana);
  return {
    role: "user",
    parts: [...answer(String(pending[0]?.id), { confirmed: true }).parts, { text: "thanks" }],
  };
}

function asked({ requests }: StrictModel): readonly (readonly string[])[] {
  return requests.map((request) => wordsIn(request).slice(-1));
}

describe("words beside an answer", () => {
  test("are sent although the client has left before the call ended", async () => {
    const { pay, begun, letGo } = slowPay();
    const model = play([call("pay")], "Paid.", "You are welcome.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const message = await approvalWithThanks(runner);
    const events = runner.run({ userId: "ana", sessionId: "s1", message });
    const first = events.next();
    await begun;
    letGo();
    await first;
    await events.return(undefined);
    await expect.poll(() => asked(model)).toEqual([["pay"], ["pay"], ["thanks"]]);
  });

  test("are sent by the next process, once, if the first was closed before the call ended", async () => {
    const ledger = `sqlite:${await resources.folder()}/later.db`;
    const { pay, begun, letGo } = slowPay();
    const before = play([call("pay")], "Paid.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model: before, tools: [pay] }), ledger });
    const sending = runner.send(await approvalWithThanks(runner), ana).catch((error: unknown) => error);
    await begun;
    const closing = runner.close();
    letGo();
    await closing;
    expect(await sending).toMatchObject({ code: "closed" });
    expect(asked(before)).toEqual([["pay"], ["pay"]]);
    const after = play("You are welcome.");
    const next = makeRunner({ agent: new Agent({ name: "a", model: after, tools: [pay] }), ledger });
    await next.work({ once: true });
    await next.work({ once: true });
    expect(asked(after)).toEqual([["thanks"]]);
    const { ledger: opened } = await next.engine();
    expect((await opened.items.list("follow-up:a")).items).toEqual([]);
  });

  test("wait while the session is busy with another message", async () => {
    const { pay, begun, letGo } = slowPay();
    const model = play([call("pay")], "Hm.", "Paid.", "You are welcome.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const sending = runner.send(await approvalWithThanks(runner), ana);
    await begun;
    await runner.send("still there?", ana);
    letGo();
    expect(await sending).toMatchObject({ text: "You are welcome." });
  });

  test("that cannot be sent now stay stored: a ledger that fails for a moment loses none of them", async () => {
    const inner = await createLedger("memory:");
    let fails = true;
    const ledger = wrapLedger(inner, {
      items: {
        get: async (kind: string, id: string) => {
          if (fails && id.startsWith('["follow-up"')) throw new CountersignError("ledger-busy", "Later.");
          return inner.items.get(kind, id);
        },
      },
    });
    const { pay, letGo } = slowPay();
    const model = play([call("pay")], "Paid.", "You are welcome.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }), ledger });
    letGo();
    const message = await approvalWithThanks(runner);
    await expect(runner.send(message, ana)).rejects.toMatchObject({ code: "ledger-busy" });
    expect((await ledger.items.list("follow-up:a")).items).toHaveLength(1);
    fails = false;
    await runner.work({ once: true });
    expect(asked(model)).toEqual([["pay"], ["pay"], ["thanks"]]);
    expect((await ledger.items.list("follow-up:a")).items).toEqual([]);
  });

  test("of a session that is busy do not hold up the round of work that finds them", async () => {
    const { pay, begun, letGo } = slowPay();
    const answering = Promise.withResolvers<string>();
    const model = play([call("pay")], () => answering.promise, "Paid.", "You are welcome.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const message = await approvalWithThanks(runner);
    const sending = runner.send(message, ana);
    await begun;
    const talking = runner.send("still there?", ana);
    await expect.poll(() => model.requests.length).toBe(2);
    const engine = await runner.engine();
    const { ledger } = engine;
    const [item] = (await ledger.items.list("follow-up:a")).items;
    if (item === undefined || !isJsonObject(item.value)) throw new Error("nothing is kept");
    // As if what was answered were over, while the session answers something else.
    await ledger.items.put({ ...item, id: "left", value: { ...item.value, invocation: "e-over" } }, 0);
    const worker = engine.work({ sweepMs: 5 });
    await worker.stop();
    answering.resolve("Yes.");
    letGo();
    await Promise.all([talking, sending]);
  });
});

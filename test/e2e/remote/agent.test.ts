import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ledger, Policy } from "../../../src/index.ts";
import { useResources } from "../../support/resources.ts";
import { startA2aServer, Wire, type WireTask } from "../a2a/a2a-server.ts";
import { order, startCallingServer } from "./calling-server.ts";

const resources = useResources();
const ANA = { user: "ana" };
const BOSS = { by: { id: "ana" } };
const DELETE = { id: "call-1", name: "delete_file", args: { path: "a" } };
const WRITE = { id: "call-2", name: "write_file", args: { path: "b" } };
const READ = { id: "call-3", name: "read_file", args: { path: "c" } };

/** Resolves once this holds; looked at whenever the ledger has changed. */
async function changed(ledger: Ledger, holds: () => Promise<boolean>): Promise<void> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const forget = ledger.onChange(resolve);
    if (await holds()) return forget();
    await promise.finally(forget);
  }
}

describe.each(["tool", "transfer"] as const)("a remote agent by %s", (by) => {
  test("what needs nobody there is done, and its words come back", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { by });
    const turn = await caller.runner.send(order(READ), ANA);
    expect([turn.status, turn.text.includes("read_file")]).toEqual(["completed", true]);
    expect(server.ran).toEqual([{ name: "read_file", args: { path: "c" } }]);
  });

  test("its call is shown here, and approved here it runs there, once", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { by });
    const turn = await caller.runner.send(order(DELETE), ANA);
    expect(turn.status).toBe("paused");
    const [shown] = turn.pending;
    expect(shown).toMatchObject({ tool: "delete_file", args: { path: "a" }, source: "desk", agent: "desk" });
    expect(shown?.path.at(-1)).toBe("desk");
    expect(shown?.repeatable).toBe(false);
    expect(server.ran).toEqual([]);
    const decided = await caller.runner.approve(shown?.id ?? "", BOSS);
    const done = await decided.finished;
    expect([done.status, done.text.includes("ok")]).toEqual(["completed", true]);
    expect(server.ran).toEqual([{ name: "delete_file", args: { path: "a" } }]);
  });

  test("a denial is handed over with its reason, and nothing runs", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { by });
    const { pending } = await caller.runner.send(order(DELETE), ANA);
    const decided = await caller.runner.deny(pending[0]?.id ?? "", { ...BOSS, reason: "not today" });
    const done = await decided.finished;
    expect(done.status).toBe("completed");
    expect(done.text).toContain("not today");
    expect(server.ran).toEqual([]);
  });
});

const neverDelete: Policy = ({ tool }) =>
  tool === "delete_file" ? { outcome: "deny", reason: "never delete" } : undefined;

test.each([
  ["transfer", 1],
  ["tool", 2],
] as const)("two messages by %s are told in %i context(s)", async (by, contexts) => {
  const server = await startA2aServer(resources);
  const caller = await startCallingServer(resources, server.url, { by });
  const { session } = await caller.runner.send(order(READ), ANA);
  await caller.runner.send(order(READ), { ...ANA, session });
  const { result } = await new Wire(server).call("ListTasks", {});
  const { tasks } = result as { readonly tasks: readonly WireTask[] };
  expect([tasks.length, new Set(tasks.map(({ contextId }) => contextId)).size]).toEqual([2, contexts]);
});

test.each(["tool", "transfer"] as const)(
  "a rule that wants a person asked before anything is sent is heeded: by %s",
  async (by) => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { by, policy: askFirst });
    const refused = await caller.runner.send(order(READ), ANA);
    expect(refused.pending.map(({ tool }) => tool)).toEqual(["a2a_message"]);
    const no = await (await caller.runner.deny(refused.pending[0]?.id ?? "", BOSS)).finished;
    // Called as a tool, its refusal is the tool's answer.
    expect([no.status, server.ran]).toEqual([by === "tool" ? "completed" : "failed", []]);
    const asked = await caller.runner.send(order(READ), ANA);
    const yes = await (await caller.runner.approve(asked.pending[0]?.id ?? "", BOSS)).finished;
    expect([yes.status, server.ran.length]).toEqual(["completed", 1]);
  },
);

const askFirst: Policy = ({ tool }) =>
  tool === "a2a_message" ? { outcome: "confirm", reason: "it leaves the house" } : undefined;

describe("a pause", () => {
  test("of several calls is handed over when the last is decided, every id once", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const { pending } = await caller.runner.send(order(DELETE, WRITE), ANA);
    expect(pending.map(({ tool }) => tool)).toEqual(["delete_file", "write_file"]);
    const [first, second] = pending;
    const one = await caller.runner.approve(first?.id ?? "", BOSS);
    expect((await one.finished).status).toBe("paused");
    expect(server.ran).toEqual([]);
    const other = await caller.runner.deny(second?.id ?? "", BOSS);
    expect((await other.finished).status).toBe("completed");
    expect(server.ran).toEqual([{ name: "delete_file", args: { path: "a" } }]);
  });

  test("that asks the user questions is answered here", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const questions = [{ question: "Where?", choices: ["eu", "us"] }];
    const asks = { id: "call-1", name: "ask_user", args: { questions } };
    const { pending } = await caller.runner.send(order(asks), ANA);
    expect(pending[0]).toMatchObject({ tool: "ask_user", question: "ask_user", source: "desk" });
    const decided = await caller.runner.approve(pending[0]?.id ?? "", {
      ...BOSS,
      payload: { answer_1: "eu" },
    });
    const done = await decided.finished;
    expect(done.text).toContain('\\"answer\\":[\\"eu\\"]');
  });

  test("that a rule here forbids is denied there, and nobody is asked", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { policy: neverDelete });
    const turn = await caller.runner.send(order(DELETE), ANA);
    expect([turn.status, turn.pending]).toEqual(["completed", []]);
    expect(turn.text).toContain("rejected");
    expect(server.ran).toEqual([]);
  });

  test("is for people whom the agent's rule allows", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { approvers: { roles: ["treasurer"] } });
    const { pending } = await caller.runner.send(order(DELETE), ANA);
    const refused = caller.runner.approve(pending[0]?.id ?? "", BOSS);
    await expect(refused).rejects.toMatchObject({ code: "not-an-approver" });
    const by = { id: "tess", roles: ["treasurer"] };
    const decided = await caller.runner.approve(pending[0]?.id ?? "", { by });
    expect((await decided.finished).status).toBe("completed");
    expect(server.ran).toHaveLength(1);
  });

  test("that was decided on the remote server, and here before that was noticed: the first wins, ours is not sent", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url, { idle: true });
    const { pending } = await caller.runner.send(order(DELETE), ANA);
    const [there] = (await server.engine.ledger.confirmations({ state: "open" }, { limit: 1 })).items;
    await server.runner.deny(there?.confirmation.id ?? "", { by: { id: "local" }, reason: "not here" });
    const decided = await caller.runner.approve(pending[0]?.id ?? "", BOSS);
    const done = await decided.finished;
    expect([done.status, done.text.includes("not here")]).toEqual(["completed", true]);
    expect(server.ran).toEqual([]);
    expect(server.asked.filter((method) => method === "SendMessage")).toHaveLength(1);
    const card = await caller.engine.ledger.load({ confirmation: pending[0]?.id ?? "" });
    expect(card?.call?.result).toMatchObject({
      approved: true,
      note: expect.stringContaining("not sent to desk") as string,
    });
  });

  test("that is decided where the agent runs is taken back as a whole", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const { pending } = await caller.runner.send(order(DELETE, WRITE), ANA);
    const asked = (await server.engine.ledger.confirmations({ state: "open" }, { limit: 2 })).items;
    for (const { confirmation } of asked) await server.runner.deny(confirmation.id, { by: { id: "local" } });
    const { ledger } = caller.engine;
    const { session = "" } = (await ledger.load({ confirmation: pending[0]?.id ?? "" }))?.confirmation ?? {};
    await changed(ledger, async () => (await ledger.liveFrames(session)).length === 0);
    for (const { id } of pending) {
      const { confirmation, call } = (await ledger.load({ confirmation: id })) ?? {};
      expect([confirmation?.status, call?.status]).toEqual(["cancelled", "cancelled"]);
      await expect(caller.runner.approve(id, BOSS)).rejects.toMatchObject({ code: "withdrawn" });
    }
    expect(server.ran).toEqual([]);
    expect(server.asked.filter((method) => method === "SendMessage")).toHaveLength(1);
    expect((await caller.engine.verify()).ok).toBe(true);
  });

  test("that is decided in part on the remote server is withdrawn, and the rest is asked again", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const { pending } = await caller.runner.send(order(DELETE, WRITE), ANA);
    await caller.runner.approve(pending[0]?.id ?? "", BOSS);
    const { items } = await server.engine.ledger.confirmations({ state: "open" }, { limit: 2 });
    const there = items.find(({ confirmation }) => confirmation.tool === "write_file");
    await server.runner.deny(there?.confirmation.id ?? "", { by: { id: "local" } });
    const known = new Set(pending.map(({ id }) => id));
    const fresh = async () => (await caller.runner.pending()).filter(({ id }) => !known.has(id));
    await changed(caller.engine.ledger, async () => (await fresh()).length === 1);
    const [again] = await fresh();
    expect(again?.tool).toBe("delete_file");
    const taken = await caller.engine.ledger.load({ confirmation: pending[1]?.id ?? "" });
    expect(taken?.confirmation).toMatchObject({
      status: "cancelled",
      withdrawal: "partly decided or changed at desk; the rest is asked again",
    });
    const before = await caller.engine.ledger.load({ confirmation: pending[0]?.id ?? "" });
    expect(before?.call?.result).toMatchObject({ answer: "desk asks again" });
    const decided = await caller.runner.approve(again?.id ?? "", BOSS);
    expect((await decided.finished).status).toBe("completed");
    expect(server.ran).toEqual([{ name: "delete_file", args: { path: "a" } }]);
    expect((await caller.engine.verify()).ok).toBe(true);
  });
});

describe("a remote agent in trouble", () => {
  test("that fails fails the call here, with its words", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const turn = await caller.runner.send("fail", ANA);
    expect(turn.text).toContain("error");
  });

  test("whose own call is unknown makes ours unknown; settled there, it continues here", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const { pending } = await caller.runner.send(order({ id: "call-1", name: "lose", args: {} }), ANA);
    const decided = await caller.runner.approve(pending[0]?.id ?? "", BOSS);
    const stuck = await decided.finished;
    expect([stuck.status, stuck.unknown.map(({ tool }) => tool)]).toEqual(["paused", ["a2a_answer"]]);
    const [lost] = (await server.engine.ledger.confirmations({ state: "closed" }, { limit: 1 })).items;
    const happened = { as: "succeeded", result: { status: "found" } } as const;
    const settled = await server.engine.decisions.settle({ call: lost?.call.id ?? "" }, happened, {
      by: { id: "local" },
    });
    expect(settled).toMatchObject({ ok: true });
    const call = stuck.unknown[0]?.call ?? "";
    await caller.engine.decisions.settle({ call }, { as: "retry" }, BOSS);
    expect(await caller.engine.finished(call)).toMatchObject({ status: "succeeded" });
    expect((await caller.engine.verify()).ok).toBe(true);
  });

  test("whose task is gone makes ours unknown", async () => {
    const server = await startA2aServer(resources);
    const caller = await startCallingServer(resources, server.url);
    const { pending } = await caller.runner.send(order(DELETE), ANA);
    const [there] = (await server.engine.ledger.confirmations({ state: "open" }, { limit: 1 })).items;
    const { app, user, session } = there?.confirmation ?? { app: "", user: "", session: "" };
    const id = (await server.engine.ledger.load({ sessionKey: session }))?.session.id ?? "";
    await server.engine.deleteSession({ app, user, id }, { id: user });
    const decided = await caller.runner.approve(pending[0]?.id ?? "", BOSS);
    const stuck = await decided.finished;
    expect(stuck.unknown.map(({ tool }) => tool)).toEqual(["a2a_answer"]);
    expect(server.ran).toEqual([]);
  });

  test("that is out of reach for too long makes ours unknown", async () => {
    const caller = await startCallingServer(resources, "http://127.0.0.1:9/a2a/desk", { lostAfterMs: 0 });
    const turn = await caller.runner.send(order(READ), ANA);
    expect(turn.unknown.map(({ tool }) => tool)).toEqual(["a2a_message"]);
  });

  test("that is at work when the run is stopped is told so until it has heard", async () => {
    const held = Promise.withResolvers<void>();
    const server = await startA2aServer(resources, { held: held.promise });
    const caller = await startCallingServer(resources, server.url);
    const stop = new AbortController();
    const lingering = order({ id: "c", name: "linger", args: {} });
    const stopped = caller.runner.send(lingering, { ...ANA, signal: stop.signal });
    await changed(server.engine.ledger, async () => server.ran.length > 0);
    stop.abort();
    expect((await stopped).status).toBe("failed");
    const left = async () => (await caller.engine.ledger.items.list("work-elsewhere:office")).items.length;
    // It runs a call, so that it cannot be canceled yet.
    await expect
      .poll(() => server.asked.filter((method) => method === "CancelTask").length, { timeout: 20_000 })
      .toBeGreaterThan(1);
    expect(await left()).toBe(1);
    held.resolve();
    await expect.poll(left, { timeout: 20_000 }).toBe(0);
    const { result } = await new Wire(server).call("ListTasks", {});
    const { tasks } = result as { readonly tasks: readonly WireTask[] };
    expect(tasks.map(({ status }) => status.state)).not.toContain("TASK_STATE_WORKING");
  });

  test("a process that closes leaves the exchange to the next one on its ledger", async () => {
    const held = Promise.withResolvers<void>();
    const server = await startA2aServer(resources, { held: held.promise });
    const ledger = `sqlite:${join(await resources.folder(), "office.db")}`;
    const first = await startCallingServer(resources, server.url, { ledger });
    const { pending } = await first.runner.send(order({ id: "c", name: "hold", args: {} }), ANA);
    const [asked] = (await first.engine.ledger.confirmations({ state: "open" }, { limit: 1 })).items;
    const { session: key = "" } = asked?.confirmation ?? {};
    await first.runner.approve(pending[0]?.id ?? "", BOSS);
    await changed(server.engine.ledger, async () => server.ran.length > 0);
    await first.close();
    const second = await startCallingServer(resources, server.url, { ledger });
    held.resolve();
    const { ledger: store } = second.engine;
    await changed(store, async () => (await store.liveFrames(key)).length === 0);
    const events = await store.events(key);
    expect(events.at(-1)?.content?.parts[0]?.text).toContain("ok");
    expect(server.ran).toHaveLength(1);
  });
});

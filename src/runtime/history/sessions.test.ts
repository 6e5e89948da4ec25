import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { call, play, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { Agent, tool } from "../../index.ts";
import { scripted } from "../../models/scripted/index.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
// Sessions of one millisecond have no order.
const NEXT_MS = 2;

function scene() {
  const pay = tool({ name: "pay", description: "", requireConfirmation: true, execute: () => "paid" });
  const model = play([call("pay", {}, "c1")], "Paid.", "Hi.");
  return makeRunner({ app: "bank", agent: new Agent({ name: "a", model, tools: [pay] }) });
}

describe("the session service", () => {
  test("makes a session with state, under the id given or one of ours", async () => {
    const { sessionService } = scene();
    expect(
      await sessionService.createSession({ userId: "ana", sessionId: "s1", state: { n: 1 } }),
    ).toMatchObject({
      id: "s1",
      appName: "bank",
      userId: "ana",
      state: { n: 1 },
      events: [],
    });
    expect((await sessionService.createSession({ userId: "ana" })).id).toMatch(/^s-/);
    await expect(sessionService.createSession({ userId: "ana", sessionId: "s1" })).rejects.toMatchObject({
      code: "session-exists",
    });
  });

  test("gives a session with all that happened, an open request included", async () => {
    const runner = scene();
    const turn = await runner.send("pay", { ...ana, session: "s1" });
    const before = await runner.sessionService.getSession({ userId: "ana", sessionId: "s1" });
    expect(before?.events.at(-1)?.longRunningToolIds).toEqual([turn.pending[0]?.id]);
    await (await runner.approve(String(turn.pending[0]?.id), { by: { id: "boss" } })).finished;
    const after = await runner.sessionService.getSession({ userId: "ana", sessionId: "s1" });
    const closing = after?.events.find(
      ({ author, content }) => author === "user" && content?.parts[0]?.functionResponse,
    );
    expect(closing?.content?.parts[0]?.functionResponse).toMatchObject({
      id: turn.pending[0]?.id,
      name: "adk_request_confirmation",
      response: { confirmed: true },
    });
  });

  test("knows only its own app, its users, and what exists", async () => {
    const { sessionService } = scene();
    await sessionService.createSession({ appName: "bank", userId: "ana", sessionId: "s1" });
    expect(await sessionService.getSession({ userId: "bo", sessionId: "s1" })).toBeUndefined();
    expect(await sessionService.getSession({ userId: "ana", sessionId: "none" })).toBeUndefined();
    await expect(
      sessionService.getSession({ appName: "shop", userId: "ana", sessionId: "s1" }),
    ).rejects.toMatchObject({
      code: "unknown-app",
    });
  });

  test("lists a user's sessions, without their events", async () => {
    const runner = scene();
    for (const id of ["s1", "s2"])
      await runner.sessionService.createSession({ userId: "ana", sessionId: id });
    await runner.sessionService.createSession({ userId: "bo", sessionId: "s3" });
    const listed = await runner.sessionService.listSessions({ userId: "ana" });
    expect(listed.map(({ id }) => id).toSorted()).toEqual(["s1", "s2"]);
    expect(listed.every(({ events }) => events.length === 0)).toBe(true);
  });

  test("titles the sessions that changed last by their first words, without secrets, until they are erased", async () => {
    const pay = tool({
      name: "pay",
      description: "",
      parameters: { type: "object", properties: { pin: { type: "string" } } },
      secrets: ["/pin"],
      requireConfirmation: true,
      execute: () => "paid",
    });
    const model = scripted(({ contents }) => {
      const said = contents.at(-1)?.parts[0];
      return said?.text?.includes("8812") === true ? [call("pay", { pin: "8812" }, "c1")] : "Yes.";
    });
    const runner = makeRunner({ app: "bank", agent: new Agent({ name: "a", model, tools: [pay] }) });
    const titles = async (most: number): Promise<readonly (string | undefined)[]> =>
      (await runner.sessionService.listSessions({ userId: "ana", titles: most })).map(({ title }) => title);
    await runner.sessionService.createSession({ userId: "ana", sessionId: "empty" });
    await setTimeout(NEXT_MS);
    await runner.send("  What is\n\tdue?  ", { ...ana, session: "s1" });
    await runner.send("And later?", { ...ana, session: "s1" });
    await setTimeout(NEXT_MS);
    await runner.send("Pay with 8812", { ...ana, session: "s2" });
    await setTimeout(NEXT_MS);
    await runner.send("😀".repeat(81), { ...ana, session: "s3" });
    const all = [undefined, "What is due?", "Pay with [redacted]", `${"😀".repeat(80)}…`];
    expect(await titles(9)).toEqual(all);
    expect(await titles(0)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await titles(1)).toEqual([undefined, undefined, undefined, all[3]]);
    await runner.sessionService.deleteSession({ userId: "ana", sessionId: "s1" });
    expect(await titles(9)).toEqual([undefined, all[2], all[3]]);
  });

  test.each([
    ["userId", { userId: "u".repeat(769), sessionId: "s1" }],
    ["sessionId", { userId: "ana", sessionId: "s\0" }],
  ])("refuses a %s that no ledger could hold, and so does a message", async (field, named) => {
    const runner = scene();
    const refused = { code: "malformed-request", details: { field } };
    await expect(runner.sessionService.createSession(named)).rejects.toMatchObject(refused);
    const spoken = runner.send("hi", { user: named.userId, session: named.sessionId });
    await expect(spoken).rejects.toMatchObject(refused);
  });

  test("deletes: what is open is withdrawn, and nobody can talk there again", async () => {
    const runner = scene();
    const turn = await runner.send("pay", { ...ana, session: "s1" });
    await runner.sessionService.deleteSession({ userId: "ana", sessionId: "s1" });
    expect(await runner.sessionService.getSession({ userId: "ana", sessionId: "s1" })).toBeUndefined();
    await expect(runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } })).rejects.toMatchObject({
      code: "withdrawn",
    });
    await expect(runner.send("hi", { ...ana, session: "s1" })).rejects.toMatchObject({
      code: "session-deleted",
    });
    await expect(
      runner.sessionService.deleteSession({ userId: "ana", sessionId: "s1" }),
    ).rejects.toMatchObject({
      code: "unknown-session",
    });
  });
});

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { Agent, createEngine, Runner, tool } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { answer, call, type Line, play, resultsIn, type StrictModel } from "../seeds/scripted-runner.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { useResources } from "../support/resources.ts";

const ORIGIN = "http://127.0.0.1:8000";
const ODD = { "k\0": ["v\0"] };

const resources = useResources();

const LEDGERS: readonly (readonly [string, () => Promise<string>])[] = [
  ["memory", async () => "memory:"],
  ["SQLite", async () => `sqlite:${join(await resources.folder(), "ledger.db")}`],
  ["PostgreSQL", () => createDatabase(resources)],
];

const note = tool({
  name: "note",
  description: "Notes.",
  parameters: { type: "object" },
  requireConfirmation: true,
  execute: (args: JsonObject) => args,
});

function runnerOn(ledger: string, ...lines: readonly Line[]): [Runner, StrictModel] {
  const model = play(...lines);
  const agent = new Agent({ name: "a", model, tools: [note], outputKey: "said\0" });
  const runner = new Runner({ agent, ledger });
  resources.add(() => runner.close());
  return [runner, model];
}

/** What a server on this Runner answers: the status, and the code of an error. */
function doorTo(runner: Runner): (method: string, path: string, body?: unknown) => Promise<unknown> {
  const app = createApp({ apps: { a: runner } });
  return async (method, path, body) => {
    const headers = { host: new URL(ORIGIN).host, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await app.fetch(new Request(`${ORIGIN}${path}`, { method, headers, ...sent }));
    const told = (await response.json()) as JsonObject;
    return [response.status, told["code"] ?? told["withdrawal"] ?? told["results"]];
  };
}

describe.each(LEDGERS)("a NUL on %s", (_, open) => {
  test("in the name that a model calls is an unknown tool; anywhere else in a run it is kept", async () => {
    const calls = [call("no\0te", ODD), call("no\ud800te"), call("note", ODD)];
    const [runner, model] = runnerOn(await open(), calls, "So\0 be it.");
    const message = { user: "ana", session: "s", stateDelta: { "at\0": "x\0" } };
    const turn = await runner.send("no\0te it", message);
    expect([turn.status, turn.pending.map(({ args }) => args)]).toEqual(["paused", [ODD]]);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } });
    expect(await finished).toMatchObject({ status: "completed", text: "So\0 be it." });
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: 'there is no tool "no\ufffdte"; available: note', code: "unknown-tool" },
      { error: 'there is no tool "no\ufffdte"; available: note', code: "unknown-tool" },
      ODD,
    ]);
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: "s" });
    expect(session?.state).toEqual({ "at\0": "x\0", "said\0": "So\0 be it." });
    expect(session?.events[0]?.content?.parts).toEqual([{ text: "no\0te it" }]);
  });

  test("in an address or an id names nothing, and in a reason it is replaced", async () => {
    const [runner] = runnerOn(await open(), [call("note")], "Well.");
    const turn = await runner.send("note it", { user: "ana", session: "s" });
    const id = String(turn.pending[0]?.id);
    const ask = doorTo(runner);
    const malformed = [422, "malformed-request"];
    for (const field of ["tool", "agent", "app", "user", "session", "turn"])
      expect([field, await ask("GET", `/v1/confirmations?${field}=a%00b`)]).toEqual([field, malformed]);
    expect(await ask("GET", "/v1/confirmations/a%00b")).toEqual(malformed);
    expect(await ask("POST", "/v1/confirmations/a%00b/decision", { confirmed: true })).toEqual(malformed);
    expect(await ask("GET", "/v1/audit?session=a%00b")).toEqual(malformed);
    expect(await ask("GET", "/v1/audit?confirmation=a%00b")).toEqual(malformed);
    const unknown = { id: "a\0b", confirmed: true, version: 1 };
    expect(await ask("POST", "/v1/decisions", { decisions: [unknown] })).toMatchObject([
      200,
      [{ status: 404, problem: { code: "unknown-confirmation" } }],
    ]);
    const run = {
      appName: "a",
      userId: "ana",
      sessionId: "s",
      newMessage: answer("a\0b", { confirmed: true }),
    };
    expect(await ask("POST", "/run", run)).toEqual([404, "unknown-confirmation"]);
    expect(await ask("POST", `/v1/confirmations/${id}/cancellation`, { reason: "be\0cause" })).toEqual([
      200,
      "be\ufffdcause (withdrawn by local)",
    ]);
  });

  test("in the name of a gated function is refused where it is written", async () => {
    const engine = await createEngine({ ledger: await open() });
    resources.add(() => engine.close());
    expect(() => engine.gate("a\0b", {}, async () => null)).toThrow("contains a NUL character");
  });
});

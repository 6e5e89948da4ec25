import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../../src/index.ts";
import { Resources } from "../../support/resources.ts";
import { saidIn, stateOf, taskIn, Wire, type WireTask } from "../a2a/a2a-server.ts";
import { Level } from "./level.ts";

// What becomes of a pause when the agent elsewhere goes on without an answer from here, or the run here is stopped: two
// processes, either of which may be killed in between. One pair for all: each test has a task of its own.
const resources = new Resources();
const SLOW = 120_000;
let caller: Level;
let server: Level;
let remoteFile: string;
let effectsFile: string;

beforeAll(async () => {
  const folder = await resources.folder();
  [remoteFile, effectsFile] = [join(folder, "desk.db"), join(folder, "effects")];
  const common = { effects: effectsFile, port: 0 };
  server = await new Level(resources, { ...common, file: remoteFile }).ready();
  caller = new Level(resources, { ...common, file: join(folder, "caller.db"), below: server.url });
  await caller.ready();
}, SLOW);

afterAll(() => resources.release());

async function effects(): Promise<number> {
  const lines = (await readFile(effectsFile, "utf8").catch(() => "")).split("\n");
  return lines.filter((line) => line !== "").length;
}

interface Card {
  readonly id: string;
  readonly status: string;
  readonly withdrawal?: string;
  readonly result?: unknown;
  readonly can: { readonly decide: boolean };
}

async function cards({ url }: Level): Promise<readonly Card[]> {
  const answer = await fetch(new URL("/v1/confirmations", url));
  return ((await answer.json()) as { readonly items: readonly Card[] }).items;
}

async function card({ url }: Level, id: string): Promise<Card> {
  return (await (await fetch(new URL(`/v1/confirmations/${id}`, url))).json()) as Card;
}

function decide({ url }: Level, id: string, confirmed: boolean): Promise<Response> {
  return fetch(new URL(`/v1/confirmations/${id}/decision`, url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ confirmed }),
  });
}

/** Waits until a task is over, as its followers are told. */
async function over(level: Level, id: string): Promise<WireTask> {
  const wire = new Wire(level, { hitl: true });
  for (;;) {
    for await (const _ of wire.stream("SubscribeToTask", { id })) continue;
    const task = taskIn(await wire.get(id));
    if (stateOf(task) !== "input-required" && stateOf(task) !== "working") return task;
  }
}

/** The agent's own task, of which ours is a part: the last that was begun. */
async function remoteTask(): Promise<string> {
  const { result } = await new Wire(server).call("ListTasks", {});
  const { tasks } = result as { readonly tasks: readonly WireTask[] };
  const [task] = tasks.filter((one) => stateOf(one) === "input-required");
  return task?.id ?? "";
}

/** What the desk has on record about decisions, in order. */
async function decisionsThere(): Promise<readonly string[]> {
  const engine = await createEngine({ ledger: `sqlite:${remoteFile}` });
  try {
    const records = await engine.ledger.journal.records({ after: 0, limit: 1_000 });
    return records.map(({ kind }) => kind).filter((kind) => /^confirmation-(?!requested)|refused/.test(kind));
  } finally {
    await engine.close();
  }
}

describe("a pause that is decided where the agent runs", () => {
  test.each([
    ["nobody", true],
    ["the caller", false],
    ["the agent", true],
  ] as const)(
    "closes the card here, and the run goes on with what was decided there; killed in between: %s",
    { timeout: SLOW },
    async (victim, confirmed) => {
      const [decided, done] = [await decisionsThere(), await effects()];
      const task = taskIn(await new Wire(caller, { hitl: true }).say("clean up"));
      const [[ours], [theirs]] = [await cards(caller), await cards(server)];
      if (victim === "the caller") await caller.kill();
      expect((await decide(server, theirs?.id ?? "", confirmed)).status).toBe(200);
      if (victim === "the agent") {
        // A call that is killed while it runs is unknown, and waits for a person.
        await expect
          .poll(async () => (await card(server, theirs?.id ?? "")).status, { timeout: 30_000 })
          .toBe("succeeded");
        await server.kill();
        await server.again();
      }
      if (victim === "the caller") await caller.again();
      const ended = await over(caller, task.id);
      expect([stateOf(ended), /rejected/.test(saidIn(ended))]).toEqual(["completed", !confirmed]);
      const closed = await card(caller, ours?.id ?? "");
      expect(closed).toMatchObject({ status: "cancelled", can: { decide: false } });
      expect(closed.withdrawal).toContain("decided or expired at desk");
      const late = await decide(caller, ours?.id ?? "", !confirmed);
      expect([late.status, await late.json()]).toMatchObject([
        409,
        { code: "withdrawn", detail: expect.stringContaining("decided or expired at desk") as string },
      ]);
      // One verdict, its own: none of ours came after it.
      const verdict = confirmed ? "confirmation-approved" : "confirmation-denied";
      expect(await decisionsThere()).toEqual([...decided, verdict]);
      expect(await effects()).toBe(done + Number(confirmed));
    },
  );

  test("because nobody decided in its time, closes here too", { timeout: SLOW }, async () => {
    const done = await effects();
    const task = taskIn(await new Wire(caller, { hitl: true }).say("clean up soon"));
    const ended = await over(caller, task.id);
    expect([stateOf(ended), saidIn(ended).includes("expired")]).toEqual(["completed", true]);
    expect([await cards(caller), await effects()]).toEqual([[], done]);
  });
});

test("a card says what came of its approval once the agent has answered", { timeout: SLOW }, async () => {
  const task = taskIn(await new Wire(caller, { hitl: true }).say("clean up"));
  const [ours] = await cards(caller);
  expect((await decide(caller, ours?.id ?? "", true)).status).toBe(200);
  await over(caller, task.id);
  const { result } = await card(caller, ours?.id ?? "");
  expect(result).toMatchObject({ approved: true, note: "handed to desk" });
  expect(JSON.stringify(result)).toContain("deleted");
});

test.each(["nobody was away", "it was away, and we were killed before it was back"])(
  "a run that is stopped while its remote agent waits for a person has its task canceled there: %s",
  { timeout: SLOW },
  async (how) => {
    const done = await effects();
    const wire = new Wire(caller, { hitl: true });
    const task = taskIn(await wire.say("clean up"));
    const theirs = await remoteTask();
    const isAway = how !== "nobody was away";
    if (isAway) await server.kill();
    expect(stateOf(taskIn(await wire.call("CancelTask", { id: task.id })))).toBe("canceled");
    if (isAway) {
      await caller.kill();
      await Promise.all([caller.again(), server.again()]);
    }
    expect(stateOf(await over(server, theirs))).toBe("canceled");
    expect([await cards(caller), await cards(server), await effects()]).toEqual([[], [], done]);
  },
);

import { expect, test } from "vitest";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { watchQueries } from "../../../test/support/postgres/watch-queries.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Commit, Ledger } from "../../engine/index.ts";
import { buildCall, buildConfirmation, SessionWriter } from "../../engine/ledger/contract/build.ts";
import { toDirect } from "./direct-commit.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();
const TERMS = { id: "1", sync: false };

async function open(options = ""): Promise<Ledger> {
  const ledger = await openPostgresLedger({ url: (await createDatabase(resources)) + options });
  resources.add(() => ledger.close());
  return ledger;
}

/** How each commit that is sent meanwhile reaches the server. */
async function waysOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const ways: string[] = [];
  const restore = watchQueries(({ text }) => {
    if (text.startsWith("with moved")) ways.push("direct");
    if (text.includes("countersign.commit(")) ways.push("function");
  });
  await work().finally(restore);
  return ways;
}

test("a commit of the usual kinds is one statement", async () => {
  const writer = new SessionWriter(await open(), "s1");
  const call = buildCall("s1", "c1");
  const confirmation = buildConfirmation(call, "q1");
  const ways = await waysOf(async () => {
    await writer.commit([writer.event("made")]);
    await writer.commit([
      writer.event("asked"),
      { kind: "call-insert", call },
      { kind: "confirmation-insert", confirmation },
      writer.journal("confirmation-requested"),
    ]);
    await writer.commit(
      [
        { kind: "call-update", id: call.id, from: "waiting", attempt: 0, set: { status: "ready" } },
        { kind: "confirmation-update", id: confirmation.id, from: "requested", set: { status: "approved" } },
      ],
      { sync: true },
    );
  });
  expect(ways).toEqual(["direct", "direct", "direct"]);
});

test("a commit that is refused is judged by the function, which says why", async () => {
  const ledger = await open();
  const writer = new SessionWriter(ledger, "s1");
  const call = buildCall("s1", "c1");
  await writer.commit([{ kind: "call-insert", call }]);
  const wrong = { kind: "call-update", id: call.id, from: "executing", attempt: 0, set: {} } as const;
  const outcomes: unknown[] = [];
  const ways = await waysOf(async () => {
    outcomes.push(await writer.commit([writer.event("late")], { version: 7 }));
    outcomes.push(await writer.commit([writer.event("wrong"), { ...wrong, set: { status: "succeeded" } }]));
    outcomes.push(await writer.commit([writer.event("nobody's")], { owner: "nobody" }));
  });
  expect(outcomes).toEqual(["version", "row", "owner"].map((conflict) => ({ ok: false, conflict })));
  expect(ways).toEqual(["direct", "function", "direct", "function", "direct", "function"]);
  expect(await ledger.events("s1")).toEqual([]);
});

test("where statements cannot be kept on a connection, a commit is a call of the function", async () => {
  const writer = new SessionWriter(await open("?prepare=false"), "s1");
  expect(await waysOf(() => writer.commit([writer.event("made")]))).toEqual(["function"]);
});

test("of commits from one version, sent at the same time, one is done", async () => {
  const ledger = await open();
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit();
  const commits: Commit[] = Array.from({ length: 20 }, (_, i) =>
    new SessionWriter(ledger, "s1").toCommit(
      [{ kind: "event", seq: 1, event: { id: `e${i}`, timestamp: i, author: "user", invocationId: "i" } }],
      { version: 1 },
    ),
  );
  const outcomes = await Promise.all(commits.map((commit) => ledger.commit(commit)));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(await ledger.events("s1")).toHaveLength(1);
});

test("what a plain statement cannot do is the function's", () => {
  const writer = new SessionWriter({} as Ledger, "s1");
  const call = buildCall("s1", "c1");
  const update = { kind: "call-update", id: call.id, from: "waiting", attempt: 0, set: {} } as const;
  const direct = (...writes: Commit["writes"]): unknown => toDirect(writer.toCommit(writes, {}), TERMS);
  expect(direct(update)).toBeDefined();
  expect(direct(update, update)).toBeUndefined();
  expect(direct({ kind: "call-insert", call }, update)).toBeUndefined();
  expect(direct({ kind: "erase" })).toBeUndefined();
  expect(direct(...Array.from({ length: 100 }, () => writer.event("one of many")))).toBeUndefined();
});

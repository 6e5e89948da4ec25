import { once } from "node:events";
import { expect, test } from "vitest";
import { SessionWriter } from "../../engine/ledger.contract/build.ts";
import { openSqliteLedger } from "./index.ts";
import { startChild } from "./test-support/child.ts";
import { createDirectory } from "./test-support/sqlite-subject.ts";

test("a commit in another process wakes a listener in this one", async () => {
  using directory = createDirectory();
  const ledger = await openSqliteLedger({ path: directory.file() });
  await using child = startChild("./commit-child.ts", directory.file(), "s1", "1");
  await child.next();
  const changed = new Promise<void>((resolve) => ledger.onChange(resolve));
  child.send({ start: true });
  await changed;
  expect(await child.ended).toBe(0);
  expect(await ledger.events("s1")).toHaveLength(1);
  await ledger.close();
});

test("a process that only listens ends by itself", async () => {
  using directory = createDirectory();
  await using child = startChild("./listen-child.ts", directory.file());
  await child.next();
  expect(await child.ended).toBe(0);
});

test("a listener that throws is reported, and the others are called", async () => {
  const ledger = await openSqliteLedger({ path: ":memory:" });
  const fault = new Error("a listener's fault");
  ledger.onChange(() => {
    throw fault;
  });
  const called = new Promise<void>((resolve) => ledger.onChange(resolve));
  const warned = once(process, "warning");
  expect(await new SessionWriter(ledger, "s1").commit()).toEqual({ ok: true });
  await called;
  expect(await warned).toEqual([fault]);
  await ledger.close();
});

test("a closed ledger takes no listener", async () => {
  const ledger = await openSqliteLedger({ path: ":memory:" });
  await ledger.close();
  expect(() => ledger.onChange(() => {})).toThrow(expect.objectContaining({ code: "closed" }));
});

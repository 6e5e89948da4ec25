import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openSqliteLedger } from "../open.ts";

const resources = useResources();

test("a commit in another process wakes a listener in this one", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const ledger = await openSqliteLedger({ path });
  const program = new URL("../testing/commit-program.ts", import.meta.url);
  const child = resources.child(program, { args: [path, "s1", "1"] });
  await child.line("started");
  const changed = new Promise<void>((resolve) => ledger.onChange(resolve));
  child.send({ start: true });
  await changed;
  expect(await child.ended).toMatchObject({ code: 0 });
  expect(await ledger.events("s1")).toHaveLength(1);
  await ledger.close();
});

test("a process that only listens ends by itself", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const program = new URL("../testing/listen-program.ts", import.meta.url);
  const child = resources.child(program, { args: [path] });
  expect(await child.ended).toMatchObject({ code: 0 });
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

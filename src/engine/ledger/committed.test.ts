import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { call, play } from "../../../test/seeds/scripted-runner.ts";
import { Agent, agentTool, Runner, SequentialAgent, tool } from "../../index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";

const shortcut = vi.hoisted(() => ({ on: true, taken: 0 }));

vi.mock(import("./committed.ts"), async (original) => {
  const { afterCommit } = await original();
  return {
    afterCommit: (parts, draft) => {
      const known = shortcut.on ? afterCommit(parts, draft) : undefined;
      if (known !== undefined) shortcut.taken += 1;
      return known;
    },
  };
});

/** Talks, runs, asks, approves, denies and hands over; gives every table of the ledger, and what was answered. */
async function converse(file: string): Promise<unknown> {
  const clock = new ManualClock();
  let ids = 0;
  const newId = (): string => `id-${String(++ids).padStart(6, "0")}`;
  const look = tool({ name: "look", description: "", execute: () => ({ seen: true }) });
  const pay = tool({
    name: "pay",
    description: "",
    requireConfirmation: true,
    execute: () => ({ paid: true }),
  });
  const helper = new Agent({ name: "helper", model: play([call("look")], "Looked."), tools: [look] });
  const last = new Agent({ name: "last", model: play("Bye.", "Bye.", "Bye.") });
  const first = new Agent({
    name: "first",
    model: play(
      [call("look"), call("look", {}, "again")],
      [call("helper", { request: "x" })],
      [call("pay")],
      "Paid.",
      [call("pay")],
      "Not paid.",
    ),
    tools: [look, pay, agentTool(helper)],
  });
  const agent = new SequentialAgent({ name: "both", subAgents: [first, last] });
  const runner = new Runner({
    agent,
    clock,
    newId,
    hostName: "h",
    ledger: await createLedger(`sqlite:${file}`, { clock }),
  });
  const said: unknown[] = [];
  for (const verdict of ["approve", "deny"] as const) {
    const turn = await runner.send("go", { user: "ana", session: "s" });
    said.push(turn);
    const id = turn.pending[0]?.id ?? "";
    const { finished } = await runner[verdict](id, { by: { id: "ana" } });
    said.push(await finished);
  }
  await runner.close();
  return { said, tables: tablesOf(file) };
}

function tablesOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const names = database.prepare("select name from sqlite_master where type = 'table'").all();
  const tables = names.map(({ name }) => [name, database.prepare(`select * from "${String(name)}"`).all()]);
  database.close();
  return tables;
}

test("starting from what was just committed, instead of reading it, changes nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "committed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [on, off] = [join(folder, "on.db"), join(folder, "off.db")];
  // One begins as a copy of the other: both have the same keys.
  await (await createLedger(`sqlite:${on}`)).close();
  copyFileSync(on, off);

  const withIt = await converse(on);
  expect(shortcut.taken).toBeGreaterThan(5);
  shortcut.on = false;
  shortcut.taken = 0;
  const without = await converse(off);
  expect(shortcut.taken).toBe(0);
  expect(without).toEqual(withIt);
});

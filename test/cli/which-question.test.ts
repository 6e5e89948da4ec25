import { describe, expect, test } from "vitest";
import type { Engine } from "../../src/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

interface Listed {
  readonly items: readonly { readonly id: string; readonly round: number; readonly version: number }[];
}

/** A gated function that asks again once it runs. */
function gateTransfer(
  engine: Engine,
  sent: string[] = [],
): (key: string) => ReturnType<ReturnType<typeof engine.gate<object, null>>> {
  const transfer = engine.gate("transfer", { requireConfirmation: true }, async (_args: object, ctx) => {
    await ctx.confirm("second", { hint: "Send it abroad?" });
    sent.push("sent");
    return null;
  });
  return (key) => transfer({}, { key, by });
}

/** Asks, and gives the question's id and its call's. */
async function ask(folder: Folder): Promise<{ readonly id: string; readonly call: string }> {
  return folder.withEngine(async (engine) => {
    const outcome = await gateTransfer(engine)("order-1");
    const id = outcome.status === "pending" ? outcome.confirmation.id : "";
    return { id, call: (await engine.ledger.load({ confirmation: id }))?.call?.id ?? "" };
  });
}

/** Lets a host go on with what was approved; gives what it did. */
async function work(folder: Folder): Promise<readonly string[]> {
  const sent: string[] = [];
  await folder.withEngine(async (engine) => {
    const transfer = gateTransfer(engine, sent);
    await engine.work({ once: true });
    await transfer("order-1");
  });
  return sent;
}

function open(folder: Folder): Listed["items"] {
  return (folder.json(["pending"]) as Listed).items;
}

describe.each([
  ["the end of an id", ({ id }: { readonly id: string }) => id.slice(-8)],
  ["a call's id", ({ call }: { readonly call: string }) => call],
])("%s", (_, named) => {
  test("decides the first question, and again is answered with that decision", async () => {
    const folder = makeFolder();
    const asked = await ask(folder);
    expect(folder.run(["approve", named(asked)])).toMatchObject({ code: 0, stderr: "" });
    expect(await work(folder)).toEqual([]);
    expect(open(folder)).toMatchObject([{ round: 1 }]);
    const again = folder.run(["approve", named(asked)]);
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toContain("Approved already");
    expect(folder.run(["deny", named(asked)]).stderr).toContain("[already-decided]");
    expect(open(folder)).toMatchObject([{ round: 1 }]);
    expect(await work(folder)).toEqual([]);
  });
});

test.each(["approve", "deny"])("%s takes a later question by its whole id only", async (verdict) => {
  const folder = makeFolder();
  folder.run(["approve", (await ask(folder)).id]);
  await work(folder);
  const [{ id } = { id: "" }] = open(folder);
  const refused = folder.run([verdict, id.slice(-8)]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(id);
  expect(refused.stderr).toContain("[ambiguous]");
  expect(open(folder)).toHaveLength(1);
  // What `show` and `pending` tell to type does.
  const line = `approve ${id}`;
  expect(folder.run(["show", id.slice(-8)]).stdout).toContain(line);
  expect(folder.run(["pending"]).stdout).toContain(line);
  expect(folder.run([verdict, id]).code).toBe(0);
  expect(await work(folder)).toEqual(verdict === "approve" ? ["sent"] : []);
});

test("what was shown before a restore is not approved after it", async () => {
  const folder = makeFolder();
  const { id } = await ask(folder);
  expect(folder.run(["mark-restored"]).code).toBe(0);
  const stale = folder.run(["approve", id.slice(-8)]);
  expect(stale).toMatchObject({ code: 4, stdout: "" });
  expect(stale.stderr).toContain("[stale-version]");
  expect(open(folder)).toMatchObject([{ version: 2 }]);
  const line = `approve ${id.slice(-8)} --shown-version 2`;
  expect(folder.run(["show", id.slice(-8)]).stdout).toContain(line);
  expect(folder.run(line.split(" ")).code).toBe(0);
});

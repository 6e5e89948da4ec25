import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { call, play, resultsIn, type StrictModel, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { CallAbandoned } from "../../engine/index.ts";
import { Agent, type Policy, Runner, type ToolOptions, tool } from "../../index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { ManualClock } from "../../testing.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

interface Payment {
  readonly to: string;
  readonly amount: number;
}

interface SceneOptions extends Partial<ToolOptions<Payment, unknown>> {
  /** The arguments that the model sends. */
  readonly call?: JsonObject;
}

function scene(
  { call: sent = { to: "bo", amount: 500 }, ...options }: SceneOptions,
  policy?: Policy,
): { readonly runner: Runner; readonly model: StrictModel; readonly paid: Payment[] } {
  const paid: Payment[] = [];
  const pay = tool<Payment>({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ to: z.string(), amount: z.coerce.number().positive() }),
    requireConfirmation: true,
    execute: (args) => {
      paid.push(args);
      return { ok: true };
    },
    ...options,
  });
  const model = play([call("pay", sent)], "Done.");
  const agent = new Agent({ name: "a", model, tools: [pay] });
  return { runner: makeRunner({ agent, ...(policy === undefined ? {} : { policy }) }), model, paid };
}

async function idOf(runner: Runner): Promise<string> {
  return String((await runner.send("pay", ana)).pending[0]?.id);
}

const limit: Policy = ({ args }) =>
  Number(args["amount"]) > 1000 ? { outcome: "deny", reason: "above the limit" } : undefined;

const tiers: Policy = ({ args }) => {
  const approvers = Number(args["amount"]) > 1000 ? { roles: ["cfo"] } : ("requester" as const);
  return { outcome: "confirm", reason: "money", approvers };
};

describe("amended arguments", () => {
  test("never run as anything that was not shown: a schema that would convert them twice is refused", async () => {
    const dollars = z.object({ amount: z.number().transform((amount) => amount * 100), to: z.string() });
    const { runner, paid } = scene({ amendable: ["to"], parameters: dollars });
    const { pending } = await runner.send("pay", ana);
    expect(pending[0]?.args).toEqual({ to: "bo", amount: 50_000 });
    const args = { to: "al", amount: 50_000 };
    const refused = runner.approve(String(pending[0]?.id), { ...byAna, args });
    await expect(refused).rejects.toMatchObject({ code: "arguments-mismatch", details: { field: "amount" } });
    expect(await runner.pending()).toHaveLength(1);
    expect(paid).toEqual([]);
  });

  test("of a card that shows the input are parsed once, when the tool is entered", async () => {
    const parameters = z.object({
      to: z.union([z.literal("bo"), z.string().transform((text) => new URL(text))]),
      amount: z.number().transform((amount) => amount * 100),
    });
    const { runner, paid } = scene({
      amendable: true,
      parameters: parameters as unknown as z.ZodType<Payment>,
      call: { to: "https://al.example", amount: 5 },
    });
    const args = { to: "bo", amount: 5 };
    const { confirmation, finished } = await runner.approve(await idOf(runner), { ...byAna, args });
    await finished;
    expect(confirmation.decision?.args).toEqual(args);
    expect(paid).toEqual([{ to: "bo", amount: 500 }]);
  });

  test("run instead of the model's, both are kept, and the model is told what ran", async () => {
    const { runner, model, paid } = scene({ amendable: true });
    const id = await idOf(runner);
    const { confirmation, finished } = await runner.approve(id, { ...byAna, args: { to: "bo", amount: 50 } });
    await finished;
    expect(paid).toEqual([{ to: "bo", amount: 50 }]);
    expect(confirmation.decision?.args).toEqual({ to: "bo", amount: 50 });
    const { ledger } = await runner.engine();
    const { items } = await ledger.confirmations({ state: "closed" });
    expect(items[0]?.call).toMatchObject({
      args: { to: "bo", amount: 50 },
      originalArgs: { to: "bo", amount: 500 },
    });
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { ok: true, amendedArguments: { to: "bo", amount: 50 } },
    ]);
  });

  test("keep the secrets that an approver was not shown", async () => {
    const { runner, paid } = scene({ amendable: ["amount"], secrets: ["/to"] });
    const id = await idOf(runner);
    const [shown] = await runner.pending();
    expect(shown?.args).toEqual({ to: "[redacted]", amount: 500 });
    const args = { to: "[redacted]", amount: 50 };
    await (await runner.approve(id, { ...byAna, args })).finished;
    expect(paid).toEqual([{ to: "bo", amount: 50 }]);
    expect(await runner.approve(id, { ...byAna, args })).toMatchObject({ repeated: true });
  });

  test("are parsed as the model's would be", async () => {
    const { runner, paid } = scene({ amendable: true });
    const id = await idOf(runner);
    await (await runner.approve(id, { ...byAna, args: { to: "bo", amount: "60" } })).finished;
    expect(paid).toEqual([{ to: "bo", amount: 60 }]);
  });

  test("that do not fit the schema are refused with the field, and the question stays open", async () => {
    const { runner, paid } = scene({ amendable: true });
    const id = await idOf(runner);
    await expect(runner.approve(id, { ...byAna, args: { to: "bo", amount: -1 } })).rejects.toMatchObject({
      code: "arguments-mismatch",
      details: { field: "amount" },
    });
    expect(await runner.pending()).toHaveLength(1);
    expect(paid).toEqual([]);
  });

  test.each([
    ["nothing may be changed", undefined],
    ["another field may be changed", ["amount"]],
  ] as const)("are refused where %s", async (_, amendable) => {
    const { runner } = scene(amendable === undefined ? {} : { amendable });
    const id = await idOf(runner);
    await expect(
      runner.approve(id, { ...byAna, args: { to: "mallory", amount: 500 } }),
    ).rejects.toMatchObject({
      code: "arguments-mismatch",
      details: { field: "to" },
    });
  });

  test("are gated again: a rule that forbids them forbids the approval", async () => {
    const { runner, paid } = scene({ amendable: true }, limit);
    const id = await idOf(runner);
    await expect(runner.approve(id, { ...byAna, args: { to: "bo", amount: 2000 } })).rejects.toMatchObject({
      code: "policy-denied",
      message: "above the limit",
    });
    expect(paid).toEqual([]);
    expect(await runner.pending()).toHaveLength(1);
  });

  test("need an approver whom the rule for the new arguments allows", async () => {
    const { runner, paid } = scene({ amendable: true }, tiers);
    const id = await idOf(runner);
    const args = { to: "bo", amount: 2000 };
    await expect(runner.approve(id, { ...byAna, args })).rejects.toMatchObject({ code: "not-an-approver" });
    await (await runner.approve(id, { ...byAna, args: { to: "bo", amount: 900 } })).finished;
    expect(paid).toEqual([{ to: "bo", amount: 900 }]);
  });
});

test("a deadline is the tool's: a call that nobody decides in time expires and is told so", async () => {
  const clock = new ManualClock();
  const paid: number[] = [];
  const pay = tool({
    name: "pay",
    description: "",
    requireConfirmation: true,
    expiresInMs: 60_000,
    execute: () => void paid.push(1),
  });
  const model = play([call("pay")], "Too late.");
  const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }), clock });
  const turn = await runner.send("pay", ana);
  await clock.advance(60_001);
  await runner.work({ once: true });
  expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
    { error: "tool call expired before it was approved" },
  ]);
  await expect(runner.approve(String(turn.pending[0]?.id), byAna)).rejects.toMatchObject({ code: "expired" });
  expect(paid).toEqual([]);
});

test("a deny rule about a user holds for a call that nobody had to approve, when another process takes it up", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-live-tool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ledger = `sqlite:${join(folder, "ledger.db")}`;
  const asked: string[] = [];
  const entered: string[] = [];
  // As a process does that ends while it is inside the tool.
  const sync = (name: string): Agent => {
    const execute = (): never => {
      entered.push(name);
      throw new CallAbandoned();
    };
    const made = tool({ name: "sync", description: "Syncs.", idempotent: true, execute });
    return new Agent({ name: "a", model: play([call("sync")]), tools: [made] });
  };
  const first = new Runner({ agent: sync("first"), ledger });
  first.send("sync", ana).catch(() => {});
  await vi.waitUntil(() => entered.length === 1, { timeout: 20_000 });
  await first.close();
  const policy: Policy = ({ user }) => {
    asked.push(user);
    return user === "ana" ? { outcome: "deny", reason: "ana has left" } : undefined;
  };
  const second = makeRunner({ agent: sync("second"), ledger, policy });
  await second.work({ once: true });
  expect(asked).toEqual(["ana"]);
  expect(entered).toEqual(["first"]);
});

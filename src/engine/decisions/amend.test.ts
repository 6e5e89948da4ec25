import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  ANA,
  type AskInput,
  type Desk,
  MANAGER,
  openDesk,
  person,
} from "../../../test/attack/support/engine-fixture.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { readShape } from "../common/schema.ts";
import type { LiveTool } from "../host.ts";
import { tryApprove } from "../testing/try-decide.ts";

const PAYMENT = z.object({
  amount: z.coerce.number().positive(),
  to: z.string(),
  note: z.string().default("-"),
});
const shape = readShape(PAYMENT);
const ARGS = { amount: 5, to: "bob", note: "-" };

/** Gated again as a runtime would: parsed, and more than 100 needs a manager; more than 1000 nobody may. */
const tool: Partial<LiveTool> = {
  amend: async (_call, { args }) => {
    const parsed = await shape.parse(args);
    if (!parsed.ok) return { ...parsed, code: "arguments-mismatch" };
    const amount = Number(parsed.args["amount"]);
    if (amount > 1000) return { ok: false, code: "policy-denied", message: "More than 1000 is never paid." };
    return { ok: true, args: parsed.args, approvers: amount > 100 ? { roles: ["manager"] } : "requester" };
  },
};

async function openPayment(shown: NonNullable<AskInput["question"]>["shown"], secret?: string) {
  const desk = await openDesk(secret === undefined ? {} : { secret });
  desk.app.define("pay", tool);
  const asked = await desk.ask({ tool: "pay", args: ARGS, question: { shown: shown ?? {} } });
  return { desk, ...asked };
}

async function expectOpen(desk: Desk, { id }: { readonly id: string }) {
  expect(await desk.confirmation(id)).toMatchObject({ status: "requested", votes: [] });
  expect(desk.app.runs).toEqual([]);
}

describe("arguments that an approver changed", () => {
  test("run instead; both versions are kept, and the approval is bound to the new ones", async () => {
    const { desk, confirmation, call } = await openPayment({ amendable: ["amount"] }, "a secret");
    const args = { ...ARGS, amount: 3 };
    const approved = await tryApprove(desk.engine, confirmation.id, { by: ANA, args });
    expect(approved).toMatchObject({ ok: true, call: { args, originalArgs: ARGS } });
    await desk.engine.finished(call.id);
    const ended = await desk.call(call.id);
    expect(desk.app.runs).toMatchObject([{ args, key: call.id }]);
    expect(ended).toMatchObject({ status: "succeeded", args, originalArgs: ARGS });
    const decided = await desk.confirmation(confirmation.id);
    expect(decided.votes).toMatchObject([{ confirmed: true, args }]);
    expect(decided.argsDigest).toBe(ended.argsDigest);
    expect(decided.argsDigest).not.toBe(call.argsDigest);
    expect((await desk.journal()).find(({ kind }) => kind === "confirmation-approved")?.body).toMatchObject({
      argsDigest: ended.argsDigest,
    });
  });

  test("are parsed as the model's were: defaults and coercions are bound", async () => {
    const { desk, confirmation, call } = await openPayment({ amendable: true });
    await desk.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    await desk.engine.finished(call.id);
    expect(desk.app.runs).toMatchObject([{ args: { amount: 7, to: "eve", note: "-" } }]);
  });

  test("run elsewhere under the same key, signed for the new digest", async () => {
    const { desk, confirmation, call } = await openPayment({ amendable: true }, "a secret");
    const body = Promise.withResolvers<never>();
    desk.app.define("pay", { ...tool, run: () => body.promise });
    await desk.engine.approve(confirmation.id, { by: ANA, args: { ...ARGS, amount: 3 } });
    const { OutcomeUnknown } = await import("../calls/call-context.ts");
    body.reject(new OutcomeUnknown("the line went dead"));
    await desk.engine.finished(call.id);
    desk.app.define("pay", tool);
    expect(await desk.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA })).toMatchObject(
      {
        ok: true,
      },
    );
    await desk.engine.finished(call.id);
    expect(desk.app.runs).toMatchObject([
      { args: { ...ARGS, amount: 3 }, key: call.id, attempt: 1 },
      { args: { ...ARGS, amount: 3 }, key: call.id, attempt: 2 },
    ]);
  });

  test("that are the same arguments change nothing, amendable or not", async () => {
    const { desk, confirmation, call } = await openPayment({});
    const approved = await tryApprove(desk.engine, confirmation.id, {
      by: ANA,
      args: { note: "-", to: "bob", amount: 5 },
    });
    expect(approved).toMatchObject({ ok: true });
    expect(await desk.engine.finished(call.id)).not.toHaveProperty("originalArgs");
    expect((await desk.confirmation(confirmation.id)).votes[0]).not.toHaveProperty("args");
  });
});

describe("are refused, and the question stays open", () => {
  test.each<[string, true | readonly string[] | undefined, unknown, string]>([
    ["the tool allows no changes", undefined, { ...ARGS, amount: 3 }, "amount"],
    ["no field may change", [], { ...ARGS, amount: 3 }, "amount"],
    ["another field may change", ["note"], { ...ARGS, amount: 3 }, "amount"],
    ["a fixed field goes along", ["amount"], { ...ARGS, amount: 3, to: "eve" }, "to"],
    ["a fixed field is left out", ["amount"], { amount: 3, note: "-" }, "to"],
    ["a new field appears", ["amount"], { ...ARGS, cc: "eve" }, "cc"],
    [
      "a field called __proto__ appears",
      ["amount"],
      JSON.parse('{"amount":3,"to":"bob","note":"-","__proto__":{}}'),
      "__proto__",
    ],
    ["a field called constructor appears", ["amount"], { ...ARGS, constructor: 1 }, "constructor"],
    ["a field called toString appears", ["amount"], { ...ARGS, toString: {} }, "toString"],
    ["a list stands for the arguments", true, [1], "(all)"],
    ["a text stands for the arguments", true, "all of it", "(all)"],
  ])("%s", async (_, amendable, args, field) => {
    const { desk, confirmation } = await openPayment(amendable === undefined ? {} : { amendable });
    const journal = await desk.journal();
    const refused = await tryApprove(desk.engine, confirmation.id, { by: ANA, args: args as JsonObject });
    expect(refused).toMatchObject({ ok: false, code: "arguments-mismatch", field });
    expect(await desk.journal()).toEqual(journal);
    await expectOpen(desk, confirmation);
  });

  test.each<[string, JsonObject, string, string | undefined]>([
    ["they do not fit the schema", { ...ARGS, amount: -1 }, "arguments-mismatch", "amount"],
    ["a rule forbids them", { ...ARGS, amount: 5000 }, "policy-denied", undefined],
  ])("gated again: %s", async (_, args, code, field) => {
    const { desk, confirmation } = await openPayment({ amendable: true });
    const refused = await tryApprove(desk.engine, confirmation.id, { by: MANAGER, args });
    expect(refused).toMatchObject({ code: "not-an-approver" });
    const byAna = await tryApprove(desk.engine, confirmation.id, { by: ANA, args });
    expect(byAna).toMatchObject({ ok: false, code, ...(field === undefined ? {} : { field }) });
    await expectOpen(desk, confirmation);
  });

  test("the approver is none for the new ones; that is audited", async () => {
    const { desk, confirmation } = await openPayment({ amendable: true });
    const refused = await tryApprove(desk.engine, confirmation.id, {
      by: ANA,
      args: { ...ARGS, amount: 500 },
    });
    expect(refused).toMatchObject({ ok: false, code: "not-an-approver" });
    expect((await desk.journal()).at(-1)).toMatchObject({
      kind: "decision-refused",
      body: { code: "not-an-approver", by: { id: "ana" } },
    });
    await expectOpen(desk, confirmation);
    const boss = { ...person("ana"), roles: ["manager"] };
    const approved = await tryApprove(desk.engine, confirmation.id, {
      by: boss,
      args: { ...ARGS, amount: 500 },
    });
    expect(approved).toMatchObject({ ok: true });
  });

  test("the tool is not served here, so nobody can judge them", async () => {
    const desk = await openDesk({ hosts: false });
    const { confirmation } = await desk.ask({
      tool: "pay",
      args: ARGS,
      question: { shown: { amendable: true } },
    });
    const refused = await tryApprove(desk.engine, confirmation.id, { by: ANA, args: { ...ARGS, amount: 3 } });
    expect(refused).toMatchObject({ ok: false, code: "arguments-mismatch" });
    await expectOpen(desk, confirmation);
  });
});

describe("again", () => {
  test.each<[string, JsonObject]>([
    ["as sent", { amount: "7", to: "eve" }],
    ["as they ran", { amount: 7, to: "eve", note: "-" }],
  ])("the same amendment, %s, is the same decision", async (_, again) => {
    const { desk, confirmation } = await openPayment({ amendable: true });
    await desk.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    expect(await tryApprove(desk.engine, confirmation.id, { by: ANA, args: again })).toMatchObject({
      ok: true,
      repeated: true,
    });
    expect(desk.app.runs).toHaveLength(1);
  });

  test.each<[string, JsonObject | undefined]>([
    ["other arguments", { amount: 8, to: "eve" }],
    ["the original arguments", ARGS],
    ["none", undefined],
  ])("%s are another decision", async (_, again) => {
    const { desk, confirmation } = await openPayment({ amendable: true });
    await desk.engine.approve(confirmation.id, { by: ANA, args: { amount: "7", to: "eve" } });
    const refused = await tryApprove(desk.engine, confirmation.id, {
      by: ANA,
      ...(again === undefined ? {} : { args: again }),
    });
    expect(refused).toMatchObject({ ok: false, code: "already-decided" });
  });

  test("the shown arguments sent back as a payload beside an amendment are no payload, both times", async () => {
    const { desk, confirmation, call } = await openPayment({ amendable: true, payload: { days: 0 } });
    const decision = { by: ANA, args: { ...ARGS, amount: 3 }, payload: ARGS };
    await desk.engine.approve(confirmation.id, decision);
    await desk.engine.finished(call.id);
    expect(desk.app.runs).toMatchObject([{ args: { amount: 3 }, payload: { days: 0 } }]);
    expect(await tryApprove(desk.engine, confirmation.id, decision)).toMatchObject({
      ok: true,
      repeated: true,
    });
  });
});

test("a gated function: amended by its approver, and its key still belongs to the first arguments", async () => {
  const desk = await openDesk();
  const paid: number[] = [];
  const pay = desk.engine.gate(
    "pay",
    { parameters: PAYMENT, requireConfirmation: true, amendable: ["amount"] },
    async ({ amount }) => paid.push(amount),
  );
  const input = { amount: 5, to: "bob", note: "-" };
  const opened = await pay(input, { key: "order-17", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const approved = await tryApprove(desk.engine, opened.confirmation.id, {
    by: ANA,
    args: { ...input, amount: 4 },
  });
  if (approved.ok) await approved.finished;
  expect(paid).toEqual([4]);
  expect(await pay(input, { key: "order-17", by: ANA })).toMatchObject({ status: "succeeded" });
  await expect(pay({ ...input, amount: 4 }, { key: "order-17", by: ANA })).rejects.toMatchObject({
    code: "key-reused",
  });
});

test("a gated function: the secret of a row that was taken out is not given to the next", async () => {
  const desk = await openDesk();
  const paid: unknown[] = [];
  const pay = desk.engine.gate<{ rows: readonly JsonObject[] }, string>(
    "pay",
    { requireConfirmation: true, amendable: true, secrets: ["/rows/*/pin"] },
    async ({ rows }) => {
      paid.push(...rows);
      return "paid";
    },
  );
  const rows = [
    { to: "alice", pin: "A" },
    { to: "bob", pin: "B" },
  ];
  const opened = await pay({ rows }, { key: "order-18", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const approve = (pin: string) =>
    tryApprove(desk.engine, opened.confirmation.id, { by: ANA, args: { rows: [{ to: "bob", pin }] } });
  expect(await approve("[redacted]")).toMatchObject({ code: "arguments-mismatch", field: "rows.0.pin" });
  expect(paid).toEqual([]);
  const approved = await approve("B");
  if (approved.ok) await approved.finished;
  expect(paid).toEqual([{ to: "bob", pin: "B" }]);
  expect(await approve("B")).toMatchObject({ ok: true, repeated: true });
  expect(await approve("[redacted]")).toMatchObject({ ok: false, code: "already-decided" });
});

test("a gated function: what was shown and left alone runs as it was shown, or the change is refused", async () => {
  const desk = await openDesk();
  const parameters = z.object({ amount: z.number().transform((dollars) => dollars * 100), note: z.string() });
  const pay = desk.engine.gate(
    "pay",
    { parameters, requireConfirmation: true, amendable: ["note"] },
    async () => 1,
  );
  const opened = await pay({ amount: 5, note: "a" }, { key: "order-19", by: ANA });
  if (opened.status !== "pending") throw new Error(opened.status);
  const args = { amount: 500, note: "b" };
  expect(opened.confirmation.args).toEqual({ ...args, note: "a" });
  expect(await tryApprove(desk.engine, opened.confirmation.id, { by: ANA, args })).toMatchObject({
    code: "arguments-mismatch",
    field: "amount",
  });
});

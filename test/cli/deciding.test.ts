import { describe, expect, test } from "vitest";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { createLedger, Engine, OutcomeUnknown } from "../../src/index.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

/** What `--json` prints of a confirmation, as far as it is looked at here. */
interface Shown {
  readonly id: string;
  readonly status: string;
  readonly repeated?: boolean;
  readonly decision?: {
    readonly by: { readonly id: string };
    readonly via: string;
    readonly reason?: string;
  };
  readonly result?: unknown;
}

interface Listed {
  readonly items: readonly Shown[];
  readonly next?: string;
  readonly unknown: readonly Shown[];
}

function gateRefund(engine: Engine): ReturnType<typeof engine.gate<{ amount: number }, { paid: number }>> {
  return engine.gate(
    "refund",
    { requireConfirmation: true, confirmationHint: "Pay it?", expiresInMs: 3_600_000 },
    async ({ amount }: { amount: number }) => ({ paid: amount }),
  );
}

/** Asks about so many refunds and ends, as a host that is down would have. */
async function askFor(folder: Folder, ...amounts: readonly number[]): Promise<readonly string[]> {
  return folder.withEngine(async (engine) => {
    const refund = gateRefund(engine);
    const ids: string[] = [];
    for (const amount of amounts) {
      const outcome = await refund({ amount }, { key: `order-${amount}`, by });
      if (outcome.status === "pending") ids.push(outcome.confirmation.id);
    }
    return ids;
  });
}

describe("pending", () => {
  test("lists what waits, with the arguments, in 80 columns", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 2500);
    const { code, stdout } = folder.run(["pending"]);
    expect(code).toBe(0);
    expect(stdout).toContain(id.slice(-8));
    expect(stdout).toContain(`{"amount":2500}`);
    expect(stdout).toContain("expires in 59m");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("gives programs the items as the API shows them, and a cursor to the next", async () => {
    const folder = makeFolder();
    const ids = await askFor(folder, 1, 2, 3);
    const first = folder.json(["pending", "--limit", "2"]) as Listed;
    const item = { status: "requested", tool: "refund", hint: "Pay it?", version: 1 };
    const can = { decide: true, amend: false, cancel: true };
    expect(first.items).toMatchObject([
      { ...item, can },
      { ...item, can },
    ]);
    expect(first.unknown).toEqual([]);
    const second = folder.json(["pending", "--cursor", first.next ?? ""]) as Listed;
    expect(second.next).toBeUndefined();
    expect([...first.items, ...second.items].map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test("says so when nothing waits", async () => {
    const folder = makeFolder();
    await folder.withEngine(async () => {});
    expect(folder.run(["pending"])).toEqual({
      code: 0,
      stdout: "Nothing waits for a decision.\n",
      stderr: "",
    });
    expect(folder.json(["pending"])).toEqual({ items: [], unknown: [] });
  });

  test("narrows by tool, app and user", async () => {
    const folder = makeFolder();
    await askFor(folder, 7);
    const count = (...args: string[]): number => (folder.json(["pending", ...args]) as Listed).items.length;
    expect(count("--tool", "refund")).toBe(1);
    expect(count("--tool", "other")).toBe(0);
    expect(count("--app", "gate:refund", "--user", "ana")).toBe(1);
    expect(count("--user", "ben")).toBe(0);
  });
});

describe("approve", () => {
  test("commits the decision as the local user, and a host runs the call once", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 2500);
    const first = folder.run(["approve", id]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("It runs where gate:refund is hosted");
    const second = folder.run(["approve", id]);
    expect(second.code).toBe(0);
    expect(second.stdout).toContain("Approved already, by local:");
    await folder.withEngine(async (engine) => {
      const refund = gateRefund(engine);
      await engine.work({ once: true });
      expect(await refund({ amount: 2500 }, { key: "order-2500", by })).toMatchObject({
        status: "succeeded",
      });
    });
    const shown = folder.json(["approve", id]) as Shown;
    expect(shown).toMatchObject({ status: "succeeded", repeated: true, result: { paid: 2500 } });
    expect(shown.decision).toMatchObject({ via: "cli", by: { kind: "local", authenticated: false } });
    expect(shown.decision?.by.id).toMatch(/^local:./);
  });

  test("waits for the result where it is told to", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 2500);
    const alone = folder.run(["approve", id, "--wait", "0.2"]);
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain("has not ended after 0.2 s");
    await folder.withEngine(async (engine) => {
      gateRefund(engine);
      await engine.work({ once: true });
    });
    const done = folder.run(["approve", id, "--wait", "5"]);
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toContain(`{"paid":2500}`);
  });

  test("asks for the payload that the question wants, and takes it", async () => {
    const folder = makeFolder();
    const schema = { type: "object", properties: { days: { type: "number" } }, required: ["days"] };
    const id = await folder.withEngine(async (engine) => {
      const leave = engine.gate(
        "leave",
        { requireConfirmation: true, confirmationPayload: schema },
        async () => null,
      );
      const outcome = await leave({}, { key: "a", by });
      return outcome.status === "pending" ? outcome.confirmation.id : "";
    });
    const without = folder.run(["approve", id]);
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toMatch(/^countersign: .*days.* Use --payload JSON\. .* \[payload-mismatch\]\n$/);
    expect(folder.run(["approve", id, "--payload", "{days:3}"]).stderr).toMatch(
      /--payload: .* \[malformed-json\]\n$/,
    );
    expect(folder.run(["approve", id, "--payload", `{"days":3}`]).code).toBe(0);
  });
});

test("show and the audit log tell what an approver changed, and what was asked for", async () => {
  const folder = makeFolder();
  const id = await folder.withEngine(async (engine) => {
    const pay = engine.gate(
      "pay",
      { requireConfirmation: true, amendable: ["amount"] },
      async ({ amount }: { amount: number }) => ({ paid: amount }),
    );
    const asked = await pay({ amount: 2500 }, { key: "one", by });
    if (asked.status !== "pending") throw new Error(asked.status);
    const { id: asking } = asked.confirmation;
    await engine.decisions.noteSighting(asking, { by, via: "api" });
    const approved = await tryApprove(engine, asking, { by, args: { amount: 2000 } });
    if (!approved.ok) throw new Error(approved.message);
    await approved.finished;
    return asking;
  });
  const { stdout } = folder.run(["show", id]);
  expect(stdout).toContain(`asked for   │ {"amount":2500}`);
  expect(stdout).toContain(`changed to  │ {"amount":2000}`);
  expect(stdout).toContain("changed     amount: 2500 → 2000\n");
  expect(stdout).toMatch(/approved +by ana \(host, unauthenticated\), with changed arguments/);
  expect(stdout).toMatch(/seen by +│? *ana, /);
  expect(stdout).toMatch(/confirmation-seen +\S+ by ana/);
  expect(stdout).toMatch(/confirmation-approved +\S+ by ana with changed amount/);
  expect(folder.json(["show", id])).toMatchObject({
    args: { amount: 2000 },
    originalArgs: { amount: 2500 },
    decision: { by: { id: "ana" }, args: { amount: 2000 } },
  });
});

test("what the ADK tells programs is not told to people", async () => {
  const folder = makeFolder();
  const id = await folder.withEngine(async (engine) => {
    const confirmationHint =
      "Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected ToolConfirmation payload.";
    const pay = engine.gate("pay", { requireConfirmation: true, confirmationHint }, async () => ({}));
    const asked = await pay({ amount: 2500 }, { key: "one", by });
    if (asked.status !== "pending") throw new Error(asked.status);
    return asked.confirmation.id;
  });
  for (const args of [["pending"], ["show", id]]) {
    const { stdout } = folder.run(args);
    expect(stdout).toContain(`{"amount":2500}`);
    expect(stdout).not.toContain("FunctionResponse");
  }
  expect((folder.json(["show", id]) as { readonly hint: string }).hint).toContain("FunctionResponse");
});

describe("deny", () => {
  test("denies the call with a reason, and a later approval learns who decided", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 2500);
    const denied = folder.json(["deny", id, "--reason", "over budget"]) as Shown;
    expect(denied).toMatchObject({ status: "denied", repeated: false, decision: { reason: "over budget" } });
    const late = folder.run(["approve", id]);
    expect(late).toMatchObject({ code: 4, stdout: "" });
    expect(late.stderr).toMatch(
      /^countersign: local:.+ denied this at .+\. The first decision is final\. \[already-decided\]\n$/,
    );
  });

  test("is refused to somebody whom the rule does not allow", async () => {
    const folder = makeFolder();
    const id = await folder.withEngine(async (engine) => {
      const pay = engine.gate(
        "pay",
        { requireConfirmation: true, approvers: { roles: ["boss"] } },
        async () => null,
      );
      const outcome = await pay({}, { key: "a", by });
      return outcome.status === "pending" ? outcome.confirmation.id : "";
    });
    const refused = folder.run(["deny", id]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toMatch(/\[not-an-approver\]\n$/);
    const { stdout } = folder.run(["show", id]);
    expect(stdout).toContain("You may not decide this.");
    expect(stdout).not.toContain("approve ");
    expect((folder.json(["show", id]) as Shown).status).toBe("requested");
  });
});

describe("cancel", () => {
  test("withdraws with a reason, and will not do without one", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 1);
    expect(folder.run(["cancel", id])).toMatchObject({ code: 2, stdout: "" });
    expect(folder.json(["cancel", id, "--reason", "wrong place"]) as Shown).toMatchObject({
      status: "cancelled",
      withdrawal: expect.stringContaining("wrong place") as string,
    });
    const again = folder.run(["cancel", id, "--reason", "x"]);
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toMatch(/^Withdrawn already: /);
  });
});

describe("settle", () => {
  test("an unknown outcome is listed, shown with who ran it, and settled once", async () => {
    const folder = makeFolder();
    const id = await loseOne(folder);
    expect(folder.run(["pending"]).stdout).toContain("Outcome unknown");
    expect((folder.json(["pending"]) as Listed).unknown).toMatchObject([{ id, status: "unknown" }]);
    const { stdout } = folder.run(["show", id.slice(-8)]);
    expect(stdout).toMatch(/run by +.+, process \d+/);
    expect(stdout).toContain("--succeeded JSON");
    const settled = folder.json(["settle", id.slice(-8), "--succeeded", `{"paid":1}`]) as Shown;
    expect(settled).toMatchObject({ status: "succeeded", result: { paid: 1 } });
    expect(folder.run(["show", id]).stdout).toMatch(/settled +as succeeded, by local:\S+ \(cli/);
    expect(folder.json(["show", id])).toMatchObject({ settlement: { as: "succeeded", via: "cli" } });
    const again = folder.run(["settle", id, "--failed", "no"]);
    expect(again.code).toBe(4);
    expect(again.stderr).toMatch(/\[not-settleable\]\n$/);
  });

  test("needs exactly one word on what happened", async () => {
    const folder = makeFolder();
    const id = await loseOne(folder);
    expect(folder.run(["settle", id])).toMatchObject({ code: 2 });
    expect(folder.run(["settle", id, "--retry", "--failed", "x"]).stderr).toMatch(/takes only one of/);
    expect(folder.run(["settle", id, "--succeeded", "paid"]).stderr).toMatch(
      /A text needs JSON quotes.*malformed-json/,
    );
    const retried = folder.run(["settle", id, "--retry"]);
    expect(retried.stdout).toContain("with the same idempotency key, where gate:pay is hosted");
  });
});

test("settle --retry that is typed again does not run an attempt that was lost since", async () => {
  const folder = makeFolder();
  const id = await loseOne(folder);
  expect(folder.run(["settle", id, "--retry"]).code).toBe(0);
  // The process that hosts it takes it up, and loses it again.
  await folder.withEngine(async (engine) => {
    engine.gate("pay", { requireConfirmation: true }, async () => {
      throw new OutcomeUnknown("the line went dead again");
    });
    await engine.work({ once: true });
  });
  const again = folder.run(["settle", id, "--retry"]);
  expect(again.code).toBe(4);
  expect(again.stderr).toMatch(/\[stale-version\]\n$/);
  expect((folder.json(["pending"]) as Listed).unknown).toMatchObject([{ id, status: "unknown" }]);
  const { stdout } = folder.run(["show", id]);
  expect(stdout).toContain("--retry --attempt 2");
  expect(folder.run(["settle", id, "--retry", "--attempt", "2"]).code).toBe(0);
});

describe("ids", () => {
  test("may be shortened from either side of what is shown, not below four characters", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 1);
    for (const part of [
      id.slice(-4),
      id.slice(-8),
      id.slice(-8, -3),
      id.slice(-12),
      id.slice(-8).toUpperCase(),
    ]) {
      expect((folder.json(["show", part]) as Shown).id, part).toBe(id);
    }
    expect(folder.run(["show", id.slice(-3)])).toMatchObject({ code: 2 });
    const none = folder.run(["show", "zzzzzzzz"]);
    expect(none.code).toBe(3);
    expect(none.stderr).toMatch(/\[unknown-confirmation\]\n$/);
  });

  test("that fit more than one confirmation are refused with the candidates", async () => {
    const folder = makeFolder();
    const ids = await askUnder(folder, ["0000000000aaaaaaaasame1234", "0000000000bbbbbbbbsame1234"]);
    const { code, stdout, stderr } = folder.run(["approve", "same1234"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const id of ids) expect(stderr).toContain(id);
    expect((folder.json(["pending"]) as Listed).items).toHaveLength(2);
    expect(folder.run(["approve", "bsame1234"]).code).toBe(0);
  });

  test("that fit an open confirmation and one that was decided decide nothing", async () => {
    const folder = makeFolder();
    const ids = await askUnder(folder, ["0000000000aaaaaaaasame1234", "0000000000bbbbbbbbsame1234"]);
    expect(folder.run(["approve", ids[0] ?? ""]).code).toBe(0);
    const { code, stderr } = folder.run(["approve", "same1234"]);
    expect(code).toBe(2);
    for (const id of ids) expect(stderr).toContain(id);
    expect((folder.json(["pending"]) as Listed).items).toHaveLength(1);
  });

  test("of a closed confirmation still lead to what was decided", async () => {
    const folder = makeFolder();
    const [id = ""] = await askFor(folder, 1);
    folder.run(["deny", id]);
    const late = folder.run(["approve", id.slice(-8)]);
    expect(late.stderr).toMatch(/\[already-decided\]\n$/);
  });
});

/** A call whose outcome is unknown. */
async function loseOne(folder: Folder): Promise<string> {
  return folder.withEngine(async (engine) => {
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
      throw new OutcomeUnknown("the line went dead");
    });
    const outcome = await pay({ to: "ben" }, { key: "a", by });
    if (outcome.status !== "pending") return "";
    const decided = await tryApprove(engine, outcome.confirmation.id, { by });
    if (decided.ok) await decided.finished;
    return outcome.confirmation.id;
  });
}

/** Asks as many questions as there are endings, under ids that end so. */
async function askUnder(folder: Folder, endings: readonly string[]): Promise<readonly string[]> {
  let made = 0;
  const rest = [...endings];
  // Two ids are drawn for a question: the session's, then the confirmation's.
  const engine = new Engine({
    ledger: await createLedger(folder.ledger),
    newId: () => {
      made += 1;
      return made % 2 === 0 ? (rest.shift() ?? `late-${made}`) : `other-${made}`;
    },
  });
  const refund = gateRefund(engine);
  made = 0;
  const ids: string[] = [];
  for (const [index, ending] of endings.entries()) {
    const outcome = await refund({ amount: index }, { key: `k${index}`, by });
    const id = outcome.status === "pending" ? outcome.confirmation.id : "";
    expect(id).toMatch(new RegExp(`^adk-.*${ending}$`));
    ids.push(id);
  }
  await engine.close();
  return ids;
}

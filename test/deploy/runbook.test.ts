import { expect, test, vi } from "vitest";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import { createEngine, type Engine, OutcomeUnknown } from "../../src/index.ts";
import { useResources } from "../support/resources.ts";
import { Operator, typedAfter } from "./operator.ts";

const resources = useResources();
vi.setConfig({ testTimeout: 180_000 });
const ana = { id: "ana" };

/** As many calls whose outcome nobody knows; the ids of their questions. */
async function makeUnknown(engine: Engine, count: number): Promise<readonly string[]> {
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
    throw new OutcomeUnknown("the bank did not answer");
  });
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const asked = await pay({}, { key: `order-${n}`, by: ana });
    if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
    const decided = await tryApprove(engine, asked.confirmation.id, { by: ana });
    if (decided.ok) await decided.finished;
    ids.push(asked.confirmation.id);
  }
  return ids;
}

test("the runbook's commands find what is unknown, and settle it in each of the three ways", async () => {
  const folder = await resources.folder();
  const operator = new Operator(folder);
  const settlements = typedAfter("settle");
  const engine = await createEngine({ ledger: `sqlite:${folder}/countersign.db` });
  resources.add(() => engine.close());
  const ids = await makeUnknown(engine, settlements.length);
  const looks = typedAfter("look").map((line) => operator.type(line, { ID: ids[0] }));
  for (const { code, stderr } of looks) expect([code, stderr]).toEqual([0, ""]);
  const [pending, shown, log] = looks.map(({ stdout }) => stdout);
  expect(pending).toContain("Outcome unknown");
  expect(shown).toMatch(/ key +\S+\.order-0\n/);
  expect(shown).toContain("settle");
  expect(log).toContain("call-unknown");
  const statuses: (string | undefined)[] = [];
  for (const [n, line] of settlements.entries()) {
    const confirmation = ids[n] ?? "";
    const { code, stderr } = operator.type(line, { ID: confirmation });
    expect([code, stderr], line).toEqual([0, ""]);
    statuses.push((await engine.ledger.load({ confirmation }))?.call?.status);
  }
  // Nobody works here: what is to run again waits for whoever does.
  expect(statuses).toEqual(["succeeded", "failed", "ready"]);
  for (const line of typedAfter("look again"))
    expect(operator.type(line, { ID: ids[0] }), line).toMatchObject({ code: 0 });
});

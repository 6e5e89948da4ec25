import { expect, test, vi } from "vitest";
import { openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import type { JsonValue } from "../../protocol/index.ts";
import type { Decided, RefusedDecision, UsedUp } from "./decision.ts";

const [ANA, BOB] = [person("ana"), person("bob")];
const KEY = { kind: "ticket", id: "t1" } as const;
const NEVER = 8e15;

/** A ticket that is good while its value is "new". */
function ticket(seen: (value: JsonValue | undefined) => void = () => {}): UsedUp {
  return {
    ...KEY,
    expiresAt: NEVER,
    use: (value) => {
      seen(value);
      return value === "new" ? "used" : undefined;
    },
  };
}

async function openQuestion() {
  const fixture = await openEngineFixture();
  const { engine } = fixture;
  const requirements = [{ from: { users: ["ana", "bob"] }, count: 2 }];
  const { confirmation } = await fixture.ask({
    tool: "pay",
    question: { requirements, requesters: ["rita"], denials: 2 },
  });
  const { items } = engine.ledger;
  await items.put({ ...KEY, value: "new" }, 0);
  const decide = (confirmed: boolean, uses = ticket(), by = ANA): Promise<Decided | RefusedDecision> =>
    engine.decisions.decide({ id: confirmation.id, confirmed }, { by }, undefined, uses);
  const votes = async () => (await fixture.confirmation(confirmation.id)).votes.length;
  const value = async () => (await items.get(KEY.kind, KEY.id))?.value;
  const { id } = confirmation;
  return { ...fixture, id, items, decide, votes, value };
}

test("a decision uses it up, and what was used decides nothing more", async () => {
  const { decide, votes, value } = await openQuestion();
  expect(await decide(true)).toMatchObject({ ok: true });
  expect([await votes(), await value()]).toEqual([1, "used"]);
  expect(await decide(false)).toMatchObject({ ok: false, code: "forbidden" });
  expect(await decide(true, ticket(), BOB)).toMatchObject({ ok: false, code: "forbidden" });
  expect(await votes()).toBe(1);
});

test("a decision that is refused, or that repeats a stored one, uses up nothing", async () => {
  const { engine, id, decide, value, votes } = await openQuestion();
  expect(await decide(true, ticket(), person("eva"))).toMatchObject({ code: "not-an-approver" });
  await engine.approve(id, { by: ANA });
  expect(await decide(true)).toMatchObject({ ok: true, repeated: true });
  expect([await value(), await votes()]).toEqual(["new", 1]);
});

test("a commit that fails leaves both as they were, and the next one does both", async () => {
  const { engine, decide, value, votes } = await openQuestion();
  vi.spyOn(engine.ledger, "commit").mockRejectedValueOnce(new Error("The disk is full."));
  await expect(decide(true)).rejects.toThrow("full");
  expect([await value(), await votes()]).toEqual(["new", 0]);
  expect(await decide(true)).toMatchObject({ ok: true });
  expect([await value(), await votes()]).toEqual(["used", 1]);
});

test("what somebody else uses between reading and committing is not used a second time", async () => {
  const { items, decide, value, votes } = await openQuestion();
  let stolen: Promise<boolean> | undefined;
  const uses = ticket(() => {
    stolen ??= items.put({ ...KEY, value: "used" }, 1);
  });
  expect(await decide(true, uses)).toMatchObject({ ok: false, code: "forbidden" });
  expect(await stolen).toBe(true);
  expect([await value(), await votes()]).toEqual(["used", 0]);
});

test("what changed in between and is still good is used as it is now", async () => {
  const { items, decide, value, votes } = await openQuestion();
  let renewed: Promise<boolean> | undefined;
  const uses = ticket(() => {
    renewed ??= items.put({ ...KEY, value: "new" }, 1);
  });
  expect(await decide(true, uses)).toMatchObject({ ok: true });
  expect([await value(), await votes(), await items.get(KEY.kind, KEY.id)]).toMatchObject([
    "used",
    1,
    { version: 3 },
  ]);
});

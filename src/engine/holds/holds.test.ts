import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { PolicySource } from "../gate/index.ts";
import { partsOf } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { toPrincipal } from "../people/index.ts";
import { killableEngine } from "../testing/execution.ts";
import {
  allHolds,
  endHolds,
  type Hold,
  type HoldTarget,
  placeHold,
  RETENTION_DIARY,
  releaseHold,
} from "./index.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const counsel = { by: toPrincipal({ id: "counsel" }), via: "cli" };
const ana = { id: "ana" };
const NAME = { app: "bank", user: "ana", id: "s1" };

/** Two ids are one person. */
const TWO_IDS: PolicySource = {
  version: "v1",
  text: "",
  judge: () => undefined,
  group: () => undefined,
  person: (id) => (id === "ana@corp" ? "ana" : id),
  logins: (id) => (id.startsWith("ana") ? ["ana", "ana@corp"] : [id]),
};

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await engine.close();
});

function hold(target: HoldTarget): Promise<Hold> {
  return placeHold(partsOf(engine), { ...target, reason: "case 7" }, counsel);
}

async function made(): Promise<string> {
  const session = await engine.createSession(NAME, { note: "a note" });
  if (!session.ok) throw new Error(session.message);
  return session.key;
}

async function isErased(key: string): Promise<boolean> {
  return (await ledger.load({ sessionKey: key }))?.session.deletedAt !== undefined;
}

describe("a hold", () => {
  test.each(["session", "user", "app"] as const)("on the %s keeps it until it is released", async (on) => {
    const key = await made();
    const { id } = await hold({ on, name: on === "session" ? key : NAME[on] });
    await clock.advance(2 * DAY_MS);
    const why: string[] = [];
    expect(await engine.prune(DAY_MS, { onHeld: (_key, reason) => why.push(reason) })).toBe(0);
    expect(why).toEqual([expect.stringContaining(`hold release ${id}`)]);
    expect(await engine.deleteSession(NAME, ana)).toMatchObject({ ok: false, code: "under-hold" });
    expect(await ledger.state(key)).toEqual({ note: "a note" });
    await releaseHold(partsOf(engine), { id, reason: "closed" }, counsel);
    expect(await engine.prune(DAY_MS)).toBe(1);
    expect(await isErased(key)).toBe(true);
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test("on others keeps nothing", async () => {
    const key = await made();
    await hold({ on: "session", name: "another" });
    await hold({ on: "user", name: "an" });
    await hold({ on: "app", name: "banking" });
    expect(await engine.deleteSession(NAME, ana)).toEqual({ ok: true });
    expect(await isErased(key)).toBe(true);
  });

  test("on a person keeps what they decided for others", async () => {
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    const asked = await pay({}, { key: "k1", by: ana });
    if (asked.status !== "pending") throw new Error("Not pending.");
    await (await engine.approve(asked.confirmation.id, { by: { id: "boss" } })).finished;
    await hold({ on: "user", name: "boss" });
    await clock.advance(2 * DAY_MS);
    expect(await engine.prune(DAY_MS)).toBe(0);
  });

  test("on a person covers all of their ids, for whoever erases, whichever of the two has the policy", async () => {
    const knowing = new Engine({ ledger, clock, policy: TWO_IDS });
    const decided = async (user: string) => {
      const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
      const asked = await pay({}, { key: `of ${user}`, by: { id: "cleo" } });
      if (asked.status !== "pending") throw new Error("Not pending.");
      await (await engine.approve(asked.confirmation.id, { by: { id: user } })).finished;
    };
    await made();
    await decided("ana@corp");
    for (const [placing, erasing] of [
      [knowing, engine],
      [engine, knowing],
    ] as const) {
      const wanted = { on: "user", name: "ana@corp", reason: "case 9" } as const;
      const { id, logins } = await placeHold(partsOf(placing), wanted, counsel);
      expect(logins).toEqual(placing === knowing ? ["ana", "ana@corp"] : undefined);
      expect((await allHolds(ledger))[0]?.logins).toEqual(logins);
      expect(await erasing.deleteSession(NAME, ana)).toMatchObject({ ok: false, code: "under-hold" });
      await releaseHold(partsOf(engine), { id, reason: "closed" }, counsel);
    }
    await placeHold(partsOf(knowing), { on: "user", name: "ana", reason: "case 9" }, counsel);
    await clock.advance(2 * DAY_MS);
    expect(await engine.prune(DAY_MS)).toBe(0);
  });

  test("that was placed while an erasure was on its way refuses it", async () => {
    const key = await made();
    const { engine: erasing, watched } = killableEngine(ledger, clock);
    watched.intercept("commit", async (pass) => {
      await hold({ on: "session", name: key });
      return pass();
    });
    expect(await erasing.deleteSession(NAME, ana)).toMatchObject({ ok: false, code: "under-hold" });
    expect(await isErased(key)).toBe(false);
  });

  test("that nobody places meanwhile makes no deletion wait for another one", async () => {
    const names = Array.from({ length: 50 }, (_, i) => ({ ...NAME, id: `s${i}` }));
    for (const name of names) await engine.createSession(name);
    const { engine: erasing, watched } = killableEngine(ledger, clock);
    const deleted = await Promise.all(names.map((name) => erasing.deleteSession(name, ana)));
    expect(deleted).toEqual(names.map(() => ({ ok: true })));
    expect(watched.count("commit")).toBe(names.length);
  });

  test("is not placed once the whole ledger is about to be erased, also one that was on its way", async () => {
    const { engine: holding, watched } = killableEngine(ledger, clock);
    watched.intercept("commit", async (pass) => {
      await endHolds(ledger);
      return pass();
    });
    const placed = placeHold(partsOf(holding), { on: "app", name: "bank", reason: "case 8" }, counsel);
    await expect(placed).rejects.toMatchObject({ code: "forbidden" });
    await expect(hold({ on: "app", name: "bank" })).rejects.toMatchObject({ code: "forbidden" });
    expect(await allHolds(ledger)).toEqual([]);
    await endHolds(ledger);
  });

  test("that is placed first stops whoever would erase the whole ledger", async () => {
    const { watched } = killableEngine(ledger, clock);
    watched.intercept("items.list", async (pass) => {
      const found = await pass();
      watched.lift("items.list");
      await hold({ on: "app", name: "bank" });
      return found;
    });
    await expect(endHolds(watched.ledger)).rejects.toMatchObject({ code: "under-hold" });
    const [placed] = await allHolds(ledger);
    await releaseHold(partsOf(engine), { id: placed?.id ?? "", reason: "closed" }, counsel);
    await endHolds(ledger);
  });

  test("that cannot be read keeps everything, and can be released", async () => {
    const key = await made();
    await ledger.items.put({ kind: "hold", id: "h1", value: "garbage" }, 0);
    await expect(engine.deleteSession(NAME, ana)).rejects.toMatchObject({ code: "under-hold" });
    expect(await isErased(key)).toBe(false);
    await releaseHold(partsOf(engine), { id: "h1", reason: "unreadable" }, counsel);
    expect(await engine.deleteSession(NAME, ana)).toEqual({ ok: true });
  });
});

describe("the journal", () => {
  test("tells who placed and released a hold and why, and names a person by a pseudonym", async () => {
    const { id } = await hold({ on: "user", name: "ana" });
    await releaseHold(partsOf(engine), { id, reason: "closed" }, counsel);
    const records = await ledger.journal.records({ after: 0, limit: 10 });
    expect(records).toMatchObject([
      {
        kind: "hold-placed",
        body: { hold: id, on: "user", name: expect.stringMatching(/^person-/) as string, reason: "case 7" },
      },
      { kind: "hold-released", body: { hold: id, reason: "closed", by: { id: "counsel" }, via: "cli" } },
    ]);
    expect(JSON.stringify(records)).not.toContain("ana");
    expect(await allHolds(ledger)).toEqual([]);
  });

  test("of holds is never erased", async () => {
    await hold({ on: "app", name: "bank" });
    await clock.advance(2 * DAY_MS);
    expect(await engine.prune(DAY_MS)).toBe(0);
    expect(await engine.deleteSession(RETENTION_DIARY, ana)).toMatchObject({ ok: false, code: "forbidden" });
  });
});

test.each([
  [{ on: "user", name: "", reason: "x" }, "is empty"],
  [{ on: "user", name: "ana", reason: " " }, "Give a reason"],
] as const)("%j is refused", async (wanted, message) => {
  await expect(placeHold(partsOf(engine), wanted, counsel)).rejects.toThrow(message);
});

test("releasing what is no hold is refused", async () => {
  const gone = releaseHold(partsOf(engine), { id: "none", reason: "x" }, counsel);
  await expect(gone).rejects.toMatchObject({ code: "unknown-hold" });
});

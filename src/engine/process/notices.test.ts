import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { bytesOf } from "../common/sizes.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type WatchedLedger, watch } from "../testing/execution.ts";
import type { LedgerNotice } from "./notice.ts";
import { acknowledgeNotice, listNotices, NoticeWriter, openNotices } from "./notices.ts";

const DAY_MS = 24 * 60 * 60_000;

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  watched = watch(ledger);
});

afterEach(() => ledger.close());

function newWriter(host = "one"): NoticeWriter {
  const newId = createIds();
  const options = { store: watched.ledger.items, now: () => clock.now(), newId: () => newId(clock.now()) };
  return new NoticeWriter({ ...options, host, pid: 7 });
}

function lost(session: string, message = "lost"): LedgerNotice {
  return { kind: "lost-commits", message, details: { session, records: ["x"], calls: [`${session}.c`] } };
}

const moved: LedgerNotice = { kind: "new-history", message: "moved", details: { history: "2" } };

describe("a notice", () => {
  test("is stored with who noticed it, when and about what", async () => {
    const writer = newWriter();
    writer.add(lost("s1"));
    writer.add(lost("s2"));
    await writer.store();
    expect(await listNotices(ledger.items)).toEqual([
      {
        id: expect.any(String) as string,
        kind: "lost-commits",
        at: new Date(clock.now()).toISOString(),
        host: "one",
        pid: 7,
        message: "lost",
        count: 2,
        details: [lost("s1").details, lost("s2").details],
      },
    ]);
  });

  test("of a new server is one, whichever processes notice it", async () => {
    for (const host of ["one", "two"]) {
      const writer = newWriter(host);
      writer.add(moved);
      await writer.store();
    }
    expect(await listNotices(ledger.items)).toMatchObject([{ kind: "new-history", host: "one", count: 1 }]);
  });

  test("is bounded, however many things were lost and however long their names are", async () => {
    const writer = newWriter();
    for (let n = 0; n < 5_000; n += 1) writer.add(lost(`${n}-${"é".repeat(n === 0 ? 100_000 : 300)}`));
    await writer.store();
    const [notice] = await listNotices(ledger.items);
    expect(notice?.count).toBe(5_000);
    expect(bytesOf(notice)).toBeLessThan(12_000);
  });

  test("goes after 30 days", async () => {
    const writer = newWriter();
    writer.add(moved);
    await writer.store();
    await clock.advance(30 * DAY_MS - 1);
    expect(await listNotices(ledger.items)).toHaveLength(1);
    await clock.advance(1);
    expect(await listNotices(ledger.items)).toEqual([]);
  });

  test("that could not be stored is stored the next time, once", async () => {
    const writer = newWriter();
    writer.add(lost("s1"));
    watched.intercept("items.put", () => Promise.reject(new Error("away")));
    await expect(writer.store()).rejects.toThrow("away");
    // Stored, and the answer is lost.
    watched.intercept("items.put", async (go) => {
      await go();
      throw new Error("cut");
    });
    await expect(writer.store()).rejects.toThrow("cut");
    watched.lift("items.put");
    writer.add(lost("s2"));
    await Promise.all([writer.store(), writer.store()]);
    await writer.store();
    const told = (await listNotices(ledger.items)).flatMap(({ details }) =>
      details.map((one) => one["session"]),
    );
    expect(told).toHaveLength(2);
    expect(new Set(told)).toEqual(new Set(["s1", "s2"]));
  });
});

async function sessions(): Promise<unknown[]> {
  return (await listNotices(ledger.items)).map(({ details }) => details[0]?.["session"]);
}

test("the newest 50 are kept, and those that nobody has acknowledged before the others", async () => {
  const writer = newWriter();
  for (let n = 0; n < 51; n += 1) {
    writer.add(lost(String(n)));
    await writer.store();
    await clock.advance(1_000);
    if (n !== 20) continue;
    const [newest] = await listNotices(ledger.items);
    await acknowledgeNotice(ledger.items, newest?.id ?? "", { by: "root", at: clock.now() });
  }
  expect(await sessions()).toHaveLength(50);
  expect(await sessions()).not.toContain("20");
  expect((await sessions())[0]).toBe("50");
  writer.add(lost("51"));
  await writer.store();
  expect(await sessions()).toHaveLength(50);
  expect(await sessions()).not.toContain("0");
});

describe("acknowledging", () => {
  test("hides it, and keeps who did so first and when", async () => {
    const writer = newWriter();
    writer.add(moved);
    await writer.store();
    const [{ id } = { id: "" }] = await openNotices(ledger.items);
    const results = await Promise.all(
      ["root", "max"].map((by) => acknowledgeNotice(ledger.items, id, { by, at: clock.now() })),
    );
    const by = results[0]?.acknowledged?.by;
    expect(results.map(({ acknowledged }) => acknowledged?.by)).toEqual([by, by]);
    expect(await openNotices(ledger.items)).toEqual([]);
    const at = new Date(clock.now()).toISOString();
    expect(await listNotices(ledger.items)).toMatchObject([{ id, acknowledged: { by, at } }]);
    // Noticed again by a process that was away: it is the same notice.
    const late = newWriter("late");
    late.add(moved);
    await late.store();
    expect(await openNotices(ledger.items)).toEqual([]);
  });

  test("what is not there is refused", async () => {
    const tried = acknowledgeNotice(ledger.items, "no", { by: "root", at: 0 });
    await expect(tried).rejects.toMatchObject({ code: "unknown-notice" });
  });
});

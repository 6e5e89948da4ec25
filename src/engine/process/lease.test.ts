import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Owner } from "../ledger/owners.ts";
import { settle, type WatchedLedger, watch } from "../testing/execution.ts";
import { Lease } from "./lease.ts";

const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5_000;

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let lease: Lease;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  watched = watch(ledger);
  const newId = createIds();
  lease = new Lease({
    ledger: watched.ledger,
    clock,
    leaseMs: LEASE_MS,
    heartbeatMs: HEARTBEAT_MS,
    host: "machine-7",
    pid: 42,
    newOwnerId: () => newId(clock.now()),
  });
});

afterEach(async () => {
  await ledger.close();
});

/** Another process looks for lost work: whoever is overdue is fenced. */
async function othersLook(): Promise<void> {
  await ledger.due([], 10);
}

describe("holding a lease", () => {
  test("registers an owner that a person can find: host, process, last heartbeat", async () => {
    const owner = await lease.hold();
    expect(await ledger.owners.get(owner)).toEqual({
      id: owner,
      host: "machine-7",
      pid: 42,
      lastBeatAt: clock.now(),
      leaseUntil: clock.now() + LEASE_MS,
      alive: true,
      fenced: false,
    });
  });

  test("costs a statement only when a third of it has passed", async () => {
    const owner = await lease.hold();
    await clock.advance(LEASE_MS / 3 - 1);
    expect(await lease.hold()).toBe(owner);
    expect(watched.count("owners.beat")).toBe(1);
    await clock.advance(1);
    expect(await lease.hold()).toBe(owner);
    expect(watched.count("owners.beat")).toBe(2);
  });

  test("that was lost is never used again: the next lease has another owner", async () => {
    const owner = await lease.hold();
    await clock.advance(LEASE_MS);
    await othersLook();
    const next = await lease.hold();
    expect(next).not.toBe(owner);
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: false });
    expect(await ledger.owners.get(next)).toMatchObject({ alive: true });
  });

  test("that expired and that nobody fenced is renewed", async () => {
    const owner = await lease.hold();
    await clock.advance(2 * LEASE_MS);
    expect(await lease.hold()).toBe(owner);
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: true });
  });

  test("that the ledger refused is not used again", async () => {
    const owner = await lease.hold();
    lease.lost(owner);
    expect(lease.isFresh(owner)).toBe(false);
    expect(await lease.renew(owner)).toBe(false);
    expect(await lease.hold()).not.toBe(owner);
  });

  test("is not thrown away by a word about an owner of long ago", async () => {
    lease.lost(await lease.hold());
    const owner = await lease.hold();
    lease.lost("somebody else");
    expect(await lease.hold()).toBe(owner);
  });

  test("by many at once, after a loss, leaves them all with one living owner", async () => {
    await lease.hold();
    await clock.advance(LEASE_MS);
    await othersLook();
    // The second to ask learns of the loss long after the first has begun work under a new owner.
    const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
    let beats = 0;
    watched.intercept("owners.beat", async (pass) => {
      beats += 1;
      if (beats === 2) await slow;
      return pass();
    });
    const first = lease.hold();
    const second = lease.hold();
    const owner = await first;
    answer();
    expect(await second).toBe(owner);
    expect(lease.isFresh(owner)).toBe(true);
  });
});

describe("a lease is fresh", () => {
  // A host that sleeps stops the clock that only goes forward; the wall clock shows that it slept.
  test("not after the host slept", async () => {
    const owner = await lease.hold();
    clock.shiftWall(LEASE_MS);
    expect(lease.isFresh(owner)).toBe(false);
    expect(await lease.hold()).toBe(owner);
    expect(watched.count("owners.beat")).toBe(2);
  });

  test("not after the wall clock was set back: it no longer tells how long it has been", async () => {
    const owner = await lease.hold();
    clock.shiftWall(-1);
    expect(lease.isFresh(owner)).toBe(false);
    await lease.renew(owner);
    expect(lease.isFresh(owner)).toBe(true);
  });

  test("not because the wall clock was set back while the time ran out", async () => {
    const owner = await lease.hold();
    await clock.advance(LEASE_MS / 3);
    clock.shiftWall(-LEASE_MS / 3);
    expect(lease.isFresh(owner)).toBe(false);
  });
});

describe("renewing", () => {
  test("keeps the same owner while the ledger still knows it", async () => {
    const owner = await lease.hold();
    await clock.advance(LEASE_MS / 3);
    expect(lease.isFresh(owner)).toBe(false);
    expect(await lease.renew(owner)).toBe(true);
    expect(lease.isFresh(owner)).toBe(true);
  });

  test("says no once the owner was fenced", async () => {
    const owner = await lease.hold();
    await clock.advance(LEASE_MS);
    await othersLook();
    expect(await lease.renew(owner)).toBe(false);
  });

  test("measures from before the statement, so that a slow answer shortens the lease", async () => {
    watched.intercept("owners.beat", async (pass) => {
      const alive = await pass();
      await clock.advance(LEASE_MS / 3);
      return alive;
    });
    const owner = await lease.hold();
    expect(lease.isFresh(owner)).toBe(false);
  });
});

describe("heartbeats", () => {
  test("are one statement for everything that is kept, at their interval, for as long as something is", async () => {
    const owner = await lease.hold();
    const releases = Array.from({ length: 50 }, () => lease.keep());
    for (let beats = 1; beats <= 4; beats++) {
      await clock.advance(HEARTBEAT_MS);
      await settle(clock, 2);
      expect(watched.count("owners.beat")).toBe(1 + beats);
    }
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: true, lastBeatAt: clock.now() });
    for (const release of releases) release();
    await clock.advance(10 * HEARTBEAT_MS);
    await settle(clock, 2);
    expect(watched.count("owners.beat")).toBe(5);
  });

  test("go on until the last one lets go, and letting go twice counts once", async () => {
    await lease.hold();
    const first = lease.keep();
    const second = lease.keep();
    first();
    first();
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    expect(watched.count("owners.beat")).toBe(2);
    second();
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    expect(watched.count("owners.beat")).toBe(2);
    lease.keep()();
    lease.keep();
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    expect(watched.count("owners.beat")).toBe(3);
  });

  test("that the ledger does not take are tried again at the next interval", async () => {
    const owner = await lease.hold();
    lease.keep();
    watched.intercept("owners.beat", () => Promise.reject(new Error("the disk is away")));
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    watched.lift("owners.beat");
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    expect(await ledger.owners.get(owner)).toMatchObject({ lastBeatAt: clock.now() });
  });

  test("are sent by the owner of the day", async () => {
    const lost = await lease.hold();
    lease.keep();
    lease.lost(lost);
    const owner = await lease.hold();
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    const beats = watched.calls.filter(({ method }) => method === "owners.beat");
    expect(beats.map(({ args: [by] }) => (by as Owner).id)).toEqual([lost, owner, owner]);
  });
});

describe("retiring", () => {
  test("ends the lease at once, so that nobody waits for it to run out", async () => {
    const owner = await lease.hold();
    lease.keep();
    await lease.retire();
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: false, leaseUntil: clock.now() });
    await clock.advance(HEARTBEAT_MS);
    await settle(clock, 2);
    expect(watched.count("owners.beat")).toBe(1);
    expect(await lease.renew(owner)).toBe(false);
  });

  test("with work still under it: nothing is begun here any more, and nobody waits for it to run out", async () => {
    const owner = await lease.hold();
    lease.keep();
    // Even before the ledger has heard of it.
    const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
    watched.intercept("owners.retire", async (pass) => {
      await slow;
      return pass();
    });
    const abandoned = lease.abandon();
    expect(lease.isFresh(owner)).toBe(false);
    expect(await lease.renew(owner)).toBe(false);
    answer();
    await abandoned;
    expect(await ledger.owners.get(owner)).toMatchObject({ alive: false, fenced: true });
    let next: unknown;
    const held = (id: unknown): void => {
      next = id;
    };
    lease.hold().then(held, held);
    await clock.advance(LEASE_MS);
    await settle(clock, 2);
    expect([next, watched.count("owners.beat")]).toEqual([undefined, 1]);
  });

  test("writes nothing where no lease was ever taken", async () => {
    await lease.retire();
    expect(watched.calls).toEqual([]);
  });
});

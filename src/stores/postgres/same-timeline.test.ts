import { expect, test, vi } from "vitest";
import { Server } from "../../../test/failover/server.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { ManualClock } from "../../engine/common/manual-clock.ts";
import { buildCall, SessionWriter } from "../../engine/ledger/contract/build.ts";
import { History } from "../../engine/process/timeline.ts";
import { openPostgresLedger } from "./open.ts";

const LEASE_MS = 300;
const resources = useResources();

/**
 * A (primary) dies, B is promoted; B dies before C could follow it, C is promoted. PostgreSQL gives C the same time line as
 * B: it takes the next one of which it knows no history file. So both are "system/00000002".
 */
test("a second standby that is promoted in the place of the first is another history", async () => {
  const [a, b, c] = [
    await Server.prepare(resources),
    await Server.prepare(resources),
    await Server.prepare(resources),
  ];
  await a.init();
  await a.ask("create database ledger");
  const first = await openPostgresLedger({ url: a.url("ledger"), migrate: true });
  const writer = new SessionWriter(first, "s1");
  const call = buildCall("s1", "c", { status: "ready", attempt: 0 });
  await first.owners.history(LEASE_MS);
  await writer.commit([{ kind: "call-insert", call }]);
  await execute(a.url("ledger"), "checkpoint");
  await b.follow(a, a.port);
  await c.follow(a, a.port);
  await first.close();
  await a.kill();

  await b.promote();
  // The process, as it is after the first failover: it may claim on B, and claims.
  const url = `postgres://postgres@127.0.0.1:${b.port},127.0.0.1:${c.port}/ledger`;
  const ledger = await openPostgresLedger({ url });
  resources.add(() => ledger.close());
  const onNew = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const history = new History({ ledger, clock: new ManualClock(), leaseMs: LEASE_MS, onNew });
  await history.look();
  const onB = history.confirmed ?? "";
  await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
  const owner = { id: "o1", host: "alpha", pid: 1, history: onB };
  expect(await ledger.owners.beat(owner, 60_000)).toBe(true);
  const claim = (by: string) =>
    Object.assign(new SessionWriter(ledger, "s1"), { version: 1 }).commit(
      [
        {
          kind: "call-update",
          id: "s1.c",
          from: "ready",
          attempt: 0,
          set: { status: "executing", attempt: 1, owner: by },
        } as never,
      ],
      { owner: by, sync: true },
    );
  const claimed = await claim("o1");
  expect(claimed).toEqual({ ok: true });
  expect((await ledger.calls(["s1.c"]))[0]?.status).toBe("executing");

  await b.kill();
  await c.promote();
  expect((await ledger.calls(["s1.c"]))[0]?.status, "C lacks the claim").toBe("ready");
  await history.look();
  const onC = (await ledger.owners.history(LEASE_MS)).id;
  await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
  // What a process that compared nothing sends: what it confirmed on B.
  expect(await ledger.owners.beat({ ...owner, id: "o2", history: onB }, 60_000)).toBe(true);
  const again = await claim("o2");
  expect
    .soft(again, "claimed again on C by who confirmed B only")
    .toEqual({ ok: false, conflict: "history" });
  expect.soft(onNew, "the process compares what it knows").toHaveBeenCalled();
  expect.soft(onC).not.toBe(onB);
}, 120_000);

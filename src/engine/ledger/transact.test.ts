import { afterEach, beforeEach, expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { SlowChecks } from "../callers/slow-checks.ts";
import { Executions } from "../calls/executions.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { untraced } from "../common/trace.ts";
import { Definitions } from "../gate/definitions.ts";
import { PolicyTexts } from "../gate/policy-texts.ts";
import { chainHasher } from "../journal/chain.ts";
import { DEFAULT_SETTINGS, type EngineParts } from "../parts.ts";
import { NO_DIRECTORY } from "../people/index.ts";
import { AcknowledgedCommits } from "../process/acknowledged-commits.ts";
import { Lease } from "../process/lease.ts";
import { Unstored } from "../process/unstored.ts";
import { Quota } from "../questions/limits/quota.ts";
import { UserOpenLimit } from "../questions/limits/user-open-limit.ts";
import { type WatchedLedger, watch } from "../testing/execution.ts";
import { Draft } from "./draft.ts";
import { InFlight } from "./in-flight.ts";
import type { Ledger } from "./ledger.ts";
import { SessionQueue } from "./session-queue.ts";
import { type Conflict, transact } from "./transact.ts";

const name = { app: "bank", user: "ana", id: "s1" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let parts: EngineParts;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  watched = watch(ledger);
  const newId = createIds();
  const { leaseMs, heartbeatMs } = DEFAULT_SETTINGS;
  const newOwnerId = (): string => newId(clock.now());
  parts = {
    ledger: watched.ledger,
    clock,
    newId,
    hasher: chainHasher(undefined),
    knownSeal: { k: 0 },
    directory: NO_DIRECTORY,
    definitions: new Definitions(ledger),
    policyTexts: new PolicyTexts(ledger),
    lease: new Lease({ ledger, clock, leaseMs, heartbeatMs, host: "", pid: 1, newOwnerId }),
    hosts: new Map(),
    callers: { tool: () => undefined },
    queue: new SessionQueue(),
    inFlight: new InFlight(),
    acknowledged: new AcknowledgedCommits(clock),
    settings: DEFAULT_SETTINGS,
    quota: new Quota(ledger, clock),
    userOpenLimit: new UserOpenLimit(ledger, clock),
    slowChecks: new SlowChecks(clock),
    unstored: new Unstored(() => {}),
    gaveUp: new AbortController().signal,
    closed: new AbortController().signal,
    trace: untraced,
    ready: () => undefined,
    get executions() {
      return executions;
    },
    recoverLost: async () => {},
    takeUp: async () => {},
  };
  const executions = new Executions(parts);
});

afterEach(async () => {
  await ledger.close();
});

/** Adds one journal record, and says which number it got. */
function note(text: string, seen: (Conflict | undefined)[] = []): Promise<number> {
  return transact<number>(parts, { session: name }, (snapshot, last) => {
    seen.push(last);
    const session = snapshot?.session ?? { key: "s", create: name };
    const draft = new Draft(parts, clock.now(), session).journal("run-cancelled", {
      invocation: "i",
      reason: text,
    });
    return { draft, value: (snapshot?.session.chain.n ?? 0) + 1 };
  });
}

test("a command without anything to commit costs one look", async () => {
  expect(await transact(parts, { session: name }, () => ({ value: "nothing there" }))).toBe("nothing there");
  expect(watched.calls.map(({ method }) => method)).toEqual(["load"]);
});

test("a command alone costs one look and one commit", async () => {
  await note("a");
  expect(watched.calls.map(({ method }) => method)).toEqual(["load", "commit"]);
});

test("of commands at once each is judged anew on what the one before it left, and none is lost", async () => {
  const numbers = await Promise.all(Array.from({ length: 40 }, (_, n) => note(`${n}`)));
  expect(new Set(numbers)).toEqual(new Set(Array.from({ length: 40 }, (_, n) => n + 1)));
  expect((await ledger.load({ session: name }))?.session).toMatchObject({ version: 40, chain: { n: 40 } });
});

test("a command learns why its last try was refused", async () => {
  await note("first");
  const seen: (Conflict | undefined)[] = [];
  watched.intercept("load", async (pass) => {
    const snapshot = await pass();
    watched.lift("load");
    await note("in between");
    return snapshot;
  });
  expect(await note("last", seen)).toBe(3);
  expect(seen).toEqual([undefined, "version"]);
});

test("a command that is refused again and again needs no clock to move on", async () => {
  let refusals = 5;
  watched.intercept("commit", async (pass) => {
    refusals -= 1;
    return refusals < 0 ? pass() : { ok: false, conflict: "version" };
  });
  expect(await note("a")).toBe(1);
});

test("a command that can never win gives up instead of trying for ever", async () => {
  watched.intercept("commit", () => Promise.resolve({ ok: false, conflict: "row" }));
  await expect(note("a")).rejects.toMatchObject({ code: "ledger-busy" });
  expect(watched.count("commit")).toBe(500);
});

test("a judge that throws leaves nothing behind and does not hold up the next command", async () => {
  await note("first");
  const failing = transact(parts, { session: name }, () => {
    throw new Error("cannot tell");
  });
  await expect(failing).rejects.toThrow("cannot tell");
  expect(await note("second")).toBe(2);
});

test("an owner whom the ledger refuses is not claimed under again", async () => {
  const owner = await parts.lease.hold();
  await clock.advance(DEFAULT_SETTINGS.leaseMs);
  const owners: string[] = [];
  const claim = transact<string>(parts, { session: name }, (_snapshot, last) => {
    const claimedBy = last === "owner" ? undefined : owner;
    owners.push(claimedBy ?? "nobody");
    const draft = new Draft(parts, clock.now(), { key: "s", create: name });
    return { draft: claimedBy === undefined ? draft : draft.claimedBy(claimedBy), value: "done" };
  });
  expect(await claim).toBe("done");
  expect(owners).toEqual([owner, "nobody"]);
  expect(await parts.lease.hold()).not.toBe(owner);
});

test("an owner whose claim may or may not have been stored is not claimed under again", async () => {
  const owner = await parts.lease.hold();
  watched.intercept("commit", async (pass) => {
    await pass();
    throw new CountersignError("ledger-unreachable", "the connection was lost before the answer came");
  });
  const claim = transact<string>(parts, { session: name }, () => ({
    draft: new Draft(parts, clock.now(), { key: "s", create: name }).claimedBy(owner),
    value: "done",
  }));
  await expect(claim).rejects.toMatchObject({ code: "ledger-unreachable" });
  expect(await parts.lease.hold()).not.toBe(owner);
});

/** Adds a record to the session as somebody knew it. */
function noteKnowing(
  known: Awaited<ReturnType<Ledger["load"]>>,
  seen: (number | undefined)[],
): Promise<number> {
  return transact<number>(
    parts,
    { session: name },
    (snapshot) => {
      seen.push(snapshot?.session.version);
      const draft = new Draft(parts, clock.now(), snapshot?.session ?? { key: "s", create: name });
      return {
        draft: draft.journal("run-cancelled", { invocation: "i", reason: "known" }),
        value: draft.sessionAfter.version,
      };
    },
    { snapshot: known },
  );
}

test("what is known is committed against without a look, and what the draft says of the session comes true", async () => {
  await note("a");
  const known = await ledger.load({ session: name });
  watched.calls.length = 0;
  expect(await noteKnowing(known, [])).toBe(2);
  expect(watched.calls.map(({ method }) => method)).toEqual(["commit"]);
  expect((await ledger.load({ session: name }))?.session.version).toBe(2);
});

test("what is known no longer is looked at again", async () => {
  await note("a");
  const stale = await ledger.load({ session: name });
  await note("b");
  const seen: (number | undefined)[] = [];
  expect(await noteKnowing(stale, seen)).toBe(3);
  expect(seen).toEqual([1, 2]);
});

test("that there is nothing may be known, too, and be wrong", async () => {
  await note("a");
  const seen: (number | undefined)[] = [];
  expect(await noteKnowing(undefined, seen)).toBe(2);
  expect(seen).toEqual([undefined, 1]);
});

test("a verdict that commits nothing is given on what the ledger says, not on what is known", async () => {
  await note("a");
  const stale = await ledger.load({ session: name });
  await note("b");
  const value = await transact(
    parts,
    { session: name },
    (snapshot) => ({ value: snapshot?.session.version }),
    { snapshot: stale },
  );
  expect(value).toBe(2);
});

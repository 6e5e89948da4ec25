import type { JsonObject } from "../../../protocol/index.ts";
import type { Write } from "../commit.ts";
import { type IdempotentRequest, KEY_KNOWN_MS, recallResponse, rememberResponse } from "../idempotency.ts";
import { buildCall, buildFrame, buildRequest, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const ROW = { ok: false, conflict: "row" } as const;

const LEASE_MS = 15_000;
const LONGEST_BYTES = 768;
const QUOTES = 2;

/** A name that cannot be compressed, of the most bytes that it may have. */
function longName(seed: number): string {
  let state = seed;
  const digits = Array.from({ length: LONGEST_BYTES }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % 36;
  });
  return digits.map((digit) => digit.toString(36)).join("");
}

function placeOf({ name }: { readonly name: string }): number {
  return Number(name.split("-").at(-1));
}

function stateOf(scope: "session" | "user", delta: JsonObject): Write {
  return { kind: "state", scope, delta };
}

function claimOf(session: string, id: string): Write {
  const call = buildCall(session, id, { status: "executing", owner: "o", attempt: 1 });
  return { kind: "call-insert", call };
}

export const memoryCases: readonly LedgerCase[] = [
  {
    name: "session state is the session's, user state the user's in one app, app state everybody's there",
    async run({ open }) {
      const ledger = await open();
      const first = new SessionWriter(ledger, "first");
      const sameUser = new SessionWriter(ledger, "same-user");
      const sameApp = new SessionWriter(ledger, "same-app", { user: "bob" });
      const elsewhere = new SessionWriter(ledger, "elsewhere", { app: "shop" });
      for (const writer of [sameUser, sameApp, elsewhere]) await writer.commit();
      await first.commit([
        { kind: "state", scope: "session", delta: { step: 1 } },
        { kind: "state", scope: "user", delta: { "user:name": "Ana" } },
        { kind: "state", scope: "app", delta: { "app:rate": 2 } },
      ]);
      checkEqual(await ledger.state("first"), { step: 1, "user:name": "Ana", "app:rate": 2 }, "its own");
      checkEqual(
        await ledger.state("same-user"),
        { "user:name": "Ana", "app:rate": 2 },
        "of the user's other",
      );
      checkEqual(await ledger.state("same-app"), { "app:rate": 2 }, "of another user");
      checkEqual(await ledger.state("elsewhere"), {}, "in another app");
    },
  },
  {
    name: "who asks for the state right after a claim sees all that was committed before",
    async run({ open }) {
      const ledger = await open();
      await ledger.owners.beat({ id: "o", host: "h", pid: 1 }, LEASE_MS);
      const one = new SessionWriter(ledger, "one");
      const other = new SessionWriter(ledger, "other");
      await other.commit([stateOf("user", { "user:n": 1 })]);
      await one.commit([stateOf("session", { step: 1 })]);
      checkEqual(await one.commit([claimOf("one", "a")], { owner: "o" }), { ok: true }, "a claim");
      const [first, second] = await Promise.all([ledger.state("one"), ledger.state("one")]);
      checkEqual(first, { "user:n": 1, step: 1 }, "after a claim");
      checkEqual(second, first, "for another who asks");
      await Promise.all([
        one.commit([claimOf("one", "b")], { owner: "o" }),
        other.commit([stateOf("user", { "user:n": 2 })]),
      ]);
      checkEqual(await ledger.state("one"), { "user:n": 2, step: 1 }, "with what another session wrote");
      await one.commit([claimOf("one", "c"), stateOf("session", { step: 2 })], { owner: "o" });
      checkEqual(await ledger.state("one"), { "user:n": 2, step: 2 }, "with what the claim wrote");
    },
  },
  {
    name: "the longest names that a session and its state may have are kept",
    async run({ open }) {
      const ledger = await open();
      const [app, user, id] = [longName(1), longName(2), longName(3)];
      const writer = new SessionWriter(ledger, "long", { app, user, id });
      const delta = { [longName(4).slice(0, -QUOTES)]: 1 };
      const scopes = ["session", "user", "app"] as const;
      checkEqual(
        await writer.commit(scopes.map((scope) => ({ kind: "state", scope, delta }))),
        { ok: true },
        "is it taken",
      );
      checkEqual((await ledger.load({ session: { app, user, id } }))?.session.id, id, "its id");
      checkEqual(await ledger.state("long"), delta, "its state");
    },
  },
  {
    name: "a pinned value stays what it was first",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      checkEqual(await ledger.items.pin("check", "first"), "first", "pinned");
      checkEqual(await ledger.items.pin("check", "second"), "first", "pinned again");
      checkEqual(await (await reopen()).items.pin("check", "third"), "first", "through another handle");
      checkEqual(await ledger.items.pin("other", "second"), "second", "under another name");
    },
  },
  {
    name: "a state delta lays its keys over what is there, value by value",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "state", scope: "session", delta: { a: { x: 1 }, b: [1], c: 3 } }]);
      await writer.commit([{ kind: "state", scope: "session", delta: { a: { y: 2 }, b: null, d: "" } }]);
      checkEqual(await ledger.state("s1"), { a: { y: 2 }, b: null, c: 3, d: "" }, "state");
    },
  },
  {
    name: "app state merges the deltas of sessions that know nothing of each other",
    async run({ open }) {
      const ledger = await open();
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          new SessionWriter(ledger, `s${i}`).commit([
            { kind: "state", scope: "app", delta: { [`app:${i}`]: i } },
          ]),
        ),
      );
      checkEqual(Object.keys(await ledger.state("s0")).length, 10, "keys");
    },
  },
  {
    name: "a step is made once and moves only from the status that the write names",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const step = { call: "s1.c", kind: "step", name: "charge", occurrence: 0, status: "started" } as const;
      const done = { ...step, status: "done", value: { receipt: 7 } } as const;
      checkEqual(
        await writer.commit([{ kind: "step", step: done, from: "started" }]),
        ROW,
        "done before started",
      );
      checkEqual(await writer.commit([{ kind: "step", step }]), { ok: true }, "started");
      checkEqual(await writer.commit([{ kind: "step", step }]), ROW, "started twice");
      checkEqual(
        await writer.commit([{ kind: "step", step: done, from: "asked" }]),
        ROW,
        "from a wrong status",
      );
      checkEqual(await writer.commit([{ kind: "step", step: done, from: "started" }]), { ok: true }, "done");
      checkEqual(await ledger.steps("s1.c"), [done], "steps");
    },
  },
  {
    name: "all steps of a call are found, however many there are, and nothing of them when they are erased",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const SECRET = "name-or-value";
      const long = SECRET.repeat(1_000);
      const steps = Array.from({ length: 150 }, (_, i) => ({
        call: i % 10 === 0 ? "s1.other" : "s1.c",
        kind: "step" as const,
        name: `${SECRET}-${i}`,
        occurrence: 0,
        status: i === 7 ? ("started" as const) : ("done" as const),
        value: i === 3 ? long : i,
      }));
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "c", { status: "executing", owner: "o" }) },
        { kind: "call-insert", call: buildCall("s1", "other", { status: "executing", owner: "o" }) },
      ]);
      for (let at = 0; at < steps.length; at += 15)
        await writer.commit(steps.slice(at, at + 15).map((step) => ({ kind: "step", step })));
      for (const call of ["s1.c", "s1.other"]) {
        const expected = steps.filter((step) => step.call === call);
        const found = await ledger.steps(call);
        checkEqual(
          found.toSorted((a, b) => placeOf(a) - placeOf(b)),
          expected,
          `steps of ${call}`,
        );
      }
      await writer.commit([{ kind: "erase" }]);
      checkEqual([await ledger.steps("s1.c"), await ledger.steps("s1.other")], [[], []], "erased");
    },
  },
  {
    name: "all calls of a turn are found while it goes on, however many have ended",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const calls = Array.from({ length: 60 }, (_, i) =>
        buildCall("s1", `c${i}`, { status: "executing", owner: "o", frame: "s1.f" }),
      );
      const ids = calls.map(({ id }) => id);
      await writer.commit([
        { kind: "frame-insert", frame: buildFrame("s1", "f", { status: "waiting", calls: ids, open: 60 }) },
        ...calls.map((call) => ({ kind: "call-insert" as const, call })),
      ]);
      for (const [i, { id, attempt }] of calls.slice(0, 50).entries())
        await writer.commit([
          {
            kind: "call-update",
            id,
            from: "executing",
            attempt,
            set: { status: "succeeded", result: i, owner: null },
          },
        ]);
      const found = await ledger.calls(ids);
      checkEqual(
        found.map(({ id, result }) => [id, result]),
        ids.map((id, i) => [id, i < 50 ? i : undefined]),
        "calls",
      );
      const open50 = (await ledger.unanswered("s1")).map(({ id }) => id);
      checkEqual(open50.toSorted(), ids.slice(50).toSorted(), "those that are open");
      const again = await writer.commit([
        { kind: "call-update", id: ids[0] ?? "", from: "executing", attempt: 0, set: { status: "failed" } },
      ]);
      checkEqual(again, ROW, "one that has ended ends again");
    },
  },
  {
    name: "steps differ by kind, name and occurrence, and belong to one call",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const step = { call: "s1.c", kind: "step", name: "a", occurrence: 0, status: "started" } as const;
      const steps = [
        step,
        { ...step, occurrence: 1 },
        { ...step, name: "b" },
        { ...step, kind: "question", status: "asked", digest: "d" },
        { ...step, call: "s1.other" },
      ] as const;
      await writer.commit(steps.map((one) => ({ kind: "step", step: one })));
      const found = await ledger.steps("s1.c");
      checkEqual(found.length, 4, "how many");
      for (const one of steps.slice(0, 4)) {
        checkEqual(
          found.filter((each) => JSON.stringify(each) === JSON.stringify(one)).length,
          1,
          "one of them",
        );
      }
      checkEqual(await ledger.steps("s1.none"), [], "of a call without any");
    },
  },
  {
    name: "steps of two calls stay apart, whatever spaces the ids and the names have",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const step = { kind: "step", occurrence: 0, status: "started" } as const;
      const short = { ...step, call: "s1.c1", name: "notify x step notify y" };
      const long = { ...step, call: "s1.c1 step notify x", name: "notify y" };
      for (const one of [short, long])
        checkEqual(await writer.commit([{ kind: "step", step: one }]), { ok: true }, one.call);
      for (const one of [short, long]) checkEqual(await ledger.steps(one.call), [one], one.call);
    },
  },
  {
    name: "an answer is remembered under its key until it expires, and the first one stands",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const request = buildRequest("k");
      const recall = (over: Partial<IdempotentRequest> = {}) =>
        recallResponse(ledger, { ...request, ...over });
      const began = clock.now() - KEY_KNOWN_MS;
      const first = rememberResponse(request, { status: 200 }, began + 100);
      checkEqual(await writer.commit([first]), { ok: true }, "the first");
      const recalled = { ok: true, response: { status: 200 } };
      checkEqual(await recall(), recalled, "recalled");
      const { kind, id } = first.item;
      checkEqual((await ledger.items.get(kind, id))?.expiresAt, clock.now() + 100, "until when");
      const other = rememberResponse(request, "other", began + 500);
      checkEqual(await writer.commit([other]), ROW, "a second answer");
      checkEqual(await recall({ key: "l" }), undefined, "another key");
      checkEqual(await recall({ principal: "bob" }), undefined, "another principal");
      checkEqual(await recall({ route: "GET /" }), undefined, "another route");
      await clock.advance(99);
      await ledger.tidy();
      checkEqual(await recall(), recalled, "a millisecond before the end");
      await clock.advance(1);
      checkEqual(await recall(), undefined, "at the end");
      checkEqual(await writer.commit([other]), { ok: true }, "in the place of the expired");
      await ledger.tidy();
      checkEqual(await recall(), { ok: true, response: "other" }, "after tidying");
    },
  },
];

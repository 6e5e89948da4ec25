import { erasedUser } from "../../common/index.ts";
import type { ItemVersion } from "../key-value-store.ts";
import type { Ledger } from "../ledger.ts";
import type { PageRequest } from "../lists.ts";
import { buildFrame, buildQuestion, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const SECRET = "swordfish";

const STEP = {
  call: "s1.call-c",
  kind: "step",
  name: SECRET,
  occurrence: 0,
  status: "done",
  value: SECRET,
} as const;

const VOTE = {
  confirmed: true,
  by: { id: "boss", kind: "token", roles: [], scopes: [], authenticated: true },
  person: "boss",
  via: "api",
  at: 1,
  mac: "mac",
  sentDigest: "digest",
} as const;

export const erasingCases: readonly LedgerCase[] = [
  {
    name: "erasing removes what was said and keeps ids, statuses, digests and who decided",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const vote = VOTE;
      await writer.commit([
        writer.event(SECRET),
        { kind: "frame-insert", frame: buildFrame("s1", "f", { cursor: { SECRET }, output: SECRET }) },
        ...buildQuestion("s1", "c", {
          call: {
            args: { SECRET },
            originalArgs: { SECRET },
            secrets: [`/${SECRET}`],
            status: "succeeded",
            result: SECRET,
            frame: "s1.f",
          },
          confirmation: {
            shown: { hint: SECRET, payload: SECRET, why: [SECRET] },
            status: "approved",
            votes: [{ ...vote, reason: SECRET, payload: SECRET, args: { SECRET } }],
          },
        }),
        { kind: "step", step: STEP },
        { kind: "state", scope: "session", delta: { SECRET } },
        writer.journal("noted", SECRET),
      ]);
      const outcome = await writer.commit([{ kind: "erase" }, writer.journal("erased")], { deletedAt: 9 });
      checkEqual(outcome, { ok: true }, "erasing");
      const snapshot = await ledger.load({ confirmation: questionId("s1", "c") });
      const chain = await ledger.journal.sessionRecords("s1", { after: 0, limit: 9 });
      const left = JSON.stringify([
        snapshot,
        chain,
        await ledger.events("s1"),
        await ledger.state("s1"),
        await ledger.steps("s1.call-c"),
        await ledger.calls(["s1.call-c"]),
      ]);
      checkEqual(left.includes(SECRET), false, "is anything left");
      checkEqual(await ledger.events("s1"), [], "events");
      checkEqual(
        chain.map(({ hash, body }) => [hash, body]),
        [
          ["hash-1", null],
          ["hash-2", { kind: "erased" }],
        ],
        "the chain",
      );
      const { call, confirmation, session } = snapshot ?? {};
      checkEqual([call?.status, call?.argsDigest, call?.args], ["succeeded", "args-digest", {}], "the call");
      checkEqual([confirmation?.status, confirmation?.votes], ["approved", [vote]], "the confirmation");
      checkEqual([session?.deletedAt, session?.chain.n], [9, 2], "the session");
    },
  },
  {
    name: "erasing leaves other sessions alone, also those whose key begins alike",
    async run({ open }) {
      const ledger = await open();
      const others = ["s", "s1-x", "s10", "s0"];
      for (const key of [...others, "s1"]) {
        const writer = new SessionWriter(ledger, key);
        const value = {
          call: `${key}.call-${key}`,
          kind: "step",
          name: "n",
          occurrence: 0,
          status: "done",
        } as const;
        await writer.commit([
          writer.event("kept"),
          ...buildQuestion(key, key),
          { kind: "step", step: { ...value, value: 1 } },
          { kind: "state", scope: "session", delta: { kept: true } },
          { kind: "state", scope: "user", delta: { "user:kept": true } },
          writer.journal("kept"),
        ]);
      }
      const read = async (key: string) => [
        await ledger.load({ confirmation: questionId(key, key) }),
        await ledger.events(key),
        await ledger.steps(`${key}.call-${key}`),
        await ledger.state(key),
        await ledger.journal.sessionRecords(key, { after: 0, limit: 9 }),
      ];
      const before = await Promise.all(others.map(read));
      const erased = new SessionWriter(ledger, "s1");
      erased.version = 1;
      await erased.commit([{ kind: "erase" }]);
      checkEqual(await Promise.all(others.map(read)), before, "the others");
    },
  },
  {
    name: "idle sessions are those untouched since then, alive, with no question and no call open",
    async run({ open }) {
      const ledger = await open();
      const touched = async (
        key: string,
        updatedAt: number,
        writes: Parameters<SessionWriter["commit"]>[0] = [],
      ) => {
        const writer = new SessionWriter(ledger, key);
        await writer.commit(writes, { updatedAt, open: key === "asking" ? 1 : 0 });
        return writer;
      };
      await touched("new", 200);
      await touched("old-a", 50);
      await touched("old-b", 60);
      await touched("at", 100);
      await touched("asking", 50);
      await touched("done", 50, buildQuestion("done", "d", { call: { status: "succeeded" } }));
      await touched("lost", 50, buildQuestion("lost", "l", { call: { status: "unknown" } }));
      await touched("stepping", 50, [
        { kind: "frame-insert", frame: buildFrame("stepping", "f", { status: "stepping" }) },
      ]);
      const gone = await touched("gone", 50);
      await gone.commit([{ kind: "erase" }], { updatedAt: 50, deletedAt: 50 });
      const back = await touched("back", 50);
      await back.commit([], { updatedAt: 150 });
      const idle = async (page: PageRequest, deleted: { readonly deleted?: true } = {}) => {
        const { items, ...next } = await ledger.sessions({ idleSince: 100, ...deleted }, page);
        return { keys: items.map(({ key }) => key), ...next };
      };
      checkEqual(await idle({ limit: 10 }), { keys: ["done", "old-a", "old-b"] }, "idle");
      const { keys, next = "" } = await idle({ limit: 2 });
      checkEqual(keys, ["done", "old-a"], "limited");
      checkEqual(await idle({ limit: 2, cursor: next }), { keys: ["old-b"] }, "the rest");
      const withDeleted = await idle({ limit: 10 }, { deleted: true });
      checkEqual(withDeleted, { keys: ["done", "gone", "old-a", "old-b"] }, "those that are deleted too");
    },
  },
  {
    name: "names in what is left of an erased session can be replaced; it is still found by its old name",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const confirmation = { status: "approved", votes: [VOTE] } as const;
      await writer.commit(buildQuestion("s1", "c", { call: { status: "succeeded" }, confirmation }));
      const names = new Map([
        ["boss", "nobody"],
        ["ana", erasedUser(ledger.digestKey, "ana")],
      ]);
      const guarding = await guardIn(ledger);
      checkEqual(await ledger.anonymise("s1", names, guarding), false, "before it is erased");
      await writer.commit([{ kind: "erase" }], { deletedAt: 9 });
      checkEqual(await ledger.anonymise("s1", names, guarding), true, "erased");
      checkEqual(await ledger.anonymise("s1", names, guarding), false, "again");
      const { session } = (await ledger.load({ sessionKey: "s1" })) ?? {};
      checkEqual(session?.user, names.get("ana"), "the user");
      const { id = "", app = "" } = session ?? {};
      const found = await ledger.load({ session: { app, user: "ana", id } });
      checkEqual(found?.session.key, "s1", "by its old name");
      const loaded = await ledger.load({ confirmation: questionId("s1", "c") });
      checkEqual(loaded?.confirmation?.votes[0]?.by.id, "nobody", "who decided");
    },
  },
  {
    name: "what another process judged before names were replaced is refused, and brings none of them back",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const confirmation = { status: "approved", votes: [VOTE] } as const;
      await writer.commit(buildQuestion("s1", "c", { call: { status: "succeeded" }, confirmation }));
      await writer.commit([{ kind: "erase" }], { deletedAt: 9 });
      const other = await reopen();
      const late = new SessionWriter(other, "s1");
      late.version = (await other.load({ sessionKey: "s1" }))?.session.version ?? 0;
      const names = new Map([["boss", "nobody"]]);
      checkEqual(await ledger.anonymise("s1", names, await guardIn(ledger)), true, "renaming");
      const told = [late.journal("late-result")];
      checkEqual(await late.commit(told), { ok: false, conflict: "version" }, "as it was read");
      checkEqual(await late.commit(told), { ok: true }, "read again");
      const loaded = await (await reopen()).load({ confirmation: questionId("s1", "c") });
      checkEqual(loaded?.confirmation?.votes[0]?.by.id, "nobody", "who decided");
    },
  },
  {
    name: "no name is replaced without the item that guards it, or once that was changed",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit();
      await writer.commit([{ kind: "erase" }], { deletedAt: 9 });
      const names = new Map([["ana", "nobody"]]);
      const guarding = await guardIn(ledger);
      let asked = 0;
      const changed = async () => {
        asked += 1;
        const guard = await guarding();
        if (asked === 1) await ledger.items.put({ ...guard, value: {} }, guard.version);
        return asked === 3 ? undefined : { ...guard, ...(asked === 2 ? { id: "none" } : {}) };
      };
      checkEqual(await ledger.anonymise("s1", names, changed), false, "renaming");
      checkEqual(asked, 3, "how often it was judged");
      checkEqual((await ledger.load({ sessionKey: "s1" }))?.session.user, "ana", "the user");
      checkEqual(await ledger.anonymise("s1", names, guarding), true, "as it is");
    },
  },
  {
    name: "of a buried session only its name and the end of its chain are left, and nothing follows in it",
    async run({ open }) {
      const ledger = await open();
      const [writer, other] = [new SessionWriter(ledger, "s1"), new SessionWriter(ledger, "s2")];
      const confirmation = { status: "approved", votes: [VOTE] } as const;
      const asked = (key: string) => buildQuestion(key, "c", { call: { status: "succeeded" }, confirmation });
      await writer.commit([...asked("s1"), writer.journal("noted")]);
      await other.commit([...asked("s2"), other.journal("noted")]);
      const guarding = await guardIn(ledger);
      const live = { key: "s1", version: 1 };
      checkEqual(await ledger.bury(live, {}, guarding), false, "before it is erased");
      await writer.commit([{ kind: "erase" }, writer.journal("erased")], { deletedAt: 9 });
      checkEqual(await ledger.bury(live, {}, guarding), false, "in another version");
      const judged = { key: "s1", version: 2 };
      checkEqual(await ledger.bury(judged, {}, async () => undefined), false, "without a guard");
      checkEqual(await ledger.bury(judged, { file: 3 }, guarding), true, "erased");
      checkEqual(await ledger.bury(judged, {}, guarding), false, "again");
      const { session } = (await ledger.load({ sessionKey: "s1" })) ?? {};
      const { chain, pruned, id = "", app = "", user = "" } = session ?? {};
      checkEqual([chain?.n, chain?.hash, pruned], [2, "hash-2", { file: 3 }], "what is left");
      checkEqual((await ledger.load({ session: { app, user, id } }))?.session.key, "s1", "by its name");
      checkEqual(await ledger.load({ confirmation: questionId("s1", "c") }), undefined, "its question");
      const { items } = await ledger.confirmations({ state: "closed" });
      checkEqual(
        items.map(({ confirmation: { session: key } }) => key),
        ["s2"],
        "the history",
      );
      const refused = await writer.commit([writer.journal("late")]).then(
        ({ ok }) => ok,
        () => false,
      );
      checkEqual(refused, false, "a later commit");
    },
  },
  {
    name: "lines of erased sessions are dropped, those of others stay in their places, and pages go on behind the gap",
    async run({ open }) {
      const ledger = await open();
      const writers = Array.from({ length: 40 }, (_, n) => new SessionWriter(ledger, `s${10 + n}`));
      for (const writer of writers) await writer.commit([writer.journal("noted")]);
      const before = await ledger.journal.rows({ after: 0, limit: 100 });
      const gone = writers.slice(2, 37).map(({ key }) => key);
      await ledger.journal.dropLines(gone);
      checkEqual(await ledger.journal.rows({ after: 0, limit: 100 }), before, "while they are not erased");
      for (const writer of writers.slice(2, 37)) await writer.commit([{ kind: "erase" }], { deletedAt: 9 });
      // What tells of it is always newer.
      await writers.at(-1)?.commit();
      const all = await ledger.journal.rows({ after: 0, limit: 100 });
      const left = all.filter(({ session }) => !gone.includes(session));
      await ledger.journal.dropLines(gone);
      await ledger.journal.dropLines([...gone, "none"]);
      checkEqual(await ledger.journal.rows({ after: 0, limit: 100 }), left, "all that is left");
      const paged: (typeof left)[number][] = [];
      for (let after = 0; ; ) {
        const page = await ledger.journal.rows({ after, limit: 2 });
        paged.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.seq;
      }
      checkEqual(paged, left, "page by page");
      const newest = await ledger.journal.rows({ after: 0, limit: 4, last: true });
      checkEqual(newest, left.slice(-4), "the newest");
      checkEqual(await ledger.journal.sessionRows("s20", { after: 0, limit: 9 }), [], "of a dropped session");
      const next = new SessionWriter(ledger, "t1");
      await next.commit([next.journal("noted")]);
      const [added] = await ledger.journal.rows({ after: 0, limit: 1, last: true });
      checkEqual(
        (added?.seq ?? 0) > (all.at(-1)?.seq ?? 0),
        true,
        "a later line comes behind all there were",
      );
    },
  },
  {
    name: "a name is replaced where it is a person's, and not in an id or a word that reads the same",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1", { app: "ana", id: "ana" });
      await writer.commit(buildQuestion("s1", "c", namesOf("ana")));
      await writer.commit([{ kind: "erase" }], { deletedAt: 9 });
      checkEqual(
        await ledger.anonymise("s1", new Map([["ana", "nobody"]]), await guardIn(ledger)),
        true,
        "renaming",
      );
      const snapshot = await ledger.load({ confirmation: questionId("s1", "c") });
      const { app, user, id } = { ...snapshot?.session };
      checkEqual([app, user, id], ["ana", "nobody", "ana"], "the session");
      const { call, confirmation } = namesOf("nobody");
      checkEqual(membersLike(call, snapshot?.call), call, "the call");
      checkEqual(membersLike(confirmation, snapshot?.confirmation), confirmation, "the question");
    },
  },
];

/** Keeps an item that guards names; resolves to what reads its version. */
async function guardIn({ items }: Ledger): Promise<() => Promise<ItemVersion>> {
  const guard = { kind: "guard", id: "g1" };
  await items.put({ ...guard, value: {} }, 0);
  return async () => ({ ...guard, version: (await items.get(guard.kind, guard.id))?.version ?? 0 });
}

/** A call and a question about it that have a person of this name, and "ana" in everything that is not a person. */
function namesOf(person: string) {
  const same = { app: "ana", agent: "ana", tool: "ana" };
  const by = { ...VOTE.by, id: person, roles: ["ana"], onBehalfOf: person };
  const settled = { as: "succeeded", by: { ...VOTE.by, id: person }, via: "ana", at: 1 } as const;
  const requirements = [{ from: { users: [person, "ben"], roles: ["ana"] }, count: 1, group: "ana" }];
  const delegated = { from: person, delegation: "ana" };
  const votes = [{ ...VOTE, by, person, delegated, via: "ana" }];
  return {
    call: { ...same, status: "succeeded", requesters: [person], settled },
    confirmation: {
      ...same,
      user: person,
      path: ["ana"],
      requesters: ["ben", person],
      requirements,
      status: "approved",
      votes,
    },
  } as const;
}

function membersLike(wanted: object, found: object = {}): object {
  return Object.fromEntries(Object.entries(found).filter(([name]) => name in wanted));
}

import { oneApproval } from "../../people/index.ts";
import { type GrantRecord, SHARED_GRANT, toSharedItem } from "../records/grant-record.ts";
import { questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const OK = { ok: true } as const;
const ROW = { ok: false, conflict: "row" } as const;
const DEADLINE = { ok: false, conflict: "deadline" } as const;

function buildGrant(session: string, name: string, over: Partial<GrantRecord> = {}): GrantRecord {
  return {
    id: `${session}.grant-${name}`,
    session,
    app: "bank",
    agent: "teller",
    tool: "transfer",
    definitionDigest: "definition-digest",
    confirmation: questionId(session, "c"),
    requesters: ["ana"],
    askedBy: ["policy: transfers"],
    requirements: oneApproval("requester"),
    approvals: [],
    limits: { forMs: 1_000, count: 3 },
    mintedAt: 0,
    endsAt: 1_000,
    uses: 0,
    spent: {},
    revision: 1,
    ...over,
  };
}

export const grantCases: readonly LedgerCase[] = [
  {
    name: "a grant changes only from the revision that the write names",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const grant = buildGrant("s1", "g", { endsAt: clock.now() + 1_000 });
      const used = { ...grant, uses: 1, revision: 2 };
      checkEqual(await writer.commit([{ kind: "grant", grant: used, from: 1 }]), ROW, "before it is there");
      checkEqual(await writer.commit([{ kind: "grant", grant }]), OK, "a new one");
      checkEqual(await writer.commit([{ kind: "grant", grant }]), ROW, "a second time");
      checkEqual(await writer.commit([{ kind: "grant", grant: used, from: 1 }]), OK, "the right revision");
      checkEqual(await writer.commit([{ kind: "grant", grant: used, from: 1 }]), ROW, "the same use again");
      const found = await ledger.load({ sessionKey: "s1" });
      checkEqual(found?.session.grants, [used], "the grant");
    },
  },
  {
    name: "with `ahead`, a grant changes only before its end by the ledger's clock",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const grant = buildGrant("s1", "g", { endsAt: clock.now() + 1_000 });
      await writer.commit([{ kind: "grant", grant }]);
      const use = (uses: number) =>
        writer.commit([
          { kind: "grant", grant: { ...grant, uses, revision: uses + 1 }, from: uses, ahead: true },
        ]);
      checkEqual(await use(1), OK, "before the end");
      await clock.advance(1_000);
      checkEqual(await use(2), DEADLINE, "at the end");
    },
  },
  {
    name: "grants are listed by their end, without those that are over, revoked or erased",
    async run({ open, clock }) {
      const ledger = await open();
      const now = clock.now();
      const [one, two] = [new SessionWriter(ledger, "s1"), new SessionWriter(ledger, "s2")];
      const late = buildGrant("s1", "late", { endsAt: now + 9_000, mintedAt: now });
      const early = buildGrant("s2", "early", { endsAt: now + 5_000, mintedAt: now });
      const over = buildGrant("s1", "over", { endsAt: now + 10, mintedAt: now });
      await one.commit([
        { kind: "grant", grant: over },
        { kind: "grant", grant: late },
      ]);
      await two.commit([{ kind: "grant", grant: early }]);
      await clock.advance(11);
      const listed = async () => (await ledger.grants()).items.map(({ grant }) => grant.id);
      checkEqual(await listed(), ["s2.grant-early", "s1.grant-late"], "by their end");
      const { items, next } = await ledger.grants({ limit: 1 });
      checkEqual(items[0]?.session.id, "s2", "the session of the first");
      const rest = await ledger.grants({ limit: 1, ...(next === undefined ? {} : { cursor: next }) });
      checkEqual(rest.items[0]?.grant, late, "the second page");
      const where = ({ id }: GrantRecord): boolean => id === late.id;
      const only = await ledger.grants({ limit: 1, where });
      checkEqual(
        [only.items.map(({ grant }) => grant.id), only.next],
        [[late.id], undefined],
        "only one of them",
      );
      const revoked = { ...early, revoked: { at: now }, revision: 2 };
      await two.commit([{ kind: "grant", grant: revoked, from: 1 }]);
      checkEqual(await listed(), ["s1.grant-late"], "without the revoked one");
      await one.commit([{ kind: "erase" }]);
      checkEqual(await listed(), [], "without the erased one");
    },
  },
  {
    name: "grants across sessions are items: listed behind those of sessions, until they are over, revoked or gone",
    async run({ open, clock }) {
      const ledger = await open();
      const now = clock.now();
      const [one, two] = [new SessionWriter(ledger, "s1"), new SessionWriter(ledger, "s2")];
      const own = buildGrant("s2", "own", { endsAt: now + 9_000, mintedAt: now });
      await two.commit([{ kind: "grant", grant: own }]);
      const limits = { scope: "user", forMs: 1_000, count: 3 } as const;
      const shared = ["a", "b", "c"].map((name, place) =>
        buildGrant(place === 2 ? "s2" : "s1", name, { endsAt: now + 1_000 + place, mintedAt: now, limits }),
      );
      for (const grant of shared) {
        const writer = grant.session === "s1" ? one : two;
        checkEqual(
          await writer.commit([{ kind: "item", item: toSharedItem(grant), read: 0 }]),
          OK,
          "a new one",
        );
      }
      const listed = async () => {
        const ids: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await ledger.grants({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
          ids.push(...page.items.map(({ grant, session }) => `${grant.id} in ${session.id}`));
          if (page.next === undefined) return ids;
          cursor = page.next;
        }
      };
      const all = ["s2.grant-own in s2", "s1.grant-a in s1", "s1.grant-b in s1", "s2.grant-c in s2"];
      checkEqual(await listed(), all, "all of them");
      const { items } = await ledger.items.list(SHARED_GRANT, { after: "s1.", limit: 2 });
      checkEqual(
        items.map(({ id }) => id),
        ["s1.grant-a", "s1.grant-b"],
        "those of one session",
      );
      const [first = own] = shared;
      const revoked = toSharedItem({ ...first, revoked: { at: now }, revision: 2 });
      checkEqual(await two.commit([{ kind: "item", item: revoked, read: 1 }]), OK, "by another session");
      checkEqual(
        await one.commit([{ kind: "item", item: revoked, read: 1 }]),
        ROW,
        "from the version before",
      );
      checkEqual(await listed(), all.toSpliced(1, 1), "without the revoked one");
      await clock.advance(1_001);
      const late = toSharedItem({ ...(shared[1] ?? own), uses: 1, revision: 2 });
      checkEqual(await one.commit([{ kind: "item", item: late, read: 1 }]), ROW, "a use after its end");
      checkEqual(await listed(), ["s2.grant-own in s2", "s2.grant-c in s2"], "without the one that is over");
    },
  },
  {
    name: "a new grant takes the place of those that are over",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const now = clock.now();
      const ended = buildGrant("s1", "ended", { endsAt: now + 10, mintedAt: now });
      const revoked = buildGrant("s1", "revoked", { endsAt: now + 99, mintedAt: now, revoked: { at: now } });
      const live = buildGrant("s1", "live", { endsAt: now + 99, mintedAt: now });
      for (const grant of [ended, live, revoked]) await writer.commit([{ kind: "grant", grant }]);
      const grant = buildGrant("s1", "new", { endsAt: now + 99, mintedAt: now + 10 });
      await writer.commit([{ kind: "grant", grant }]);
      checkEqual((await ledger.load({ sessionKey: "s1" }))?.session.grants, [live, grant], "the grants");
    },
  },
];

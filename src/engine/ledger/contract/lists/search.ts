import type { JsonObject } from "../../../../protocol/index.ts";
import type { Write } from "../../commit.ts";
import type { Ledger } from "../../ledger.ts";
import type { ConfirmationFilter } from "../../lists.ts";
import type { CallRecord } from "../../records/call-record.ts";
import type { ConfirmationRecord } from "../../records/confirmation-record.ts";
import { buildQuestion, nameIn, questionId, SessionWriter, type Told } from "../build.ts";
import { checkEqual, checkRejected } from "../check.ts";
import type { LedgerCase } from "../subject.ts";

async function find(ledger: Ledger, words: string, over: Partial<ConfirmationFilter> = {}): Promise<string> {
  const { items } = await ledger.confirmations({ state: "open", words, ...over });
  return items.map(({ confirmation }) => nameIn(confirmation.id)).join(" ");
}

function asking(
  writer: SessionWriter,
  id: string,
  args: JsonObject,
  over: { readonly call?: Partial<CallRecord>; readonly confirmation?: Partial<ConfirmationRecord> } = {},
): (Write | Told)[] {
  const question = buildQuestion(writer.key, id, { ...over, call: { args, ...over.call } });
  return [...question, writer.journal("asked")];
}

const LARGE = 3_000;

export const searchCases: readonly LedgerCase[] = [
  {
    name: "a word of any length is found, by its first letters",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const long = "x".repeat(100_000);
      await writer.commit([
        ...asking(writer, "c1", { memo: long }),
        ...asking(writer, "c2", { memo: "🐎𝒳".repeat(5_000) }),
        ...asking(writer, "c3", { memo: "xy" }),
      ]);
      checkEqual(await find(ledger, long), "c1", "all of it");
      checkEqual(await find(ledger, "xxx"), "c1", "its beginning");
      checkEqual(await find(ledger, "x"), "c1 c2 c3", "the beginning of all");
    },
  },
  {
    name: "words are found in tool, agent and arguments, whole or by their beginning, and all must fit",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const agent = { agent: "travel_desk" };
      await writer.commit([
        ...asking(writer, "c1", { to: "Lisbon", guests: [{ name: "Ána Lúcia" }], nights: 12 }),
        ...asking(writer, "c2", { to: "LISBOA", "the note": 'line one\nline "two"', ok: true }),
        ...asking(
          writer,
          "c3",
          { to: "Paris" },
          { call: agent, confirmation: { ...agent, tool: "book-room" } },
        ),
      ]);
      const searches: readonly (readonly [words: string, found: string])[] = [
        ["lisbon", "c1"],
        ["LISBO", "c1 c2"],
        ["isbon", ""],
        ["lisbon paris", ""],
        ["  guests \t lis ", "c1"],
        ["ana", "c1"],
        ["LÚCIA", "c1"],
        ["lu\u0301cia", "c1"],
        ["12", "c1"],
        ["two", "c2"],
        ["nline", ""],
        ["true", "c2"],
        ["note", "c2"],
        ["transfer", "c1 c2"],
        ["book room", "c3"],
        ["book-room paris", "c3"],
        ["desk", "c3"],
        ["travel_desk", "c3"],
      ];
      for (const [words, found] of searches)
        checkEqual(await find(ledger, words), found, JSON.stringify(words));
    },
  },
  {
    name: "whatever is typed is only ever words",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        ...asking(writer, "c1", { memo: "alpha OR beta", key: "中文字 ไทย" }),
        ...asking(writer, "c2", { memo: "beta" }),
      ]);
      const searches: readonly (readonly [words: string, found: string])[] = [
        ["alpha OR beta", "c1"],
        ["alpha OR gamma", ""],
        ["NOT alpha", ""],
        ["NEAR(alpha beta)", ""],
        ['"beta', "c1 c2"],
        ['"beta" *', "c1 c2"],
        ["^beta", "c1 c2"],
        ["memo:beta", "c1 c2"],
        ["beta'; drop table journal; --", ""],
        ["be%", "c1 c2"],
        ["b_ta", ""],
        ["beta\u0000", "c1 c2"],
        ["\ud800beta", "c1 c2"],
        ["中文", "c1"],
        ["ไทย", "c1"],
        ["", ""],
        ["   ", ""],
        ["* ^ \" ' () {} : - +", ""],
        ["\u{10ffff}", ""],
      ];
      for (const [words, found] of searches)
        checkEqual(await find(ledger, words), found, JSON.stringify(words));
      const many = Array.from({ length: 500 }, (_, i) => `w${i}`).join(" ");
      await checkRejected(find(ledger, many), "malformed-request", "more words than anyone types");
      const closed = ledger.confirmations({ state: "closed", words: "beta" });
      await checkRejected(closed, "malformed-request", "a search of what is closed");
    },
  },
  {
    name: "what is declared a secret is not found",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const args = { to: "bob", pin: "swordfish", cards: [{ number: "4111" }, { number: "4222" }] };
      await writer.commit(asking(writer, "c1", args, { call: { secrets: ["/pin", "/cards/*/number"] } }));
      checkEqual(await find(ledger, "bob"), "c1", "beside it");
      for (const secret of ["swordfish", "sword", "4111", "4222", "42"]) {
        checkEqual(await find(ledger, secret), "", secret);
      }
    },
  },
  {
    name: "a search finds what any handle committed before it, as it is then, and nothing that is closed",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      const other = await reopen();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([...asking(writer, "c1", { to: "ana" }), ...asking(writer, "c2", { to: "ana" })]);
      checkEqual(await find(other, "ana"), "c1 c2", "right after the commit");
      const args = { to: "zoe" };
      const amend = { kind: "call-update", id: "s1.call-c1", from: "waiting", attempt: 0 } as const;
      await writer.commit([
        { ...amend, set: { args, argsDigest: "other-digest" } },
        writer.journal("amended"),
      ]);
      checkEqual(await find(other, "zoe"), "c1", "by the new words");
      checkEqual(await find(ledger, "ana"), "c2", "by the old words");
      const deny = { kind: "confirmation-update", from: "requested", set: { status: "denied" } } as const;
      await writer.commit([{ ...deny, id: questionId("s1", "c2") }, writer.journal("denied")]);
      checkEqual(await find(other, "ana"), "", "after the answer");
      await ledger.tidy();
      await writer.commit([...asking(writer, "c3", { to: "ana" })]);
      checkEqual(await find(other, "ana"), "c3", "asked after the index was tidied");
      const both = await Promise.all([find(ledger, "ana"), find(other, "ana"), ledger.tidy(), other.tidy()]);
      checkEqual(both.slice(0, 2), ["c3", "c3"], "by two at once");
    },
  },
  {
    name: "what was erased is not found, also where it was found before",
    async run({ open }) {
      const ledger = await open();
      for (const key of ["s1", "s2"]) {
        const writer = new SessionWriter(ledger, key);
        await writer.commit(asking(writer, `c-${key}`, { to: "ana" }));
      }
      checkEqual(await find(ledger, "ana"), "c-s1 c-s2", "before");
      const erased = new SessionWriter(ledger, "s1");
      erased.version = 1;
      const close = {
        kind: "confirmation-update",
        id: questionId("s1", "c-s1"),
        from: "requested",
        set: { status: "cancelled" },
      } as const;
      await erased.commit([close, { kind: "erase" }, erased.journal("erased")]);
      checkEqual(await find(ledger, "ana"), "c-s2", "after");
    },
  },
  {
    name: "a search goes with every other filter",
    async run({ open }) {
      const ledger = await open();
      for (const [key, user] of [
        ["s1", "ana"],
        ["s2", "bob"],
      ] as const) {
        const writer = new SessionWriter(ledger, key);
        await writer.commit([
          ...asking(writer, `${key}-1`, { to: "x" }, { confirmation: { user, tool: "refund" } }),
          ...asking(writer, `${key}-2`, { to: "x" }, { confirmation: { user } }),
        ]);
      }
      checkEqual(await find(ledger, "x", { user: "bob" }), "s2-1 s2-2", "of a user");
      checkEqual(await find(ledger, "x", { tool: "refund" }), "s1-1 s2-1", "of a tool");
      checkEqual(
        await find(ledger, "x", { session: "s1", tool: "refund" }),
        "s1-1",
        "of a tool in a session",
      );
      checkEqual(await find(ledger, "x", { turn: "s2.call-s2-2" }), "s2-2", "of a turn");
      checkEqual(await find(ledger, "x", { status: ["requested"] }), "s1-1 s1-2 s2-1 s2-2", "requested");
      checkEqual(await find(ledger, "x", { status: ["denied"] }), "", "of another status");
      checkEqual(await find(ledger, "refund", { app: "shop" }), "", "of another app");
    },
  },
  {
    name: "in a large inbox rare words and common ones are found alike, in the order of the inbox, by pages",
    async run({ open }) {
      const ledger = await open();
      const expected = { rare: [] as string[], common: [] as string[], both: [] as string[] };
      const writer = new SessionWriter(ledger, "s1");
      const writes: (Write | Told)[] = [];
      for (let i = 0; i < LARGE; i++) {
        const id = `c${String(i).padStart(5, "0")}`;
        const rare = i % 400 === 399;
        const common = i >= 900;
        if (rare) expected.rare.push(id);
        if (common) expected.common.push(id);
        if (rare && common) expected.both.push(id);
        const args = { rare: rare ? "needle needles" : "pin", common: common ? "hay" : "straw" };
        writes.push(
          ...asking(writer, id, args, { confirmation: { expiresAt: 1_000 + i, user: `u${i % 2}` } }),
        );
      }
      await writer.commit(writes);
      const walk = async (words: string, limit: number, most: number): Promise<string[]> => {
        const ids: string[] = [];
        let cursor: string | undefined;
        do {
          const filter = { state: "open", words } as const;
          const page = await ledger.confirmations(filter, { limit, ...(cursor && { cursor }) });
          ids.push(...page.items.map(({ confirmation }) => nameIn(confirmation.id)));
          cursor = page.next;
        } while (cursor !== undefined && ids.length < most);
        return ids.slice(0, most);
      };
      checkEqual(await walk("needle", 3, LARGE), expected.rare, "rare");
      checkEqual(await walk("hay", 50, 120), expected.common.slice(0, 120), "common");
      checkEqual(await walk("hay needle", 2, LARGE), expected.both, "both");
      checkEqual(await walk("straw hay", 2, LARGE), [], "common words that never meet");
      const odd = expected.rare.filter((id) => Number(id.slice(1)) % 2 === 1).join(" ");
      checkEqual(await find(ledger, "needle", { user: "u1" }), odd, "rare, of one user");
    },
  },
];

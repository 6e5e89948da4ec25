import type { JsonObject } from "../../../../protocol/index.ts";
import { positionOf } from "../../../journal/index.ts";
import { toPrincipal } from "../../../people/principal.ts";
import { viewsAs } from "../../../people/viewers.ts";
import type { Ledger } from "../../ledger.ts";
import type { ConfirmationWithCall, ListRequest } from "../../lists.ts";
import type { Vote } from "../../records/confirmation-record.ts";
import { buildCall, buildQuestion, nameIn, questionId, SessionWriter } from "../build.ts";
import { checkEqual } from "../check.ts";
import type { LedgerCase } from "../subject.ts";

const LONG = "long ".repeat(20_000);
const MOST_LISTED = 16_000;
const PAGE_BYTES = 1_000_000;
const ANA = toPrincipal({ id: "ana", kind: "token", authenticated: true });
const VOTE: Vote = { confirmed: true, by: ANA, person: "ana", via: "api", at: 4 };

async function listed(
  ledger: Ledger,
  state: "open" | "closed",
  request: ListRequest = { preview: true },
): Promise<ConfirmationWithCall | undefined> {
  return (await ledger.confirmations({ state }, request)).items[0];
}

function size(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}

function checkCut(item: ConfirmationWithCall | undefined, what: string): void {
  checkEqual(item?.truncated, true, `${what} says that it was cut`);
  checkEqual(size(item) < MOST_LISTED, true, `${what} is short`);
}

export const previewCases: readonly LedgerCase[] = [
  {
    name: "a preview cuts what is long and says so, and leaves the rest as it is",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        ...buildQuestion("s1", "c1", { confirmation: { expiresAt: 1 } }),
        ...buildQuestion("s1", "c2", {
          call: { args: { to: "bob", amount: 5, memo: LONG } },
          confirmation: { expiresAt: 2 },
        }),
        ...buildQuestion("s1", "c3", {
          confirmation: { expiresAt: 3, shown: { hint: LONG, why: ["tool"], payload: { days: LONG } } },
        }),
        writer.journal("asked"),
      ]);
      for (const over of [{}, { words: "transfer" }, { viewers: viewsAs(ANA) }, { session: "s1" }]) {
        const whole = (await ledger.confirmations({ state: "open", ...over })).items;
        const [short, args, hint] = (
          await ledger.confirmations({ state: "open", ...over }, { preview: true })
        ).items;
        checkEqual(short, whole[0], "a short one");
        checkCut(args, "one with long arguments");
        checkEqual(
          [args?.call.args["to"], args?.call.args["amount"]],
          ["bob", 5],
          "short arguments beside it",
        );
        checkEqual(JSON.stringify(args?.call.args["memo"]).startsWith('"long long'), true, "its beginning");
        checkCut(hint, "one with a long text");
        checkEqual(hint?.confirmation.shown.why, ["tool"], "why");
        checkEqual(whole[1]?.call.args["memo"], LONG, "the whole");
        checkEqual(whole[1]?.truncated, undefined, "the whole says nothing");
      }
      const one = await ledger.load({ confirmation: questionId("s1", "c2") });
      checkEqual(one?.call?.args["memo"], LONG, "read by its id");
    },
  },
  {
    name: "a preview follows its value: amended, answered, ended and erased",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(buildQuestion("s1", "c1"));
      const call = { kind: "call-update", id: "s1.call-c1", from: "waiting", attempt: 0 } as const;
      const question = {
        kind: "confirmation-update",
        id: questionId("s1", "c1"),
        from: "requested",
      } as const;
      const change = async (args: JsonObject): Promise<void> => {
        await writer.commit([
          { ...call, set: { args } },
          { ...question, set: { shown: { hint: "", why: [] } } },
        ]);
      };
      await change({ memo: LONG });
      checkCut(await listed(ledger, "open"), "amended to something long");
      await change({ memo: "short" });
      checkEqual(
        await listed(ledger, "open"),
        await listed(ledger, "open", {}),
        "amended to something short",
      );
      await writer.commit([
        {
          ...question,
          set: { status: "approved", votes: [{ ...VOTE, reason: LONG, args: { memo: LONG } }] },
        },
        { ...call, set: { status: "succeeded", args: { memo: LONG }, result: { text: LONG } } },
      ]);
      const ended = await listed(ledger, "closed");
      checkCut(ended, "answered and ended");
      const [vote] = ended?.confirmation.votes ?? [];
      checkEqual([vote?.confirmed, vote?.by.id, vote?.via, vote?.at], [true, "ana", "api", 4], "who decided");
      await writer.commit([{ kind: "erase" }], { deletedAt: 1 });
      const erased = await listed(ledger, "closed");
      checkEqual(erased, await listed(ledger, "closed", {}), "erased");
      checkEqual(JSON.stringify(erased).includes("long"), false, "nothing of it is left");
    },
  },
  {
    name: "a page of previews ends before it is too large, and the next one goes on there",
    async run({ open }) {
      const ledger = await open();
      // Just short enough to be listed whole.
      const args = { memo: "x".repeat(4_000) };
      const ids = Array.from({ length: 400 }, (_, i) => `c${String(i).padStart(3, "0")}`);
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(ids.flatMap((id) => buildQuestion("s1", id, { call: { args } })));
      const seen: string[] = [];
      let pages = 0;
      let cursor: string | undefined;
      do {
        const request: ListRequest = {
          preview: true,
          limit: 1_000,
          ...(cursor === undefined ? {} : { cursor }),
        };
        const page = await ledger.confirmations({ state: "open" }, request);
        checkEqual(size(page.items) < PAGE_BYTES * 1.5, true, "a page's size");
        seen.push(...page.items.map(({ confirmation }) => nameIn(confirmation.id)));
        pages += 1;
        cursor = page.next;
      } while (cursor !== undefined);
      checkEqual(seen, ids, "all of them");
      checkEqual(pages > 1, true, "more than one page");
    },
  },
  {
    name: "calls of unknown outcome are previewed too",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const call = buildCall("s1", "a", { status: "unknown", attempt: 1, args: { memo: LONG } });
      await writer.commit([{ kind: "call-insert", call }]);
      const [cut] = (await ledger.unknownCalls({ preview: true })).items;
      checkEqual([cut?.truncated, size(cut) < MOST_LISTED], [true, true], "cut");
      checkEqual((await ledger.unknownCalls()).items, [call], "whole");
    },
  },
  {
    name: "events and journal records are given up to a number of bytes, and one at least",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const text = "x".repeat(1_000);
      for (let i = 0; i < 5; i += 1) await writer.commit([writer.event(text), writer.journal("said", text)]);
      const events = await ledger.events("s1");
      const counts = async (bytes: number): Promise<readonly number[]> => [
        (await ledger.events("s1", { bytes })).length,
        (await ledger.events("s1", { last: 4, bytes })).length,
        (await ledger.journal.records({ after: 0, limit: 4, bytes })).length,
        (await ledger.journal.sessionRecords("s1", { after: 0, limit: 4, bytes })).length,
      ];
      checkEqual(await counts(1), [1, 1, 1, 1], "at least one");
      checkEqual(await counts(3_500), [3, 3, 3, 3], "a few");
      checkEqual(await counts(1_000_000), [5, 4, 4, 4], "all");
      checkEqual(await ledger.events("s1", { last: 4, bytes: 3_500 }), events.slice(-3), "the newest");
      checkEqual(await ledger.events("s1", { after: 1, bytes: 3_500 }), events.slice(1, 4), "from a place");
      const seqs = (await ledger.journal.records({ after: 0, limit: 5 })).map(({ seq }) => seq);
      const [third] = await ledger.journal.records({ after: seqs[1] ?? 0, limit: 4, bytes: 1 });
      checkEqual(third?.n, positionOf(3, 0), "a record from a place");
      checkEqual(
        (await ledger.journal.sessionRecords("s1", { after: positionOf(3, 0), limit: 4, bytes: 1 })).map(
          ({ n }) => n,
        ),
        [positionOf(4, 0)],
        "of a chain",
      );
      checkEqual(
        await ledger.journal.records({ after: seqs[4] ?? 0, limit: 4, bytes: 1 }),
        [],
        "none at the end",
      );
      checkEqual(
        await ledger.journal.sessionRecords("s1", { after: positionOf(5, 0), limit: 4, bytes: 1 }),
        [],
        "none at a chain's end",
      );
    },
  },
];

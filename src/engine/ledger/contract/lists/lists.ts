import type { ConfirmationFilter, Page, PageRequest } from "../../lists.ts";
import { buildCall, buildQuestion, nameIn, questionId, SessionWriter } from "../build.ts";
import { checkEqual, checkRejected } from "../check.ts";
import type { LedgerCase } from "../subject.ts";

/** All pages, each asked for with the cursor of the one before; `between` runs after every page. */
async function pages<T>(
  read: (page: PageRequest) => Promise<Page<T>>,
  limit: number,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<T[][]> {
  const all: T[][] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor === undefined ? { limit } : { limit, cursor });
    all.push([...page.items]);
    cursor = page.next;
    await between(all.length);
  } while (cursor !== undefined);
  return all;
}

const FILTERS: readonly (readonly [Omit<ConfirmationFilter, "state">, readonly string[]])[] = [
  [{}, ["c1", "c2", "c3", "c4"]],
  [{ tool: "refund" }, ["c2", "c3"]],
  [{ agent: "clerk" }, ["c3", "c4"]],
  [{ user: "bob" }, ["c2", "c4"]],
  [{ session: "s2" }, ["c4"]],
  [{ app: "shop" }, ["c4"]],
  [{ app: "bank", tool: "refund", user: "bob" }, ["c2"]],
  [{ session: "s1", agent: "clerk", tool: "transfer" }, []],
  [{ user: "nobody" }, []],
];

export const listCases: readonly LedgerCase[] = [
  {
    name: "open confirmations are listed by deadline, then those that have none, each with its call and session",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1", { id: "trip" });
      await writer.commit([
        ...buildQuestion("s1", "a-none"),
        ...buildQuestion("s1", "late", { confirmation: { expiresAt: 300 } }),
        ...buildQuestion("s1", "z-soon", { confirmation: { expiresAt: 100 } }),
        ...buildQuestion("s1", "y-soon", { confirmation: { expiresAt: 100 } }),
        ...buildQuestion("s1", "b-none"),
        ...buildQuestion("s1", "closed", { confirmation: { expiresAt: 50, status: "denied" } }),
      ]);
      const { items, next } = await ledger.confirmations({ state: "open" });
      const ids = items.map(({ confirmation }) => nameIn(confirmation.id));
      checkEqual(ids, ["y-soon", "z-soon", "late", "a-none", "b-none"], "ids");
      checkEqual(next, undefined, "the cursor of the last page");
      const beside = items.map(({ call, session }) => [call.id, session]);
      checkEqual(
        beside,
        ids.map((id) => [`s1.call-${id}`, { id: "trip" }]),
        "calls and sessions",
      );
      const firstPage = await pages((page) => ledger.confirmations({ state: "open" }, page), 2);
      const paged = firstPage.map((page) => page.map(({ confirmation }) => nameIn(confirmation.id)));
      checkEqual(paged, [["y-soon", "z-soon"], ["late", "a-none"], ["b-none"]], "by pages of two");
    },
  },
  {
    name: "closed confirmations are listed newest first",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        ...buildQuestion("s1", "c1", { confirmation: { status: "denied" } }),
        ...buildQuestion("s1", "c2"),
        ...buildQuestion("s1", "c3", { confirmation: { status: "approved" } }),
        ...buildQuestion("s1", "c4", { confirmation: { status: "expired" } }),
      ]);
      const all = await pages((page) => ledger.confirmations({ state: "closed" }, page), 2);
      checkEqual(
        all.map((page) => page.map(({ confirmation }) => nameIn(confirmation.id))),
        [["c4", "c3"], ["c1"]],
        "by pages of two",
      );
    },
  },
  {
    name: "a confirmation leaves the open list with its answer and is in the closed one",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(buildQuestion("s1", "c1"));
      const filters = [
        {},
        { session: "s1" },
        { user: "ana" },
        { tool: "transfer" },
        { agent: "teller" },
        { app: "bank" },
      ];
      const lists = async () => {
        const opened = filters.map((filter) => ledger.confirmations({ state: "open", ...filter }));
        const closed = filters.map((filter) => ledger.confirmations({ state: "closed", ...filter }));
        return (await Promise.all([...opened, ...closed])).map(({ items }) => items.length).join("");
      };
      checkEqual(await lists(), "111111000000", "before");
      const shown = { hint: "Pay out $3000?", why: ["tool"] };
      const amend = {
        kind: "confirmation-update",
        id: questionId("s1", "c1"),
        from: "requested",
        set: { shown },
      } as const;
      await writer.commit([amend]);
      checkEqual(await lists(), "111111000000", "after a change of what is shown");
      const votes = [
        {
          confirmed: false,
          person: "boss",
          via: "api",
          at: 4,
          reason: "no",
          by: { id: "boss", kind: "token", roles: ["r"], scopes: [], authenticated: true },
        },
      ] as const;
      await writer.commit([{ ...amend, set: { status: "denied", votes } }]);
      checkEqual(await lists(), "000000111111", "after the answer");
      const { confirmation } = (await ledger.load({ confirmation: questionId("s1", "c1") })) ?? {};
      checkEqual([confirmation?.shown, confirmation?.votes], [shown, votes], "what is stored");
    },
  },
  {
    name: "every filter, alone and combined, leaves exactly what fits",
    async run({ open }) {
      const ledger = await open();
      for (const status of ["requested", "denied"] as const) {
        const prefix = status === "requested" ? "c" : "x";
        const one = new SessionWriter(ledger, status === "requested" ? "s1" : "t1");
        const two = new SessionWriter(ledger, status === "requested" ? "s2" : "t2", { app: "shop" });
        const question = (key: string, id: string, over: object, app = "bank") =>
          buildQuestion(key, `${prefix}${id}`, { confirmation: { status, app, ...over } });
        await one.commit([
          ...question(one.key, "1", {}),
          ...question(one.key, "2", { tool: "refund", user: "bob" }),
          ...question(one.key, "3", { tool: "refund", agent: "clerk" }),
        ]);
        await two.commit(question(two.key, "4", { agent: "clerk", user: "bob" }, "shop"));
      }
      for (const [filter, expected] of FILTERS) {
        const opened = await ledger.confirmations({ state: "open", ...filter });
        checkEqual(
          opened.items.map(({ confirmation }) => nameIn(confirmation.id)),
          expected,
          JSON.stringify(filter),
        );
        const session = filter.session === undefined ? {} : { session: filter.session.replace("s", "t") };
        const closed = await ledger.confirmations({ state: "closed", ...filter, ...session });
        const ids = closed.items.map(({ confirmation }) => nameIn(confirmation.id).replace("x", "c"));
        checkEqual(ids.sort(), expected, `closed, ${JSON.stringify(filter)}`);
      }
    },
  },
  {
    name: "a walk by cursor shows every row that was there exactly once, whatever is inserted meanwhile",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const ask = (id: string, expiresAt: number, status: "requested" | "denied") =>
        writer.commit(buildQuestion("s1", id, { confirmation: { expiresAt, status } }));
      for (let i = 10; i < 17; i++) {
        await ask(`o${i}`, i, "requested");
        await ask(`d${i}`, i, "denied");
      }
      for (const [state, letter] of [
        ["open", "o"],
        ["closed", "d"],
      ] as const) {
        const walked = await pages(
          (page) => ledger.confirmations({ state }, page),
          2,
          async (page) => {
            await ask(`${letter}0-${page}`, page, state === "open" ? "requested" : "denied");
          },
        );
        const old = walked.flat().map(({ confirmation }) => nameIn(confirmation.id));
        const seen = old.filter((id) => !id.includes("-")).sort();
        checkEqual(
          seen,
          [10, 11, 12, 13, 14, 15, 16].map((i) => `${letter}${i}`),
          state,
        );
      }
    },
  },
  {
    name: "sessions are listed per user or per app, without deleted ones, by pages",
    async run({ open }) {
      const ledger = await open();
      for (const [key, user, app] of [
        ["k1", "bob", "bank"],
        ["k2", "ana", "bank"],
        ["k3", "ana", "bank"],
        ["k4", "ana", "shop"],
        ["k5", "ana", "bank"],
      ] as const) {
        const writer = new SessionWriter(ledger, key, { user, app });
        await writer.commit();
        if (key === "k3") await writer.commit([{ kind: "erase" }], { deletedAt: 1 });
      }
      const ofAna = await pages((page) => ledger.sessions({ app: "bank", user: "ana" }, page), 1);
      checkEqual(
        ofAna.map((page) => page.map(({ key }) => key)),
        [["k2"], ["k5"]],
        "of a user",
      );
      const ofBank = await pages((page) => ledger.sessions({ app: "bank" }, page), 2);
      checkEqual(
        ofBank
          .flat()
          .map(({ key }) => key)
          .sort(),
        ["k1", "k2", "k5"],
        "of an app",
      );
      checkEqual((await ledger.sessions({ app: "none" })).items, [], "of an app without any");
      const [listed] = (await ledger.sessions({ app: "shop" })).items;
      checkEqual(listed, (await ledger.load({ sessionKey: "k4" }))?.session, "the record");
    },
  },
  {
    name: "unknown calls are listed oldest first, until they are settled",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const calls = ["1", "2", "3"].map((id) => buildCall("s1", id, { status: "unknown", attempt: 1 }));
      await writer.commit([
        ...calls.map((call) => ({ kind: "call-insert", call }) as const),
        { kind: "call-insert", call: buildCall("s1", "4") },
      ]);
      checkEqual(
        await pages((page) => ledger.unknownCalls(page), 2),
        [calls.slice(0, 2), calls.slice(2)],
        "all",
      );
      await writer.commit([
        { kind: "call-update", id: "s1.2", from: "unknown", attempt: 1, set: { status: "failed" } },
      ]);
      const left = (await ledger.unknownCalls()).items.map(({ id }) => id);
      checkEqual(left, ["s1.1", "s1.3"], "after one was settled");
    },
  },
  {
    name: "a cursor that no list gave out is refused",
    async run({ open }) {
      const ledger = await open();
      for (const cursor of ["", "x", "e30", "WzFd", '["",""]']) {
        const what = JSON.stringify(cursor);
        await checkRejected(ledger.confirmations({ state: "open" }, { cursor }), "invalid-cursor", what);
        await checkRejected(ledger.sessions({ app: "bank" }, { cursor }), "invalid-cursor", what);
      }
    },
  },
];

import { oneApproval } from "../../../people/index.ts";
import type { Approvers, Principal } from "../../../people/principal.ts";
import { toPrincipal } from "../../../people/principal.ts";
import { viewsAs } from "../../../people/viewers.ts";
import type { Ledger } from "../../ledger.ts";
import type { ConfirmationFilter, ListRequest } from "../../lists.ts";
import type { ConfirmationStatus } from "../../records/confirmation-record.ts";
import { buildCall, buildQuestion, nameIn, questionId, SessionWriter } from "../build.ts";
import { checkEqual } from "../check.ts";
import type { LedgerCase } from "../subject.ts";

/** All ids, page by page; a page that is empty, or short and not the last, is a fault. */
async function walk(ledger: Ledger, filter: ConfirmationFilter, limit: number): Promise<string> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const request: ListRequest = { limit, preview: true, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await ledger.confirmations(filter, request);
    if (next !== undefined) checkEqual(items.length, limit, "rows of a page that has a next one");
    if (cursor !== undefined && items.length === 0) throw new Error("a next page was promised and is empty");
    ids.push(...items.map(({ confirmation }) => nameIn(confirmation.id)));
    cursor = next;
  } while (cursor !== undefined);
  return ids.join(" ");
}

const person = (id: string, roles: readonly string[] = []): Principal =>
  toPrincipal({ id, kind: "token", roles, authenticated: true });
const ANA = person("ana");
const BOB = person("bob");
const MEG = person("meg", ["manager", "cfo"]);
const HOST = toPrincipal({ id: "boss" });
const EVERYBODY_ELSE = person("eve");

const RULES: readonly (readonly [id: string, requesters: readonly string[], approvers: Approvers])[] = [
  ["c1", ["ana"], "requester"],
  ["c2", ["bob"], "requester"],
  ["c3", ["ana"], { roles: ["manager", "cfo"], notRequester: true }],
  ["c4", ["bob"], { users: ["ana", "meg"] }],
  ["c5", ["ana", "bob"], { users: ["zoe"] }],
  ["c6", ["zoe"], { notRequester: true }],
  ["c7", ["meg"], { roles: ["manager"] }],
];
const SEEN: readonly (readonly [Principal, string])[] = [
  [ANA, "c1 c3 c4 c5 c6"],
  [BOB, "c2 c4 c5 c6"],
  [MEG, "c3 c4 c6 c7"],
  [HOST, "c1 c2"],
  [EVERYBODY_ELSE, "c6"],
  [{ ...ANA, kind: "agent" }, "c1 c3 c5"],
  [{ ...EVERYBODY_ELSE, onBehalfOf: "bob" }, "c2 c4 c5 c6"],
];

async function fill(ledger: Ledger, status: ConfirmationStatus): Promise<SessionWriter> {
  const writer = new SessionWriter(ledger, `s-${status}`);
  const writes = RULES.flatMap(([id, requesters, approvers], i) => {
    // The deadlines run the other way, so that the order of a page is not that of the ids.
    const expiresAt = 2_000_000_000_000 - i;
    const requirements = oneApproval(approvers);
    const confirmation = { requesters, requirements, status, expiresAt, tool: i % 2 === 0 ? "even" : "odd" };
    return buildQuestion(writer.key, status === "requested" ? id : id.replace("c", "d"), {
      call: { args: { memo: "alpha" } },
      confirmation,
    });
  });
  await writer.commit([...writes, writer.journal("asked")]);
  return writer;
}

export const viewerCases: readonly LedgerCase[] = [
  {
    name: "whoever looks is given what is shown to them and nothing else, by pages of any size",
    async run({ open }) {
      const ledger = await open();
      await fill(ledger, "requested");
      await fill(ledger, "denied");
      for (const [who, seen] of SEEN) {
        const viewers = viewsAs(who);
        const opened = seen.split(" ").reverse().join(" ");
        for (const limit of [1, 2, 3, 50]) {
          const what = `${who.id} by pages of ${limit}`;
          checkEqual(await walk(ledger, { state: "open", viewers }, limit), opened, what);
          checkEqual(
            await walk(ledger, { state: "open", viewers, words: "alp" }, limit),
            opened,
            `${what}, words`,
          );
          checkEqual(
            await walk(ledger, { state: "open", viewers, words: "beta" }, limit),
            "",
            `${what}, none`,
          );
          const closed = opened.replaceAll("c", "d");
          checkEqual(await walk(ledger, { state: "closed", viewers }, limit), closed, `${what}, closed`);
          const status = ["denied"] as const;
          checkEqual(
            await walk(ledger, { state: "closed", viewers, status }, limit),
            closed,
            `${what}, denied`,
          );
        }
        const even = opened
          .split(" ")
          .filter((id) => Number(id.slice(1)) % 2 === 1)
          .join(" ");
        checkEqual(
          await walk(ledger, { state: "open", viewers, tool: "even" }, 1),
          even,
          `${who.id}, a tool`,
        );
        const session = "s-requested";
        checkEqual(
          await walk(ledger, { state: "open", viewers, session }, 1),
          opened,
          `${who.id}, a session`,
        );
        checkEqual(await walk(ledger, { state: "closed", viewers, session }, 1), "", `${who.id}, another`);
      }
      for (const state of ["open", "closed"] as const)
        checkEqual(await walk(ledger, { state, viewers: [] }, 2), "", "nobody");
    },
  },
  {
    name: "a question is shown to the same people after its answer, and no longer waits for any of them",
    async run({ open }) {
      const ledger = await open();
      const writer = await fill(ledger, "requested");
      await writer.commit([
        {
          kind: "confirmation-update",
          id: questionId(writer.key, "c3"),
          from: "requested",
          set: { status: "approved" },
        },
        {
          kind: "call-update",
          id: `${writer.key}.call-c3`,
          from: "waiting",
          attempt: 0,
          set: { status: "executing", attempt: 1, owner: "o" },
        },
      ]);
      for (const who of [ANA, MEG]) {
        const viewers = viewsAs(who);
        checkEqual(
          (await walk(ledger, { state: "open", viewers }, 50)).includes("c3"),
          false,
          `${who.id}, open`,
        );
        checkEqual(await walk(ledger, { state: "closed", viewers }, 1), "c3", `${who.id}, closed`);
        checkEqual(
          await walk(ledger, { state: "closed", viewers, status: ["executing"] }, 1),
          "c3",
          "running",
        );
      }
      const bobs = viewsAs(BOB);
      checkEqual(await walk(ledger, { state: "closed", viewers: bobs }, 1), "", "bob");
      checkEqual(
        await walk(ledger, { state: "closed", viewers: bobs, status: ["executing"] }, 1),
        "",
        "bob, running",
      );
    },
  },
  {
    name: "calls of unknown outcome are given to whoever asked for them",
    async run({ open }) {
      const ledger = await open();
      const unknown = { status: "unknown", attempt: 1 } as const;
      const bobs = new SessionWriter(ledger, "s1", { user: "bob" });
      await bobs.commit([
        { kind: "call-insert", call: buildCall("s1", "a", unknown) },
        { kind: "call-insert", call: buildCall("s1", "b", { ...unknown, requesters: ["service", "ana"] }) },
        {
          kind: "call-insert",
          call: buildCall("s1", "c", { ...unknown, confirmation: questionId("s1", "c9") }),
        },
        { kind: "call-insert", call: buildCall("s1", "d", { ...unknown, requesters: ["a\0"] }) },
        { kind: "call-insert", call: buildCall("s1", "e", unknown) },
      ]);
      const list = async (askedBy: readonly string[] | undefined, limit = 50): Promise<string> => {
        const who = askedBy === undefined ? {} : { askedBy };
        const { items, next } = await ledger.unknownCalls({ unasked: true, limit, ...who });
        return items.map(({ wireId }) => wireId).join(" ") + (next === undefined ? "" : " …");
      };
      checkEqual(await list(undefined), "a b d e", "all about which nobody was asked");
      checkEqual(await list(["bob"]), "a e", "bob's");
      checkEqual(await list(["bob"], 1), "a …", "bob's first");
      checkEqual(await list(["ana"], 1), "b", "ana's");
      checkEqual(await list(["eve"], 1), "", "nobody's");
      checkEqual(await list([], 1), "", "of nobody");
    },
  },
];

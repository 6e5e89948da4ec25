import { Engine, type Ledger } from "../../../src/engine/index.ts";
import { type Filling, FULL, fullSession } from "../ledger/full-session.ts";
import type { Plan } from "./plan-watch.ts";

/** Something that a server does again and again, and how much of the ledger it may look at. */
export interface PlanCase {
  readonly name: string;
  /** Rows that one step of one statement may look at. */
  readonly rows: number;
  read(ledger: Ledger, filling: Filling): Promise<unknown>;
}

const PAGE = 50;
// A page, and the row that tells whether there is another.
const ONE_PAGE = PAGE + 1;
const BATCH = 100;
// A list that no index narrows down all the way is looked through in pieces of so many.
const LOOKED_THROUGH = 200;
// Positions of records: those of the first record of each line of the log.
const PER_LINE = 4_096;
// How much of the inbox is looked through for words before their index is asked, and one row beyond.
const NEARBY = 2_001;
// How much of the history one statement looks through.
const WINDOW = 10_000;
/** Pages of the database for each row that a case may look at, and for finding the first. */
const PAGES_PER_ROW = 16;
const PAGES_TO_BEGIN = 60;

const inbox = (filter: Omit<Parameters<Ledger["confirmations"]>[0], "state">): PlanCase["read"] => {
  return (ledger) => twoPages((page) => ledger.confirmations({ state: "open", ...filter }, page));
};

const SOME = 101;
const some = fullSession(SOME);
const shownTo = (user: string): readonly string[] => [`asked:${user}`, `user:${user}`, "role:none", "known"];
const hosted = [{ app: FULL.app }, { app: FULL.otherApp, agents: [FULL.otherAgent] }];

/** Everything that is read or written while a ledger serves people, agents and channels. */
export const PLAN_CASES: readonly PlanCase[] = [
  { name: "the inbox", rows: ONE_PAGE, read: inbox({}) },
  { name: "the inbox, by status", rows: LOOKED_THROUGH, read: inbox({ status: ["requested"] }) },
  { name: "the inbox of a common tool", rows: ONE_PAGE, read: inbox({ tool: FULL.tool }) },
  { name: "the inbox of a rare tool", rows: ONE_PAGE, read: inbox({ tool: FULL.rareTool }) },
  { name: "the inbox of a tool that nobody calls", rows: 1, read: inbox({ tool: "none" }) },
  { name: "the inbox of a common agent", rows: ONE_PAGE, read: inbox({ agent: FULL.agent }) },
  { name: "the inbox of a rare agent", rows: ONE_PAGE, read: inbox({ agent: FULL.otherAgent }) },
  { name: "the inbox of a common app", rows: ONE_PAGE, read: inbox({ app: FULL.app }) },
  { name: "the inbox of a rare app", rows: ONE_PAGE, read: inbox({ app: FULL.otherApp }) },
  { name: "the inbox of a user", rows: ONE_PAGE, read: inbox({ user: some.user }) },
  { name: "the inbox of a session", rows: 1, read: inbox({ session: some.key }) },
  // Of a million a user has so many, and to sort them may be cheaper than to follow the index.
  { name: "the inbox of a user and an app", rows: 300, read: inbox({ user: some.user, app: FULL.app }) },
  {
    name: "the inbox of a busy user and an app",
    rows: LOOKED_THROUGH,
    read: inbox({ user: FULL.busyUser, app: FULL.app }),
  },
  {
    name: "the inbox, as it is gone through for whose it is",
    rows: ONE_PAGE,
    read: (ledger) => pages(20, (page) => ledger.confirmations({ state: "open" }, page)),
  },
  { name: "the inbox that somebody is shown", rows: ONE_PAGE, read: inbox({ viewers: shownTo(some.user) }) },
  {
    name: "the inbox that somebody with a quarter of everything is shown",
    rows: ONE_PAGE,
    read: inbox({ viewers: shownTo(FULL.busyUser) }),
  },
  {
    name: "the inbox that the host's own people are shown",
    rows: ONE_PAGE,
    read: inbox({ viewers: ["host"] }),
  },
  { name: "the inbox that nobody is shown", rows: 1, read: inbox({ viewers: shownTo("nobody") }) },
  {
    name: "the inbox that somebody is shown, of a tool",
    rows: NEARBY,
    read: inbox({ viewers: shownTo(some.user), tool: FULL.rareTool }),
  },
  {
    name: "the inbox that somebody is shown, by a word",
    rows: NEARBY,
    read: inbox({ viewers: shownTo(some.user), words: "reimburse" }),
  },
  {
    name: "the history that somebody is shown",
    rows: NEARBY,
    read: (ledger) =>
      twoPages((page) =>
        ledger.confirmations({ state: "closed", viewers: shownTo(some.user) }, { ...page, preview: true }),
      ),
  },
  { name: "the inbox by a common word", rows: NEARBY, read: inbox({ words: "reimburse" }) },
  { name: "the inbox by a rare word", rows: NEARBY, read: inbox({ words: "close acc" }) },
  {
    name: "the inbox of a user, by a common word",
    rows: NEARBY,
    read: inbox({ user: some.user, words: "transfer" }),
  },
  { name: "the inbox by a word that is nowhere", rows: NEARBY, read: inbox({ words: "nowhere" }) },
  {
    name: "what is pending in one session",
    rows: 5,
    read: async (ledger) => {
      await ledger.load({ session: { app: FULL.app, user: some.user, id: some.id } });
      await ledger.unanswered(some.key);
      await ledger.liveFrames(some.key);
      await ledger.steps(some.call);
      await ledger.calls([some.call, fullSession(SOME + 1).call]);
    },
  },
  {
    name: "one confirmation, call, frame and session",
    rows: 1,
    read: async (ledger) => {
      await ledger.load({ confirmation: some.confirmation });
      await ledger.load({ call: some.call });
      await ledger.load({ frame: some.frame });
      await ledger.load({ sessionKey: some.key });
    },
  },
  {
    name: "what a prompt is made of",
    rows: 3,
    read: async (ledger) => {
      await ledger.events(some.key);
      await ledger.events(some.key, { last: 2 });
      await ledger.state(some.key);
    },
  },
  {
    name: "the history, newest first",
    rows: WINDOW,
    read: (ledger) => twoPages((page) => ledger.confirmations({ state: "closed" }, page)),
  },
  {
    name: "what runs, and what is unknown",
    rows: 1_000,
    read: async (ledger) => {
      await twoPages((page) => ledger.confirmations({ state: "closed", status: ["executing"] }, page));
      await twoPages((page) => ledger.unknownCalls(page));
    },
  },
  {
    name: "what is due: deadlines, ready work, lost leases",
    // Whatever executes is looked at, to see whose it is.
    rows: 1_000,
    read: (ledger) => ledger.due(hosted, BATCH),
  },
  {
    name: "the journal after a position",
    rows: BATCH + 1,
    read: async (ledger, { pending, answered = 0 }) => {
      const last = (pending + answered) * PER_LINE;
      for (const after of [0, last / 2, last - 10 * PER_LINE, last])
        await ledger.journal.records({ after, limit: BATCH });
      await ledger.journal.records({ after: 10 * PER_LINE, until: 20 * PER_LINE, limit: BATCH });
      await ledger.journal.sessionRecords(some.key, { after: 0, limit: BATCH });
      await ledger.journal.streams(some.key, BATCH);
    },
  },
  {
    name: "the sessions of an app and of a user",
    rows: ONE_PAGE,
    read: async (ledger) => {
      await twoPages((page) => ledger.sessions({ app: FULL.app }, page));
      await twoPages((page) => ledger.sessions({ app: FULL.app, user: some.user }, page));
    },
  },
  {
    name: "the outbox: enqueue, take, end, the dead",
    rows: ONE_PAGE,
    read: async (ledger) => {
      const [channel] = FULL.channels;
      await ledger.outbox.nextDeliveryAt(channel);
      // Each is locked and then written, so that it is looked at twice.
      const [taken] = await ledger.outbox.takeDeliveries(channel, { limit: PAGE / 2, holdMs: 1_000 });
      if (taken !== undefined) await ledger.outbox.endDelivery(taken, { as: "delivered" });
      const from = await ledger.outbox.channelPlace(channel);
      await ledger.outbox.enqueue({ channel, from, to: from + 1, seqs: [from + 1] });
      await twoPages((page) => ledger.outbox.deadDeliveries(page));
    },
  },
  {
    name: "a lease, its renewal and its end",
    // All processes there are: so few rows are not worth an index.
    rows: 30,
    read: async (ledger) => {
      await ledger.owners.beat({ id: "owner-new", host: "here", pid: 1 }, 1_000);
      await ledger.owners.beat({ id: "owner-new", host: "here", pid: 1 }, 1_000);
      await ledger.owners.get("owner-new");
      await ledger.owners.retire("owner-new");
    },
  },
  {
    name: "an answer",
    rows: 20,
    read: async (ledger) => {
      const engine = new Engine({ ledger });
      // A different one each time; every second has the tool that its session's events tell of.
      const { confirmation, user } = fullSession((asked += 2));
      const answer = await engine.decisions.decide(
        { id: confirmation, confirmed: false },
        { by: { id: user } },
      );
      if (!answer.ok) throw new Error(`The answer was refused: ${answer.message}`);
    },
  },
];

let asked = 200;

/** What a plan does that a full ledger would make slow: one line each, nothing if all is well. */
export function faultsOf(plan: Plan, bound: number, big: ReadonlySet<string>): readonly string[] {
  const scans = plan.steps
    .filter(({ kind, table, rows }) => kind === "Seq Scan" && big.has(table ?? "") && rows > 0)
    .map(({ table }) => `reads all of ${table}`);
  const wide = plan.steps
    .filter(({ table, rows }) => table !== undefined && rows > bound)
    .map(({ kind, table, rows }) => `${kind} looks at ${rows} rows of ${table}, not at most ${bound}`);
  const most = bound * PAGES_PER_ROW + PAGES_TO_BEGIN;
  const far = plan.pages > most ? [`looks at ${plan.pages} pages, not at most ${most}`] : [];
  return [...scans, ...wide, ...far].map((fault) => `${fault}: ${plan.text.replaceAll(/\s+/g, " ").trim()}`);
}

type ReadPage = (request: { readonly limit: number; readonly cursor?: string }) => Promise<{
  readonly next?: string;
}>;

const twoPages = (read: ReadPage): Promise<void> => pages(2, read);

async function pages(count: number, read: ReadPage): Promise<void> {
  let cursor: string | undefined;
  for (let page = 0; page < count; page += 1) {
    ({ next: cursor } = await read({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }));
    if (cursor === undefined) return;
  }
}

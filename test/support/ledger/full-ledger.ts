import pg from "pg";
import {
  type CallRecord,
  type CallStatus,
  type Commit,
  type ConfirmationRecord,
  type Entry,
  type FrameRecord,
  type FrameStatus,
  searchableWords,
  valueDigest,
} from "../../../src/engine/index.ts";
import { applyCommit } from "../../../src/engine/store/apply-commit.ts";
import { WORD_FACET } from "../../../src/engine/store/word-index.ts";
import type { JsonValue } from "../../../src/protocol/index.ts";
import { openPostgresLedger } from "../../../src/stores/postgres/index.ts";

/** How full a ledger is made. Sessions are numbered from 0, those that wait for a person first. */
export interface Filling {
  /** Sessions in which a person is asked something. */
  readonly pending: number;
  /** Sessions that were answered. One in a hundred each is ready, executing, lost, unknown, or between two steps. */
  readonly answered?: number;
  /** One in so many of those that wait is past its deadline. */
  readonly overdueOneIn?: number;
  /** Deliveries that are due, for each of two channels. */
  readonly deliveries?: number;
  /** Of the tool that is asked about, so that an approval of it is not refused. */
  readonly definitionDigest?: string;
}

/** What the filled ledger speaks of. */
export const FULL = {
  app: "finance",
  agent: "finance_assistant",
  tool: "reimburse",
  /** Of every second session, and of one in a thousand. */
  otherTool: "transfer_funds",
  rareTool: "close_account",
  /** One session in twenty is another app's. */
  otherApp: "hr",
  otherAgent: "hr_assistant",
  users: 5_000,
  /** Of every fourth session. */
  busyUser: "user-busy",
  channels: ["pager", "ticket"],
  args: { amount: 2500 },
  livingOwner: "owner-living",
} as const;

/** The ids of the n-th session and of what is in it; they sort before whatever an engine makes. */
export function fullSession(n: number): {
  readonly key: string;
  readonly id: string;
  readonly user: string;
  readonly frame: string;
  readonly call: string;
  readonly confirmation: string;
} {
  const key = `0k${String(n).padStart(24, "0")}`;
  return {
    key,
    id: `session-${n}`,
    user: n % 4 === 3 ? FULL.busyUser : `user-${n % FULL.users}`,
    frame: `${key}.f`,
    call: `${key}.${WIRE_ID}`,
    confirmation: `adk-${key}.q`,
  };
}

/** Fills an empty ledger with complete sessions: each that waits can be decided. Takes about 200 µs for each. */
export async function fillLedger(url: string, filling: Filling): Promise<void> {
  const ledger = await openPostgresLedger({ url });
  const argsDigest = valueDigest(ledger.digestKey, FULL.args);
  await ledger.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Nothing here has to survive a crash.
    await client.query("set synchronous_commit = off");
    const { pending, answered = 0, deliveries = 0 } = filling;
    const terms = { ...filling, argsDigest, now: Date.now() };
    for (let first = 0; first < pending + answered; first += BATCH) {
      const last = Math.min(first + BATCH, pending + answered);
      await insert(
        client,
        range(first, last, (n) => sessionOf(n, terms)),
      );
    }
    for (const channel of FULL.channels) {
      for (let first = 1; first <= deliveries * 2; first += BATCH) {
        const last = Math.min(first + BATCH, deliveries * 2 + 1);
        await insert(
          client,
          range(first, last, (n) => deliveryOf(channel, n, terms)),
        );
      }
      await insert(client, [{ entries: [], items: [itemOf("channel", channel, deliveries)] }]);
    }
    await insert(client, [{ entries: [], items: [itemOf("word index", "place", pending + answered)] }]);
    await client.query(
      `insert into countersign.owners values ($1, 'somewhere', 1, $2, $3, 0, countersign.history())`,
      [FULL.livingOwner, terms.now + DAY_MS, terms.now],
    );
    await client.query("select setval('countersign.log_seq', $1)", [pending + answered]);
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

const BATCH = 500;
const WIRE_ID = "call-1";
const INVOCATION = `e-${"0".repeat(34)}`;
const HASH = "h".repeat(43);
const DAY_MS = 24 * 60 * 60 * 1_000;
const EVENTS = 3;

interface Terms extends Filling {
  readonly argsDigest: string;
  readonly now: number;
}

/** What is inserted together. */
interface Rows {
  readonly document?: readonly unknown[];
  readonly log?: readonly unknown[];
  readonly entries: readonly Entry[];
  readonly items: readonly (readonly unknown[])[];
}

const TABLES = {
  documents: ["text", "text", "text", "text", "bigint", "text", "bigint", "boolean", "text"],
  log: ["bigint", "text", "bigint", "bigint", "text", "text", "text", "bigint", "bigint", "text", "text"],
  entries: ["text", "text", "bigint", "text", "text"],
} as const;
const INSERT_ITEMS =
  "insert into countersign.items select kind, id, array(select json_array_elements_text(value::json)), 1, null, 0 " +
  "from unnest($1::text[], $2::text[], $3::text[]) g (kind, id, value)";

async function insert(client: pg.Client, rows: readonly Rows[]): Promise<void> {
  const documents = rows.flatMap(({ document }) => (document === undefined ? [] : [document]));
  const log = rows.flatMap((each) => (each.log === undefined ? [] : [each.log]));
  const entries = rows.flatMap((each) =>
    each.entries.map(({ facet, value, sort, id, note }) => [facet, value, sort, id, note]),
  );
  for (const [table, found] of Object.entries({ documents, log, entries })) {
    const types = TABLES[table as keyof typeof TABLES];
    const arrays = types.map((_, at) => found.map((row) => row[at] ?? null));
    const given = types.map((type, at) => `$${at + 1}::${type}[]`).join(", ");
    await client.query(`insert into countersign.${table} select * from unnest(${given})`, arrays);
  }
  const items = rows.flatMap((each) => each.items);
  await client.query(
    INSERT_ITEMS,
    [0, 1, 2].map((at) => items.map((row) => row[at])),
  );
}

/** As the store has an item's value: the names and values of an object in turn, or the whole of anything else. */
function itemOf(kind: string, id: string, value: JsonValue): readonly unknown[] {
  const parts =
    typeof value === "object" && value !== null
      ? Object.entries(value).flatMap((member) => member.map((part: unknown) => JSON.stringify(part)))
      : [JSON.stringify(value)];
  return [kind, id, JSON.stringify(parts)];
}

function sessionOf(n: number, terms: Terms): Rows {
  const { key, id, user } = fullSession(n);
  const { app } = partsOf(n);
  const { frame, call, confirmation } = recordsOf(n, terms);
  const commit = {
    session: { key, version: 0, create: { app, user, id } },
    change: {
      nextSeq: EVENTS + 1,
      open: n < terms.pending ? 1 : 0,
      ready: 0,
      bytes: 0,
      chain: { n: 1, hash: HASH },
      updatedAt: terms.now,
    },
    writes: [
      { kind: "frame-insert", frame },
      { kind: "call-insert", call },
      { kind: "confirmation-insert", confirmation },
    ],
  } as const;
  const changed = applyCommit(undefined, commit as unknown as Commit);
  if ("ok" in changed) throw new Error("A filled session is refused.");
  const words = wordsOf(confirmation, call);
  const body = JSON.stringify({
    records: [{ confirmation: confirmation.id, call: call.id }],
    events: eventsOf(n, terms.now),
  });
  return {
    document: [key, app, user, id, 1, HASH, terms.now, false, JSON.stringify(changed.document)],
    log: [n + 1, key, 1, terms.now, '["confirmation-requested"]', HASH, HASH, EVENTS, 0, body, null],
    entries: [...changed.add, ...words.entries],
    items: words.items,
  };
}

function wordsOf(
  confirmation: ConfirmationRecord,
  call: CallRecord,
): { readonly entries: readonly Entry[]; readonly items: Rows["items"] } {
  const { id, status, expiresAt: sort = Number.MAX_SAFE_INTEGER } = confirmation;
  if (status !== "requested") return { entries: [], items: [] };
  const words = searchableWords(confirmation, call);
  return {
    entries: words.map((value) => ({ facet: WORD_FACET, value, sort, id })),
    items: [itemOf("words of question", id, { words: [...words], sort, argsDigest: call.argsDigest })],
  };
}

function partsOf(n: number): { readonly app: string; readonly agent: string; readonly tool: string } {
  const isOther = n % 20 === 0;
  const tool = n % 2 === 0 ? FULL.tool : FULL.otherTool;
  return {
    app: isOther ? FULL.otherApp : FULL.app,
    agent: isOther ? FULL.otherAgent : FULL.agent,
    tool: n % 1000 === 7 ? FULL.rareTool : tool,
  };
}

const CALL_STATUSES: readonly CallStatus[] = ["succeeded", "ready", "executing", "unknown", "executing"];
const CALL_OWNERS: { readonly [rest: number]: string } = { 2: "owner-gone", 4: FULL.livingOwner };

function frameStatus(rest: number): FrameStatus {
  if (rest < 5) return "waiting";
  if (rest === 5) return "ready";
  return rest === 6 ? "stepping" : "done";
}

function recordsOf(
  n: number,
  { pending, overdueOneIn, definitionDigest = "v1:none", argsDigest, now }: Terms,
): { readonly frame: FrameRecord; readonly call: CallRecord; readonly confirmation: ConfirmationRecord } {
  const ids = fullSession(n);
  const isOpen = n < pending;
  const rest = n % 100;
  const isLate = overdueOneIn !== undefined && n % overdueOneIn === 9;
  const shared = { session: ids.key, ...partsOf(n) };
  const { tool: _tool, ...ofFrame } = shared;
  const owner = isOpen ? undefined : CALL_OWNERS[rest];
  return {
    frame: {
      ...ofFrame,
      id: ids.frame,
      invocation: INVOCATION,
      kind: "llm",
      path: [shared.agent],
      cursor: null,
      status: isOpen ? "waiting" : frameStatus(rest),
      turn: 1,
      calls: [ids.call],
      open: 1,
      ...(!isOpen && rest === 6 ? { owner: "owner-gone" } : {}),
    },
    call: {
      ...shared,
      id: ids.call,
      frame: ids.frame,
      turn: 1,
      ord: 0,
      wireId: WIRE_ID,
      args: FULL.args,
      unparsed: false,
      argsDigest,
      definitionDigest,
      secrets: [],
      repeatable: false,
      status: isOpen ? "waiting" : (CALL_STATUSES[rest] ?? "succeeded"),
      attempt: 0,
      confirmation: ids.confirmation,
      rounds: 1,
      refused: false,
      ...(owner === undefined ? {} : { owner }),
    },
    confirmation: {
      ...shared,
      id: ids.confirmation,
      call: ids.call,
      round: 0,
      path: [shared.agent],
      user: ids.user,
      requesters: [ids.user],
      approvers: "requester",
      invocation: INVOCATION,
      argsDigest,
      shown: { hint: "Approve execution of the tool?", why: ["the tool requires confirmation"] },
      shownVersion: 1,
      status: isOpen ? "requested" : "approved",
      requestedAt: now,
      expiresAt: isLate ? now - DAY_MS : now + DAY_MS + ((n * 7919) % pending),
      votes: [],
    },
  };
}

/** What was said in each session, up to the question. */
function eventsOf(n: number, timestamp: number): readonly unknown[] {
  const functionCall = { id: WIRE_ID, name: FULL.tool, args: FULL.args };
  const drafts = [
    {
      author: "user",
      content: { role: "user", parts: [{ text: "Please reimburse me $2500 for the trip." }] },
    },
    { author: FULL.agent, content: { role: "model", parts: [{ functionCall }] } },
    {
      author: FULL.agent,
      asks: [{ id: fullSession(n).confirmation, call: functionCall, hint: "Approve it?" }],
    },
  ];
  return drafts.map((draft, i) => ({ id: `${i}-${n}`, timestamp, invocationId: INVOCATION, ...draft }));
}

/** One in a thousand is given up; the second half of a channel waits for its time. */
function deliveryOf(channel: string, n: number, { deliveries = 0, now }: Terms): Rows {
  const seq = String(n).padStart(16, "0");
  const id = `${channel} ${seq}`;
  const isDead = n % 1000 === 0;
  const nextAt = now + (n <= deliveries ? n - DAY_MS : DAY_MS);
  const entry = isDead
    ? { facet: "dead delivery", value: "", sort: 0, id }
    : { facet: "delivery", value: channel, sort: nextAt, id: seq };
  const kept = { attempt: 0, since: now, nextAt, ...(isDead ? { deadAt: now } : {}) };
  return { entries: [entry], items: [itemOf("delivery", id, kept)] };
}

function range<T>(first: number, last: number, make: (n: number) => T): readonly T[] {
  return Array.from({ length: last - first }, (_, i) => make(first + i));
}

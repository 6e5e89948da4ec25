import pg from "pg";
import {
  type CallRecord,
  type ConfirmationRecord,
  type FrameRecord,
  searchableWords,
  valueDigest,
} from "../../../src/engine/index.ts";
import { openPostgresLedger } from "../../../src/stores/postgres/index.ts";
import {
  FRAME_COLUMNS,
  STORED_CALL_COLUMNS,
  STORED_CONFIRMATION_COLUMNS,
} from "../../../src/stores/sql/columns.ts";
import type { SqlValue } from "../../../src/stores/sql/row.ts";
import { fromCall, fromConfirmation, fromFrame } from "../../../src/stores/sql/rows.ts";

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
    confirmation: `adk-00${String(n).padStart(24, "0")}`,
  };
}

/** Fills an empty ledger with complete rows: each that waits can be decided. Takes about 20 µs a row. */
export async function fillLedger(url: string, filling: Filling): Promise<void> {
  const ledger = await openPostgresLedger({ url });
  const argsDigest = valueDigest(ledger.digestKey, FULL.args);
  await ledger.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Nothing here has to survive a crash.
    await client.query("set synchronous_commit = off");
    for (const text of statements(filling, argsDigest)) await client.query(text);
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

const WIRE_ID = "call-1";
const INVOCATION = `e-${"0".repeat(34)}`;
const HASH = "h".repeat(43);
const DAY_MS = 24 * 60 * 60 * 1_000;
const EVENTS = 3;

// Stands for the number of the session, with all its digits.
const N = "{n}";
const KEY = `0k${N}`;
const CALL = `${KEY}.${WIRE_ID}`;
const CONFIRMATION = `adk-00${N}`;

const OTHERS = "n % 20 = 0";
const APP = `case when ${OTHERS} then '${FULL.otherApp}' else '${FULL.app}' end`;
const AGENT = `case when ${OTHERS} then '${FULL.otherAgent}' else '${FULL.agent}' end`;
const TOOL = `case when n % 1000 = 7 then '${FULL.rareTool}' when n % 2 = 0 then '${FULL.tool}' else '${FULL.otherTool}' end`;
const USER = `case when n % 4 = 3 then '${FULL.busyUser}' else 'user-' || n % ${FULL.users} end`;

/** SQL for some of the columns; the others have the same value everywhere, but for the number of the session. */
type Varying = { readonly [column: string]: string };

function* statements(filling: Filling, argsDigest: string): Generator<string> {
  const { pending, answered = 0, deliveries = 0, overdueOneIn, definitionDigest = "v1:none" } = filling;
  const now = Date.now();
  const isOpen = `n < ${pending}`;
  const insert = (
    table: string,
    columns: readonly string[],
    values: readonly SqlValue[],
    varying: Varying = {},
  ): string =>
    `insert into countersign.${table} (${columns.map((column) => `"${column}"`).join(", ")}) select ` +
    `${columns.map((column, i) => varying[column] ?? cell(values[i] ?? null)).join(", ")} ` +
    `from (select n, lpad(n::text, 24, '0') as digits from generate_series(0, ${pending + answered - 1}) n) numbers`;

  yield insert(
    "sessions",
    SESSION,
    [KEY, null, null, null, 3, EVENTS + 1, null, 0, 0, 1, HASH, now, now, 0],
    {
      app: APP,
      user: USER,
      id: "'session-' || n",
      open: `case when ${isOpen} then 1 else 0 end`,
    },
  );
  yield insert("frames", FRAME_COLUMNS, fromFrame(frame()), {
    app: APP,
    agent: AGENT,
    path: `'["' || ${AGENT} || '"]'`,
    status: `case when ${isOpen} then 'waiting' else ${FRAME_STATUS} end`,
    owner: `case when not ${isOpen} and n % 100 = 6 then 'owner-gone' end`,
  });
  yield insert("calls", STORED_CALL_COLUMNS, fromCall(call(argsDigest, definitionDigest)), {
    app: APP,
    agent: AGENT,
    tool: TOOL,
    status: `case when ${isOpen} then 'waiting' else ${CALL_STATUS} end`,
    owner: `case when ${isOpen} then null when n % 100 = 2 then 'owner-gone' when n % 100 = 4 then '${FULL.livingOwner}' end`,
  });
  const soon = `${now + DAY_MS} + (n::bigint * 7919) % ${pending}`;
  const ofConfirmation = {
    app: APP,
    agent: AGENT,
    tool: TOOL,
    user: USER,
    path: `'["' || ${AGENT} || '"]'`,
    requesters: `'["' || ${USER} || '"]'`,
    viewers: `'["asked:' || ${USER} || '","host"]'`,
    status: `case when ${isOpen} then 'requested' else 'approved' end`,
    deadline:
      overdueOneIn === undefined
        ? soon
        : `case when n % ${overdueOneIn} = 9 then ${now - DAY_MS} else ${soon} end`,
  };
  yield insert(
    "confirmations",
    STORED_CONFIRMATION_COLUMNS,
    fromConfirmation(confirmation(argsDigest, now)),
    ofConfirmation,
  );
  yield `insert into countersign.inbox (id, call, session, app, agent, "user", tool, deadline)
    select id, call, session, app, agent, "user", tool, deadline from countersign.confirmations where status = 'requested'`;
  yield `insert into countersign.searchable (confirmation, session, args_digest, words)
    select c.id, c.session, c.args_digest, array_to_tsvector(w.words) from countersign.confirmations c
    join (values ${searchWords()}) w (tool, agent, words) on w.tool = c.tool and w.agent = c.agent where c.status = 'requested'`;
  for (const [place, body] of events(now).entries())
    yield insert("events", ["session", "seq", "body"], [KEY, place + 1, body]);
  const told = JSON.stringify({ confirmation: CONFIRMATION, call: CALL });
  yield insert("journal", JOURNAL, [null, KEY, 1, now, "confirmation-requested", HASH, HASH, told, 0], {
    seq: "nextval('countersign.journal_seq')",
  });
  yield "update countersign.meta set value = (select max(seq) from countersign.journal) where name = 'search-place'";
  yield `insert into countersign.owners values ('${FULL.livingOwner}', 'somewhere', 1, ${now + DAY_MS}, ${now}, 0, countersign.history())`;
  for (const channel of FULL.channels) {
    yield `insert into countersign.channels values ('${channel}', ${deliveries})`;
    // Others of the channel wait for their time.
    yield `insert into countersign.deliveries (channel, seq, attempt, since, next_at, dead_at)
      select '${channel}', n, 0, ${now}, ${now} + case when n <= ${deliveries} then n - ${DAY_MS} else ${DAY_MS} end,
      case when n % 1000 = 0 then ${now} end from generate_series(1, ${deliveries * 2}) n`;
  }
}

const SESSION = [
  "key",
  "app",
  "user",
  "id",
  "version",
  "next_seq",
  "open",
  "ready",
  "bytes",
  "chain_n",
  "chain_hash",
  "created_at",
  "updated_at",
  "commit_id",
] as const;
const JOURNAL = ["seq", "stream", "n", "at", "kind", "body_digest", "hash", "body", "commit_id"] as const;
const CALL_STATUS =
  "case n % 100 when 1 then 'ready' when 2 then 'executing' when 3 then 'unknown' when 4 then 'executing' else 'succeeded' end";
const FRAME_STATUS =
  "case when n % 100 < 5 then 'waiting' when n % 100 = 5 then 'ready' when n % 100 = 6 then 'stepping' else 'done' end";

function frame(): FrameRecord {
  return {
    id: `${KEY}.f`,
    session: KEY,
    app: "",
    invocation: INVOCATION,
    kind: "llm",
    agent: "",
    path: [],
    cursor: null,
    status: "waiting",
    turn: 1,
    calls: [CALL],
    open: 1,
  };
}

function call(argsDigest: string, definitionDigest: string): CallRecord {
  return {
    id: CALL,
    session: KEY,
    app: "",
    frame: `${KEY}.f`,
    turn: 1,
    ord: 0,
    wireId: WIRE_ID,
    agent: "",
    tool: "",
    args: FULL.args,
    unparsed: false,
    argsDigest,
    definitionDigest,
    secrets: [],
    repeatable: false,
    status: "waiting",
    attempt: 0,
    confirmation: CONFIRMATION,
    rounds: 1,
    refused: false,
  };
}

function confirmation(argsDigest: string, requestedAt: number): ConfirmationRecord {
  return {
    id: CONFIRMATION,
    call: CALL,
    round: 0,
    session: KEY,
    app: "",
    agent: "",
    path: [],
    user: "",
    tool: "",
    requesters: [],
    approvers: "requester",
    invocation: INVOCATION,
    argsDigest,
    shown: { hint: "Approve execution of the tool?", why: ["the tool requires confirmation"] },
    shownVersion: 1,
    status: "requested",
    requestedAt,
    votes: [],
  };
}

/** What was said in each session, up to the question. */
function events(timestamp: number): readonly string[] {
  const functionCall = { id: WIRE_ID, name: FULL.tool, args: FULL.args };
  const drafts = [
    {
      author: "user",
      content: { role: "user", parts: [{ text: "Please reimburse me $2500 for the trip." }] },
    },
    { author: FULL.agent, content: { role: "model", parts: [{ functionCall }] } },
    { author: FULL.agent, asks: [{ id: CONFIRMATION, call: functionCall, hint: "Approve it?" }] },
  ];
  return drafts.map((draft, i) =>
    JSON.stringify({ id: `${i}${N}`, timestamp, invocationId: INVOCATION, ...draft }),
  );
}

function searchWords(): string {
  return [FULL.tool, FULL.otherTool, FULL.rareTool]
    .flatMap((tool) => [FULL.agent, FULL.otherAgent].map((agent) => ({ tool, agent })))
    .map(({ tool, agent }) => {
      const words = searchableWords({ tool, agent }, { args: FULL.args, secrets: [] });
      return `('${tool}', '${agent}', array[${words.map(literal).join(", ")}])`;
    })
    .join(", ");
}

function cell(value: SqlValue): string {
  if (value === null) return "null";
  if (typeof value !== "string") return String(value);
  return value.includes(N) ? `replace(${literal(value)}, '${N}', digits)` : literal(value);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

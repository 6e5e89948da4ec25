import { bodyDigest } from "../../../src/engine/common/digest.ts";
import {
  type CallRecord,
  type CallStatus,
  type Commit,
  type ConfirmationRecord,
  documentText,
  type Entry,
  type FrameRecord,
  type FrameStatus,
  type LogRow,
  oneApproval,
  searchableWords,
  valueDigest,
} from "../../../src/engine/index.ts";
import { CHAIN_START, chainHasher, rowBody, rowHash } from "../../../src/engine/journal/index.ts";
import { applyCommit } from "../../../src/engine/store/apply-commit.ts";
import { WORD_FACET } from "../../../src/engine/store/lists/word-index.ts";
import type { JsonValue } from "../../../src/protocol/index.ts";

/** How full a ledger is made. Sessions are numbered from 0, those that wait for a person first. */
export interface Filling {
  /** Sessions in which a person is asked something. */
  readonly pending: number;
  /** Sessions that were answered. One in a hundred each is ready, executing, lost, unknown, or between two steps. */
  readonly answered?: number;
  /** All that were answered have ended. */
  readonly ended?: true;
  /** One in so many of those that wait is past its deadline. */
  readonly overdueOneIn?: number;
  /** Deliveries that are due, for each of two channels. */
  readonly deliveries?: number;
  /** Of the tool that is asked about, so that an approval of it is not refused. */
  readonly definitionDigest?: string;
  /** When all of them were asked; now, unless told. */
  readonly askedAt?: number;
  /** All sessions are of the one app, so that whoever hosts it can run any of them. */
  readonly oneApp?: true;
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

const WIRE_ID = "call-1";
const INVOCATION = `e-${"0".repeat(34)}`;
export const DAY_MS = 24 * 60 * 60 * 1_000;
const EVENTS = 3;
const NO_DEFINITION = "v1:none";
/** Without a secret: what a ledger is filled with verifies. */
const HASHER = chainHasher(undefined);

/** A filling, and what all its sessions share. */
export interface FullTerms extends Filling {
  readonly digestKey: Uint8Array;
  readonly argsDigest: string;
  readonly now: number;
}

export function fullTerms(digestKey: Uint8Array, filling: Filling): FullTerms {
  return {
    ...filling,
    digestKey,
    argsDigest: valueDigest(digestKey, FULL.args),
    now: filling.askedAt ?? Date.now(),
  };
}

/** What one session, or something beside sessions, is in a store. */
export interface FullRows {
  readonly document?: {
    readonly key: string;
    readonly app: string;
    readonly user: string;
    readonly id: string;
    readonly head: string;
    readonly updatedAt: number;
    readonly body: string;
  };
  readonly log?: LogRow;
  readonly entries: readonly Entry[];
  readonly items: readonly FullItem[];
}

export interface FullItem {
  readonly kind: string;
  readonly id: string;
  readonly value: JsonValue;
}

/** Says that the words of the first so many lines of the log can be searched. */
export function wordsIndexed(lines: number): FullItem {
  return { kind: "word index", id: "place", value: lines };
}

/** The n-th session, as one commit made it. */
export function fullRows(n: number, terms: FullTerms): FullRows {
  const { key, id, user } = fullSession(n);
  const { frame, call, confirmation } = recordsOf(n, terms);
  const { app } = call;
  const log = logRowOf(n, terms, { call, confirmation });
  const commit = {
    session: { key, version: 0, create: { app, user, id } },
    change: {
      nextSeq: EVENTS + 1,
      open: n < terms.pending ? 1 : 0,
      ready: 0,
      bytes: 0,
      chain: { n: log.n, hash: log.hash },
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
  return {
    document: {
      key,
      app,
      user,
      id,
      head: log.hash,
      updatedAt: terms.now,
      body: documentText(key, changed.document),
    },
    log,
    entries: [...changed.add, ...words.entries],
    items: words.items,
  };
}

function logRowOf(
  n: number,
  { digestKey, now }: FullTerms,
  { call, confirmation }: { readonly call: CallRecord; readonly confirmation: ConfirmationRecord },
): LogRow {
  const { id, session, round, tool, argsDigest, app, agent, path, user, requesters } = confirmation;
  const { requirements, expiresAt, shown } = confirmation;
  const { args, definitionDigest } = call;
  const { hint, why } = shown;
  const about = { confirmation: id, call: call.id, tool, round, argsDigest, app, agent, path, user };
  const record = { ...about, requesters, args, hint, why, requirements, definitionDigest, expiresAt };
  const texts = eventsOf(n).map((event) => JSON.stringify(event));
  const body = rowBody(session, [JSON.stringify(record)], texts);
  const row = {
    session,
    n: 1,
    at: now,
    kinds: ["confirmation-requested"],
    digest: bodyDigest(digestKey, body),
  };
  return { ...row, seq: n + 1, hash: rowHash(HASHER, CHAIN_START, row, 0), events: EVENTS, body };
}

function wordsOf(confirmation: ConfirmationRecord, call: CallRecord): Pick<FullRows, "entries" | "items"> {
  const { id, status, expiresAt: sort = Number.MAX_SAFE_INTEGER } = confirmation;
  if (status !== "requested") return { entries: [], items: [] };
  const words = searchableWords(confirmation, call);
  return {
    entries: words.map((value) => ({ facet: WORD_FACET, value, sort, id })),
    items: [
      { kind: "words of question", id, value: { words: [...words], sort, argsDigest: call.argsDigest } },
    ],
  };
}

function partsOf(
  n: number,
  { oneApp }: Filling,
): { readonly app: string; readonly agent: string; readonly tool: string } {
  const isOther = oneApp !== true && n % 20 === 0;
  const tool = n % 2 === 0 ? FULL.tool : FULL.otherTool;
  return {
    app: isOther ? FULL.otherApp : FULL.app,
    agent: isOther ? FULL.otherAgent : FULL.agent,
    tool: n % 1000 === 7 ? FULL.rareTool : tool,
  };
}

const CALL_STATUSES: readonly CallStatus[] = ["succeeded", "ready", "executing", "unknown", "executing"];
const ENDED = 99;
const CALL_OWNERS: { readonly [rest: number]: string } = { 2: "owner-gone", 4: FULL.livingOwner };

function frameStatus(rest: number): FrameStatus {
  if (rest < 5) return "waiting";
  if (rest === 5) return "ready";
  return rest === 6 ? "stepping" : "done";
}

function recordsOf(
  n: number,
  terms: FullTerms,
): { readonly frame: FrameRecord; readonly call: CallRecord; readonly confirmation: ConfirmationRecord } {
  const { pending, overdueOneIn, definitionDigest = NO_DEFINITION, argsDigest, now } = terms;
  const ids = fullSession(n);
  const isOpen = n < pending;
  const rest = terms.ended === true ? ENDED : n % 100;
  const isLate = overdueOneIn !== undefined && n % overdueOneIn === 9;
  const shared = { session: ids.key, ...partsOf(n, terms) };
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
      requirements: oneApproval("requester"),
      invocation: INVOCATION,
      argsDigest,
      shown: { hint: `Approve execution of tool ${shared.tool}?`, why: ["the tool requires confirmation"] },
      shownVersion: 1,
      status: isOpen ? "requested" : "approved",
      requestedAt: now,
      expiresAt: isLate ? now - DAY_MS : now + DAY_MS + ((n * 7919) % pending),
      votes: [],
    },
  };
}

/** What was said in each session, up to the question. */
function eventsOf(n: number): readonly unknown[] {
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
  return drafts.map((draft, i) => ({ id: `${i}-${n}`, invocationId: INVOCATION, ...draft }));
}

/** One in a thousand is given up; the second half of a channel waits for its time. */
export function deliveryRows(channel: string, n: number, { deliveries = 0, now }: FullTerms): FullRows {
  const seq = String(n).padStart(16, "0");
  const id = `${channel} ${seq}`;
  const isDead = n % 1000 === 0;
  const nextAt = now + (n <= deliveries ? n - DAY_MS : DAY_MS);
  const entry = isDead
    ? { facet: "dead delivery", value: "", sort: 0, id }
    : { facet: "delivery", value: channel, sort: nextAt, id };
  const kept = { attempt: 0, since: now, nextAt, ...(isDead ? { deadAt: now } : {}) };
  return { entries: [entry], items: [{ kind: "delivery", id, value: kept }] };
}

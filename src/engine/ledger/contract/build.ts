import type { JsonValue, StoredEvent } from "../../../protocol/index.ts";
import { rowBody } from "../../journal/index.ts";
import { oneApproval } from "../../people/index.ts";
import type { Commit, CommitOutcome, SessionName, Write } from "../commit.ts";
import type { IdempotentRequest } from "../idempotency.ts";
import type { Ledger } from "../ledger.ts";
import type { CallRecord } from "../records/call-record.ts";
import type { ConfirmationRecord } from "../records/confirmation-record.ts";
import type { FrameRecord } from "../records/frame-record.ts";

const APP = "bank";
const AT = 1_800_000_000_000;

/** What a commit may say beside its writes. */
export interface CommitOptions {
  readonly sync?: boolean;
  readonly owner?: string;
  readonly open?: number;
  readonly ready?: number;
  readonly bytes?: number;
  readonly updatedAt?: number;
  readonly deletedAt?: number;
  /** Instead of the one that fits. */
  readonly version?: number;
}

/**
 * Writes to one session and keeps count, as the engine would: each commit names the version that the last
 * successful one left behind. The first creates the session.
 */
export class SessionWriter {
  readonly key: string;
  readonly name: SessionName;
  readonly #ledger: Ledger;
  version = 0;
  nextSeq = 1;

  constructor(ledger: Ledger, key: string, name: Partial<SessionName> = {}) {
    this.#ledger = ledger;
    this.key = key;
    this.name = { app: APP, user: "ana", id: key, ...name };
  }

  async commit(writes: readonly (Write | Told)[] = [], options: CommitOptions = {}): Promise<CommitOutcome> {
    const outcome = await this.#ledger.commit(this.toCommit(writes, options));
    if (outcome.ok) this.version += 1;
    return outcome;
  }

  toCommit(given: readonly (Write | Told)[], options: CommitOptions): Commit {
    const {
      version = this.version,
      open = 0,
      ready = 0,
      bytes = 0,
      updatedAt = AT,
      deletedAt,
      owner,
      sync = false,
    } = options;
    return {
      session: { key: this.key, version, ...(version === 0 ? { create: this.name } : {}) },
      change: {
        nextSeq: this.nextSeq,
        open,
        ready,
        bytes,
        chain: { n: version + 1, hash: `hash-${version + 1}` },
        updatedAt,
        ...(deletedAt === undefined ? {} : { deletedAt }),
      },
      writes: given.filter((each) => !isTold(each)),
      log: buildLogRow(this.key, version + 1, {
        at: updatedAt,
        events: this.nextSeq - 1,
        told: given.filter(isTold),
      }),
      ...(owner === undefined ? {} : { owner }),
      sync,
    };
  }

  event(text: string): Told {
    const seq = this.nextSeq++;
    return { kind: "event", event: buildEvent(`${this.key}-e${seq}`, text) };
  }

  journal(kind: string, body: JsonValue = { kind }): Told {
    return { kind: "record", of: kind, body };
  }
}

/** What a commit says has happened: it goes to the log. */
export type Told =
  | { readonly kind: "event"; readonly event: StoredEvent }
  | { readonly kind: "record"; readonly of: string; readonly body: JsonValue };

function isTold(write: Write | Told): write is Told {
  return write.kind === "event" || write.kind === "record";
}

function buildLogRow(
  session: string,
  n: number,
  { at, events, told }: { readonly at: number; readonly events: number; readonly told: readonly Told[] },
): Commit["log"] {
  const records = told.filter((each) => each.kind === "record");
  const said = told.filter((each) => each.kind === "event");
  return {
    session,
    n,
    at,
    kinds: records.map(({ of }) => of),
    digest: `digest-${n}`,
    hash: `hash-${n}`,
    events,
    body: rowBody(
      session,
      records.map(({ body }) => JSON.stringify(body)),
      said.map(({ event }) => JSON.stringify(event)),
    ),
  };
}

export function buildEvent(id: string, text: string): StoredEvent {
  return {
    id,
    invocationId: "i1",
    author: "user",
    timestamp: AT,
    content: { role: "user", parts: [{ text }] },
  };
}

/** The id of a question: its session and 26 characters of its own. */
export function questionId(session: string, name: string): string {
  return `adk-${session}${name.padEnd(26, "-")}`;
}

/** What an id says beside its session. */
export function nameIn(id: string): string {
  return id.startsWith("adk-") ? id.slice(-26).replace(/-+$/, "") : id.slice(id.indexOf(".") + 1);
}

/** `name` becomes the id `<session>.<name>`. */
export function buildFrame(session: string, name: string, over: Partial<FrameRecord> = {}): FrameRecord {
  return {
    id: `${session}.${name}`,
    session,
    app: APP,
    invocation: "i1",
    kind: "llm",
    agent: "teller",
    path: ["teller"],
    cursor: null,
    status: "waiting",
    turn: 1,
    calls: [],
    open: 0,
    ...over,
  };
}

/** `wireId` becomes the id `<session>.<wireId>`. */
export function buildCall(session: string, wireId: string, over: Partial<CallRecord> = {}): CallRecord {
  return {
    id: `${session}.${wireId}`,
    session,
    app: APP,
    turn: 1,
    ord: 0,
    wireId,
    agent: "teller",
    tool: "transfer",
    args: { amount: 2500 },
    argsDigest: "args-digest",
    definitionDigest: "definition-digest",
    secrets: [],
    repeatable: false,
    unparsed: false,
    status: "waiting",
    attempt: 0,
    rounds: 0,
    refused: false,
    ...over,
  };
}

export function buildConfirmation(
  call: CallRecord,
  name: string,
  over: Partial<ConfirmationRecord> = {},
): ConfirmationRecord {
  return {
    id: questionId(call.session, name),
    call: call.id,
    round: 0,
    session: call.session,
    app: call.app,
    agent: call.agent,
    path: [call.agent],
    user: "ana",
    tool: call.tool,
    requesters: ["ana"],
    requirements: oneApproval("requester"),
    invocation: "i1",
    argsDigest: call.argsDigest,
    shown: { hint: "Pay out $2500?", why: ["tool"] },
    shownVersion: 1,
    status: "requested",
    requestedAt: AT,
    votes: [],
    ...over,
  };
}

/** A call and a question about it, as the writes that store them. */
export function buildQuestion(
  session: string,
  name: string,
  over: { readonly call?: Partial<CallRecord>; readonly confirmation?: Partial<ConfirmationRecord> } = {},
): Write[] {
  const call = buildCall(session, `call-${name}`, {
    confirmation: questionId(session, name),
    ...over.call,
  });
  return [
    { kind: "call-insert", call },
    { kind: "confirmation-insert", confirmation: buildConfirmation(call, name, over.confirmation) },
  ];
}

export function buildRequest(key: string, over: Partial<IdempotentRequest> = {}): IdempotentRequest {
  return { principal: "ana", route: "POST /run", key, requestDigest: "request-digest", ...over };
}

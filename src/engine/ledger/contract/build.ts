import type { StoredEvent } from "../../../protocol/index.ts";
import type { Commit, CommitOutcome, Ledger, Memo, SessionName, Write } from "../ledger.ts";
import type { CallRecord, ConfirmationRecord, FrameRecord, JournalRecord } from "../records.ts";

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
  chainLength = 0;

  constructor(ledger: Ledger, key: string, name: Partial<SessionName> = {}) {
    this.#ledger = ledger;
    this.key = key;
    this.name = { app: APP, user: "ana", id: key, ...name };
  }

  async commit(writes: readonly Write[] = [], options: CommitOptions = {}): Promise<CommitOutcome> {
    const outcome = await this.#ledger.commit(this.toCommit(writes, options));
    if (outcome.ok) this.version += 1;
    return outcome;
  }

  toCommit(writes: readonly Write[], options: CommitOptions): Commit {
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
        chain: { n: this.chainLength, hash: `hash-${this.chainLength}` },
        updatedAt,
        ...(deletedAt === undefined ? {} : { deletedAt }),
      },
      writes,
      ...(owner === undefined ? {} : { owner }),
      sync,
    };
  }

  event(text: string): Write {
    const seq = this.nextSeq++;
    return { kind: "event", seq, event: buildEvent(`${this.key}-e${seq}`, text) };
  }

  journal(kind: string, body: string | null = `{"kind":"${kind}"}`): Write {
    const n = ++this.chainLength;
    return { kind: "journal", record: buildJournal(this.key, n, { kind, body }) };
  }
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

export function buildJournal(
  stream: string,
  n: number,
  over: Partial<JournalRecord> = {},
): Omit<JournalRecord, "seq"> {
  const record = {
    stream,
    n,
    at: AT,
    kind: "noted",
    bodyDigest: `digest-${n}`,
    hash: `hash-${n}`,
    body: "{}",
  };
  return { ...record, ...over };
}

/** The id of a question: those of calls, frames and questions begin with the key of their session. */
export function questionId(session: string, name: string): string {
  return `adk-${session}.${name}`;
}

/** What an id says beside its session. */
export function nameIn(id: string): string {
  return id.slice(id.indexOf(".") + 1);
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
    approvers: "requester",
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

export function buildMemo(key: string, over: Partial<Memo> = {}): Memo {
  return {
    principal: "ana",
    route: "POST /run",
    key,
    requestDigest: "request-digest",
    response: { status: 200 },
    expiresAt: AT + 60_000,
    ...over,
  };
}

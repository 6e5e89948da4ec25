import type { StoredEvent } from "../../protocol/index.ts";
import { checkSessionName } from "../common/index.ts";
import { type BodyOf, CHAIN_START, type JournalKind } from "../journal/index.ts";
import {
  type CallCommand,
  type ConfirmationCommand,
  callAfter,
  checkFirst,
  confirmationAfter,
  type FrameCommand,
  frameAfter,
} from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import type { CallChange, Commit, ConfirmationChange, FrameChange, SessionName, Write } from "./commit.ts";
import { type EventDraft, LogRowDraft } from "./log-row-draft.ts";
import type { CallRecord } from "./records/call-record.ts";
import type { ConfirmationRecord } from "./records/confirmation-record.ts";
import type { FrameRecord } from "./records/frame-record.ts";
import { type GrantRecord, isShared, toSharedItem, withGrant } from "./records/grant-record.ts";
import type { SessionRecord } from "./records/session-record.ts";

/** What may be written as it is. Rows that have a status have their own methods, which judge it. */
type PlainWrite = Extract<Write, { kind: "step" | "state" | "item" | "check" | "erase" }>;

/** What changes in a row beside its status. */
type CallUpdate = Omit<CallChange, "status">;
type FrameUpdate = Omit<FrameChange, "status">;
type ConfirmationUpdate = Omit<ConfirmationChange, "status">;

/** Collects what one command changes in a session, and the events and journal records that tell of it. */
export class Draft {
  readonly now: number;
  /** Now, by this process's own clock. */
  readonly madeAt: number;
  readonly sessionKey: string;
  /** The place of this draft's first event. */
  readonly firstSeq: number;
  /** The hash of the commit that this one follows. */
  readonly hashBefore: string;
  readonly #parts: EngineParts;
  readonly #session: Commit["session"];
  readonly #before: Pick<SessionRecord, "app" | "user" | "id" | "createdAt" | "deletedAt">;
  readonly #steps: FrameRecord[] = [];
  readonly #writes: Write[] = [];
  readonly #log: LogRowDraft;
  #open: number;
  #ready: number;
  #grants: readonly GrantRecord[];
  readonly #shared = new Map<string, SharedInDraft>();
  readonly #bytesBefore: number;
  #after: SessionRecord | undefined;
  #deletedAt: number | undefined;
  #owner: string | undefined;
  #sync = false;

  constructor(
    parts: EngineParts,
    now: number,
    session: SessionRecord | { readonly key: string; readonly create: SessionName },
  ) {
    this.#parts = parts;
    this.now = now;
    this.madeAt = parts.clock.now();
    this.sessionKey = session.key;
    const isNew = "create" in session;
    if (isNew) checkSessionName(session.create);
    this.#session = isNew
      ? { key: session.key, version: 0, create: session.create }
      : { key: session.key, version: session.version, head: session.chain.hash };
    this.#before = isNew ? { ...session.create, createdAt: now } : session;
    this.firstSeq = isNew ? 1 : session.nextSeq;
    this.#open = isNew ? 0 : session.open;
    this.#ready = isNew ? 0 : session.ready;
    this.#grants = isNew ? [] : (session.grants ?? []);
    this.#bytesBefore = isNew ? 0 : session.bytes;
    this.hashBefore = isNew ? CHAIN_START : session.chain.hash;
    this.#log = new LogRowDraft(parts, {
      session: session.key,
      n: this.#session.version + 1,
      at: now,
      previousHash: this.hashBefore,
      eventsBefore: this.firstSeq - 1,
    });
  }

  /** How many confirmations will be open once this is committed. */
  get open(): number {
    return this.#open;
  }

  /** How many frames will be ready, without an owner, once this is committed. */
  get ready(): number {
    return this.#ready;
  }

  /** The session's grants, and those across sessions that were read for this, once this is committed. */
  get grants(): readonly GrantRecord[] {
    // One across sessions is never in a document, so nobody can keep a copy there.
    const own = this.#grants.filter(({ limits }) => !isShared(limits));
    return this.#shared.size === 0 ? own : [...own, ...[...this.#shared.values()].map(({ grant }) => grant)];
  }

  /** How many bytes of events the session still has room for once this is committed; negative beyond its limit. */
  get room(): number {
    return this.#parts.settings.maxSessionBytes - this.#bytes;
  }

  /** Is the session erased once this is committed? */
  get isErased(): boolean {
    return this.#deletedAt !== undefined || this.#before.deletedAt !== undefined;
  }

  /** The events of this draft, as they will be read: nothing but JSON, and nobody else's to change. */
  get events(): readonly StoredEvent[] {
    return this.#log.events;
  }

  /** The session as it is once this is committed. */
  get sessionAfter(): SessionRecord {
    this.#after ??= this.#toSession();
    return this.#after;
  }

  #toSession(): SessionRecord {
    const { app, user, id, createdAt } = this.#before;
    return {
      key: this.sessionKey,
      app,
      user,
      id,
      version: this.#session.version + 1,
      nextSeq: this.#nextSeq,
      open: this.#open,
      ready: this.#ready,
      bytes: this.#bytes,
      chain: this.#chain,
      createdAt,
      updatedAt: this.now,
      ...(this.#deletedAt === undefined ? {} : { deletedAt: this.#deletedAt }),
      ...(this.#grants.length === 0 ? {} : { grants: this.#grants }),
    };
  }

  /** Frames that this process steps once this is committed, as it leaves them. */
  get steps(): readonly FrameRecord[] {
    return this.#steps;
  }

  /** Says that this process will step the frame. */
  willStep(frame: FrameRecord): FrameRecord {
    this.#steps.push(frame);
    return frame;
  }

  write(write: PlainWrite): this {
    this.#writes.push(write);
    if (write.kind === "erase") this.#grants = [];
    return this;
  }

  /** Adds a grant across sessions as it was read, unless this has it already. */
  addShared(grant: GrantRecord): void {
    if (!this.#shared.has(grant.id)) this.#shared.set(grant.id, { grant, read: grant.revision });
  }

  /** The revision that a change of the grant makes. One across sessions is written once, however often it is changed. */
  revisionAfter({ id, revision }: Pick<GrantRecord, "id" | "revision">): number {
    return (this.#shared.get(id)?.read ?? revision) + 1;
  }

  /** Stores a new grant, or changes one that was read; with `ahead`, only while its end is ahead. */
  putGrant(grant: GrantRecord, { ahead = false }: { readonly ahead?: boolean } = {}): GrantRecord {
    if (isShared(grant.limits)) return this.#putShared(grant);
    const from = this.#grants.find(({ id }) => id === grant.id)?.revision;
    this.#writes.push({
      kind: "grant",
      grant,
      ...(from === undefined ? {} : { from }),
      ...(ahead ? { ahead } : {}),
    });
    this.#grants = withGrant(this.#grants, grant);
    return grant;
  }

  // An item that is over is not there for the commit, so its end needs no other guard.
  #putShared(grant: GrantRecord): GrantRecord {
    const { read = 0, place = this.#writes.length } = this.#shared.get(grant.id) ?? {};
    this.#writes[place] = { kind: "item", item: toSharedItem(grant), read };
    this.#shared.set(grant.id, { grant, read, place });
    return grant;
  }

  insertCall(call: CallRecord): this {
    // What its caller runs waits for the caller, with a permit if nobody had to approve it.
    const isPermitted = call.runs === "caller" && call.permit !== undefined;
    if (call.status !== "ready" || !isPermitted) checkFirst("call", call);
    this.#writes.push({ kind: "call-insert", call });
    return this;
  }

  /** Moves a call by these commands, one after the other, in one write; returns it as it will be. */
  moveCall(
    call: CallRecord,
    commands: CallCommand | readonly CallCommand[],
    update: CallUpdate = {},
  ): CallRecord {
    const status = typeof commands === "string" ? callAfter(call, commands) : callAfter(call, ...commands);
    return this.#setCall(call, { status, ...update });
  }

  /** Changes a call that keeps its status. */
  changeCall(call: CallRecord, update: CallUpdate): CallRecord {
    return this.#setCall(call, update);
  }

  #setCall(call: CallRecord, set: CallChange): CallRecord {
    const { id, status: from, attempt } = call;
    this.#writes.push({ kind: "call-update", id, from, attempt, set });
    return changed(call, set);
  }

  insertConfirmation(confirmation: ConfirmationRecord): this {
    checkFirst("confirmation", confirmation);
    this.#open += 1;
    this.#writes.push({ kind: "confirmation-insert", confirmation });
    return this;
  }

  /** Moves a confirmation by this command; with `deadline`, only while that is so by the ledger's clock. */
  moveConfirmation(
    confirmation: ConfirmationRecord,
    command: ConfirmationCommand,
    { deadline, ...update }: ConfirmationUpdate & { readonly deadline?: "ahead" | "passed" } = {},
  ): ConfirmationRecord {
    const { id, status: from } = confirmation;
    const set = { status: confirmationAfter(confirmation, command), ...update };
    if (from === "requested") this.#open -= 1;
    const guard = deadline === undefined ? {} : { deadline };
    this.#writes.push({ kind: "confirmation-update", id, from, ...guard, set });
    return changed(confirmation, set);
  }

  /** Changes a confirmation that keeps its status; with `deadline`, only while that is so by the ledger's clock. */
  changeConfirmation(
    confirmation: ConfirmationRecord,
    { deadline, ...set }: ConfirmationUpdate & { readonly deadline?: "ahead" },
  ): ConfirmationRecord {
    const { id, status: from } = confirmation;
    const guard = deadline === undefined ? {} : { deadline };
    this.#writes.push({ kind: "confirmation-update", id, from, ...guard, set });
    return changed(confirmation, set);
  }

  /** Refused by the ledger if another frame of the session is stepping in the same branch. */
  insertFrame(frame: FrameRecord): this {
    checkFirst("frame", frame);
    this.#ready += Number(frame.status === "ready");
    this.#writes.push({ kind: "frame-insert", frame, exclusive: true });
    return this;
  }

  /**
   * Moves a frame by these commands, one after the other, in one write; returns it as it will be. `exclusive`: refused by
   * the ledger if another frame of the session is stepping in the same branch.
   */
  moveFrame(
    frame: FrameRecord,
    commands: FrameCommand | readonly FrameCommand[],
    { exclusive = false, ...update }: FrameUpdate & { readonly exclusive?: boolean } = {},
  ): FrameRecord {
    const status =
      typeof commands === "string" ? frameAfter(frame, commands) : frameAfter(frame, ...commands);
    const set = { status, ...update };
    this.#ready += Number(set.status === "ready") - Number(frame.status === "ready");
    const alone = exclusive ? { exclusive } : {};
    this.#writes.push({ kind: "frame-update", id: frame.id, from: frame.status, ...alone, set });
    return changed(frame, set);
  }

  /** Changes a frame that keeps its status. */
  changeFrame(frame: FrameRecord, set: FrameUpdate): FrameRecord {
    this.#writes.push({ kind: "frame-update", id: frame.id, from: frame.status, set });
    return changed(frame, set);
  }

  /** Appends an event; returns it as it will be stored. */
  event(draft: EventDraft): StoredEvent {
    return this.#log.event(draft);
  }

  journal<Kind extends JournalKind>(kind: Kind, body: BodyOf<Kind>): this {
    this.#log.journal(kind, body);
    return this;
  }

  /** What follows from this commit is acted upon at once: it must be on disk first. */
  sync(): this {
    this.#sync = true;
    return this;
  }

  /** Refused unless this owner's lease is running at the moment of the commit. */
  claimedBy(owner: string): this {
    this.#owner = owner;
    return this;
  }

  delete(): this {
    this.#deletedAt = this.now;
    return this;
  }

  toCommit(): Commit {
    return {
      session: this.#session,
      change: {
        nextSeq: this.#nextSeq,
        open: this.#open,
        ready: this.#ready,
        bytes: this.#bytes,
        chain: this.#chain,
        updatedAt: this.now,
        ...(this.#deletedAt === undefined ? {} : { deletedAt: this.#deletedAt }),
      },
      writes: this.#writes,
      log: this.#log.row,
      ...(this.#owner === undefined ? {} : { owner: this.#owner }),
      sync: this.#sync,
    };
  }

  get #chain(): SessionRecord["chain"] {
    const { n, hash } = this.#log.row;
    return { n, hash };
  }

  get #nextSeq(): number {
    return this.firstSeq + this.#log.events.length;
  }

  get #bytes(): number {
    return this.#bytesBefore + this.#log.bytes;
  }
}

/** A grant across sessions: the version that was read, and where in the writes its change is. */
interface SharedInDraft {
  readonly grant: GrantRecord;
  readonly read: number;
  readonly place?: number;
}

/** The row as it will be; one that is released has no owner. */
function changed<Row extends object & { readonly owner?: string }>(
  row: Row,
  set: Partial<Omit<Row, "owner">> & { readonly owner?: string | null },
): Row {
  const after = { ...row, ...set };
  if (set.owner !== null) return after;
  const { owner: _before, ...rest } = after;
  return rest as Row;
}

import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { sessionFull, tooMuchState } from "../common/index.ts";
import { type Refusal, recordRefusal } from "../decisions/index.ts";
import { addSharedFrom, revokeErased } from "../grants/index.ts";
import { guardAgainstHolds, holdOn, isDiary, underHold } from "../holds/index.ts";
import {
  type CallRecord,
  Draft,
  type EventDraft,
  type IdempotentRequest,
  type Judge,
  type Plan,
  type Recalled,
  recallResponse,
  rememberResponse,
  type SessionName,
  type SessionRecord,
  type Snapshot,
  stateWrites,
  textIn,
  transact,
} from "../ledger/index.ts";
import { mayHaveRun } from "../lifecycle/index.ts";
import type { EngineParts } from "../parts.ts";
import { mayJudge, type Principal, withoutRight } from "../people/index.ts";
import { type Reserved, writeMayHaveRun, writeWithdrawal } from "../questions/index.ts";

/** What a session begins with. */
export interface SessionStart {
  readonly state?: JsonObject;
  /** An earlier conversation. Confirmations in it are only text: none is created or answered. */
  readonly events?: readonly EventDraft[];
  /** Who imports it; default: the session's user. Each of its events is marked with this. */
  readonly importedBy?: string;
  /** If the request is repeated with the same key, it returns the first session, whatever id is asked for. */
  readonly once?: IdempotentRequest;
}

/** A created session. */
export interface CreatedSession {
  readonly ok: true;
  readonly key: string;
  readonly id: string;
}

/** Creates a session, with initial state and events if given. */
export async function createSession(
  parts: EngineParts,
  name: SessionName,
  { state = {}, events = [], importedBy = name.user, once }: SessionStart = {},
): Promise<CreatedSession | Refusal> {
  const creating =
    (reserved: Reserved): Judge<CreatedSession | Refusal> =>
    async (snapshot) => {
      const known = await recallResponse(parts.ledger, once);
      if (known !== undefined) return { value: known.ok ? toCreated(known.response) : known };
      if (snapshot !== undefined) return { value: taken(snapshot.session) };
      await parts.quota.admit(reserved, { isNew: true });
      const tooMuch = await tooMuchState(parts, undefined, state);
      if (tooMuch !== undefined) return { value: tooMuch };
      const { now } = parts.ledger;
      const draft = new Draft(parts, now, { key: parts.newId(now), create: name });
      for (const write of stateWrites(state)) draft.write(write);
      for (const { asks: _asks, closings: _closings, ...event } of events)
        draft.event({ ...event, imported: { by: importedBy } });
      if (events.length > 0) draft.journal("session-imported", { by: importedBy, events: events.length });
      const full = sessionFull(parts, draft);
      if (full !== undefined) return { value: full };
      const made = { key: draft.sessionKey, id: name.id };
      if (once !== undefined) draft.write(rememberResponse(once, made, now));
      return { draft, reserved, value: { ok: true, ...made } };
    };
  return parts.quota.during((reserved) => transact(parts, { session: name }, creating(reserved)));
}

// The id of a deleted session names its records in the journal, and for a gated function is the key that it ran under.
function taken({ id, deletedAt }: SessionRecord): Refusal {
  if (deletedAt === undefined) {
    return { ok: false, code: "session-exists", message: `A session ${id} already exists.` };
  }
  const message = `The session ${id} was deleted, and its id cannot be used again. Choose another id.`;
  return { ok: false, code: "session-deleted", message };
}

function toCreated(response: JsonValue): CreatedSession {
  return { ok: true, key: textIn(response, "key"), id: textIn(response, "id") };
}

/**
 * Merges a change into a session's state. Refused if the session does not exist. A repetition with the same key changes
 * nothing.
 */
export async function changeState(
  parts: EngineParts,
  name: SessionName,
  { delta, once }: { readonly delta: JsonObject; readonly once?: IdempotentRequest },
): Promise<Done> {
  return change(parts, name, once, async (snapshot) => {
    const tooMuch = await tooMuchState(parts, snapshot.session.key, delta);
    if (tooMuch !== undefined) return { value: tooMuch };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    for (const write of stateWrites(delta)) draft.write(write);
    return { draft, value: { ok: true } };
  });
}

type Done = { readonly ok: true } | Refusal;

/** A change to an existing session. With a known key nothing is changed, whatever happened to the session since. */
async function change(
  parts: EngineParts,
  name: SessionName,
  once: IdempotentRequest | undefined,
  plan: (snapshot: Snapshot) => Plan<Done> | Promise<Plan<Done>>,
): Promise<Done> {
  return transact<Done>(parts, { session: name }, async (snapshot) => {
    const known = await recallResponse(parts.ledger, once);
    if (known !== undefined) return { value: known.ok ? { ok: true } : known };
    if (snapshot === undefined || snapshot.session.deletedAt !== undefined) return { value: noSession(name) };
    const planned = await plan(snapshot);
    if (once !== undefined && planned.value.ok)
      planned.draft?.write(rememberResponse(once, null, snapshot.now));
    return planned;
  });
}

/**
 * Binds a key to the content of a request to this session, before the request is executed. Resolves to the first
 * binding of the key, or to a refusal if that was a different request.
 */
export async function useKey(
  parts: EngineParts,
  name: SessionName,
  { once, meaning }: { readonly once: IdempotentRequest; readonly meaning: JsonValue },
): Promise<Recalled> {
  return transact<Recalled>(parts, { session: name }, async (snapshot) => {
    const known = await recallResponse(parts.ledger, once);
    if (known !== undefined) return { value: known };
    if (snapshot === undefined || snapshot.session.pruned !== undefined) return { value: noSession(name) };
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    return {
      draft: draft.write(rememberResponse(once, meaning, snapshot.now)),
      value: { ok: true, response: meaning },
    };
  });
}

function noSession({ id }: SessionName): Refusal {
  return { ok: false, code: "unknown-session", message: `There is no session ${id}.` };
}

/**
 * Deletes a session: what is open is withdrawn, its content erased, its digests kept in the chain, which still
 * verifies. Refused while one of its calls executes or has an unknown outcome. A repetition with the same key succeeds.
 */
export async function deleteSession(
  parts: EngineParts,
  name: SessionName,
  { by, once }: { readonly by: Principal; readonly once?: IdempotentRequest },
): Promise<Done> {
  return change(parts, name, once, async (snapshot) => {
    // Deleting your own session withdraws your own questions. Withdrawing the questions of others needs the right to.
    const isOwn = by.onBehalfOf === undefined;
    const [waiting] = isOwn || mayJudge(by) ? [] : await parts.ledger.unanswered(snapshot.session.key);
    if (waiting !== undefined) {
      const tried = { code: "forbidden", what: "cancel" } as const;
      const draft = recordRefusal(
        parts,
        { ...snapshot, call: waiting },
        { by, via: "session-delete" },
        tried,
      );
      const message = `The session has an open call (${waiting.tool}), which would be withdrawn: ${withoutRight(by)}`;
      return { draft, value: { ok: false, code: "forbidden", message } };
    }
    return planErasure(parts, snapshot, { kind: "session-deleted", by: by.id });
  });
}

/** Which sessions are old enough. */
export interface Aged {
  readonly olderThanMs: number;
  /** As it was when its age was judged; if it has changed since, it is left alone. */
  readonly version?: number;
  /** The tools that were called in it. They stay known when its journal is erased. */
  readonly tools?: readonly string[];
}

/**
 * Erases one idle session, as deletion does. Refused if it has become busy since it was listed, or is not that old by the
 * ledger's clock, and while a legal hold keeps it.
 */
export async function pruneSession(
  parts: EngineParts,
  key: string,
  { olderThanMs, version, tools }: Aged,
): Promise<Done> {
  return transact<Done>(parts, { sessionKey: key }, async (snapshot) => {
    const before = (snapshot?.now ?? 0) - olderThanMs;
    const idle =
      snapshot !== undefined &&
      snapshot.session.deletedAt === undefined &&
      snapshot.session.updatedAt < before;
    const isAsJudged = version === undefined || version === snapshot?.session.version;
    if (!idle || !isAsJudged || snapshot.session.open > 0) return { value: NOT_IDLE };
    const known = tools === undefined ? {} : { tools };
    return planErasure(parts, snapshot, { kind: "session-pruned", before, ...known });
  });
}

/**
 * Erases a session that is over, for whoever erases a person; one that was erased before loses what its erasure says, too.
 * Refused while something in it waits, runs or is unknown, and while a legal hold keeps it.
 */
export async function eraseFinished(parts: EngineParts, key: string, by: string): Promise<Done> {
  return transact<Done>(parts, { sessionKey: key }, async (snapshot) => {
    if (snapshot === undefined || snapshot.session.pruned !== undefined) return { value: { ok: true } };
    const [open] = await parts.ledger.unanswered(key);
    const frames = await parts.ledger.liveFrames(key);
    const isBusy = snapshot.session.open > 0 || open !== undefined;
    if (isBusy || frames.some(({ status }) => status !== "waiting")) return { value: STILL_LIVE };
    return planErasure(parts, snapshot, { kind: "session-deleted", by });
  });
}

const STILL_LIVE: Refusal = {
  ok: false,
  code: "session-busy",
  message: "Something in the session waits, runs or is unknown. Decide, settle or delete it first.",
};

const NOT_IDLE: Refusal = {
  ok: false,
  code: "session-busy",
  message: "Something waits in the session, or happened in it lately.",
};

type ErasureCause =
  | { readonly kind: "session-deleted"; readonly by: string }
  | { readonly kind: "session-pruned"; readonly before: number; readonly tools?: readonly string[] };

async function planErasure(parts: EngineParts, snapshot: Snapshot, cause: ErasureCause): Promise<Plan<Done>> {
  const { session, now } = snapshot;
  if (isDiary(session)) return { value: NEVER_ERASED };
  const { guard, hold } = await holdOn(parts, session);
  if (hold !== undefined) return { value: underHold(hold) };
  const open = await parts.ledger.unanswered(session.key);
  const busy = open.find((call) => call.status === "unknown" || mayHaveRun(call));
  if (busy !== undefined) return refuseErasure(parts, snapshot, { busy, open });
  // Erase first, so that the journal records of the deletion itself are not erased: who did it, what was withdrawn, up
  // to which record.
  const draft = new Draft(parts, now, session).write({ kind: "erase" });
  // If a power failure undid this, what is withdrawn would be open again and could be approved, and what somebody had
  // deleted would be back.
  if (cause.kind === "session-deleted" || open.length > 0) draft.sync();
  guardAgainstHolds(draft, guard);
  await addSharedFrom(parts, draft);
  revokeErased(parts, draft);
  for (const call of open) await withdrawForErasure(parts, draft, { snapshot, call });
  const erased = session.chain.n;
  if (cause.kind === "session-deleted") draft.journal(cause.kind, { by: cause.by, erased });
  else {
    const { kind, ...body } = cause;
    draft.journal(kind, { ...body, erased });
  }
  return { draft: draft.delete(), value: { ok: true } };
}

/** What may have run is not erased as if it had not: it becomes `unknown`, so that somebody can settle it. */
async function refuseErasure(
  parts: EngineParts,
  { session, now }: Snapshot,
  { busy, open }: { readonly busy: CallRecord; readonly open: readonly CallRecord[] },
): Promise<Plan<Done>> {
  const draft = new Draft(parts, now, session).sync();
  const released = open.filter((call) => call.status === "ready" && mayHaveRun(call));
  for (const { id } of released) {
    const held = await parts.ledger.load({ call: id });
    if (held?.call !== undefined)
      writeMayHaveRun(draft, { ...held, call: held.call }, { reason: "the session is to be deleted" });
  }
  const status = released.includes(busy) ? "unknown" : busy.status;
  const message = `The call ${busy.wireId} (${busy.tool}) is ${status}. Wait for it, or settle it first.`;
  const value = { ok: false, code: "call-executing", message } as const;
  return released.length === 0 ? { value } : { draft, value };
}

const NEVER_ERASED: Refusal = {
  ok: false,
  code: "forbidden",
  message: "This session is the journal of holds and erasures. It is never erased.",
};

async function withdrawForErasure(
  parts: EngineParts,
  draft: Draft,
  { snapshot, call }: { readonly snapshot: Snapshot; readonly call: CallRecord },
): Promise<void> {
  const held = await parts.ledger.load({ call: call.id });
  // Without its frame: the turn is erased with the session, so it does not continue.
  const { frame: _erased, ...rest } = {
    ...snapshot,
    call,
    ...(held?.confirmation === undefined ? {} : { confirmation: held.confirmation }),
  };
  writeWithdrawal(parts, draft, rest, {
    reason: "the session was deleted",
    owner: undefined,
    last: undefined,
  });
}

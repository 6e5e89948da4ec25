import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { sessionFull, tooMuchState } from "../common/index.ts";
import { type Refusal, recordRefusal } from "../decisions/index.ts";
import {
  type CallRecord,
  Draft,
  type EventDraft,
  type IdempotentRequest,
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
import type { EngineParts } from "../parts.ts";
import { mayJudge, type Principal, withoutRight } from "../people/index.ts";
import { writeWithdrawal } from "../questions/index.ts";

/** What a session begins with. */
export interface SessionStart {
  readonly state?: JsonObject;
  /** An earlier conversation. Whatever it says of confirmations is talk: none is made or answered by it. */
  readonly events?: readonly EventDraft[];
  /** Who brings it along; the session's user unless named. Each of its events says so from then on. */
  readonly importedBy?: string;
  /** Sent again under the same key, the session that was made then is named, whatever id is asked for. */
  readonly once?: IdempotentRequest;
}

/** A session that was made. */
export interface CreatedSession {
  readonly ok: true;
  readonly key: string;
  readonly id: string;
}

/** Makes a session, with state and events if there are any to begin with. */
export async function createSession(
  parts: EngineParts,
  name: SessionName,
  { state = {}, events = [], importedBy = name.user, once }: SessionStart = {},
): Promise<CreatedSession | Refusal> {
  return transact<CreatedSession | Refusal>(parts, { session: name }, async (snapshot) => {
    const known = await recallResponse(parts.ledger, once);
    if (known !== undefined) return { value: known.ok ? toCreated(known.response) : known };
    if (snapshot !== undefined) return { value: taken(snapshot.session) };
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
    return { draft, value: { ok: true, ...made } };
  });
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
 * Lays a change over a session's state. Refused for a session that does not exist, or not any more. Sent again under the
 * same key, it is not laid over what came after it.
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

/** A change to a session that is there. Under a key that is known nothing is changed, whatever has become of the session. */
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
 * Binds a key to what a request to this session means, before anything of it is done. Resolves to what the key was
 * bound to first, whoever bound it, or to a refusal if that was another request.
 */
export async function useKey(
  parts: EngineParts,
  name: SessionName,
  { once, meaning }: { readonly once: IdempotentRequest; readonly meaning: JsonValue },
): Promise<Recalled> {
  return transact<Recalled>(parts, { session: name }, async (snapshot) => {
    const known = await recallResponse(parts.ledger, once);
    if (known !== undefined) return { value: known };
    if (snapshot === undefined) return { value: noSession(name) };
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
 * Deletes a session: what is open is withdrawn, its content erased, its digests kept in the chain, which
 * still verifies. Refused while a call of it executes or its outcome is unknown. Sent again under the same key, it has
 * happened.
 */
export async function deleteSession(
  parts: EngineParts,
  name: SessionName,
  { by, once }: { readonly by: Principal; readonly once?: IdempotentRequest },
): Promise<Done> {
  return change(parts, name, once, async (snapshot) => {
    // With one's own session one's own questions go. To withdraw another's takes the right to.
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

/** Erases one idle session, as deletion does. Nothing happens if it has become busy since it was listed. */
export async function pruneSession(parts: EngineParts, key: string, before: number): Promise<boolean> {
  const outcome = await transact<{ readonly ok: boolean }>(parts, { sessionKey: key }, async (snapshot) => {
    const idle =
      snapshot !== undefined &&
      snapshot.session.deletedAt === undefined &&
      snapshot.session.updatedAt < before;
    if (!idle || snapshot.session.open > 0) return { value: { ok: false } };
    return planErasure(parts, snapshot, { kind: "session-pruned", before });
  });
  return outcome.ok;
}

type ErasureCause =
  | { readonly kind: "session-deleted"; readonly by: string }
  | { readonly kind: "session-pruned"; readonly before: number };

async function planErasure(parts: EngineParts, snapshot: Snapshot, cause: ErasureCause): Promise<Plan<Done>> {
  const { session, now } = snapshot;
  const open = await parts.ledger.unanswered(session.key);
  const busy = open.find(({ status }) => status === "executing" || status === "unknown");
  if (busy !== undefined) {
    const message = `The call ${busy.wireId} (${busy.tool}) is ${busy.status}. Wait for it, or settle it first.`;
    return { value: { ok: false, code: "call-executing", message } };
  }
  // Erased first: that it was done, by whom, and what was withdrawn for it stays on record, and how far it reached.
  const draft = new Draft(parts, now, session).write({ kind: "erase" });
  for (const call of open) await withdrawForErasure(parts, draft, { snapshot, call });
  const erased = session.chain.n;
  if (cause.kind === "session-deleted") draft.journal(cause.kind, { by: cause.by, erased });
  else draft.journal(cause.kind, { before: cause.before, erased });
  return { draft: draft.delete(), value: { ok: true } };
}

async function withdrawForErasure(
  parts: EngineParts,
  draft: Draft,
  { snapshot, call }: { readonly snapshot: Snapshot; readonly call: CallRecord },
): Promise<void> {
  const held = await parts.ledger.load({ call: call.id });
  // Without its frame: the turn is erased with the session, so nobody goes on with it.
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

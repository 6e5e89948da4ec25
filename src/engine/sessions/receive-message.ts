import type { JsonObject, StoredEvent } from "../../protocol/index.ts";
import { sessionFull, tooMuchState } from "../common/index.ts";
import { askedBy, newFrame, newFrameId } from "../frames/index.ts";
import {
  type Asker,
  type Conflict,
  Draft,
  type EventDraft,
  type FrameKind,
  type FrameRecord,
  type IdempotentRequest,
  type Judge,
  type Known,
  type Plan,
  type Recalled,
  type RememberedRun,
  recallResponse,
  rememberResponse,
  type SessionName,
  type SessionRecord,
  type Snapshot,
  stateWrites,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Reserved } from "../questions/index.ts";
import { cancelAsking } from "./cancel-run.ts";

/** A user's message, and the agent that is to answer it. */
export interface MessageInput {
  readonly session: SessionName;
  readonly event: EventDraft;
  /** Everyone who counts as having asked, if that is not just the session's user. */
  readonly requesters?: readonly string[];
  /** Who sent it, as they were known then. */
  readonly asker?: Asker;
  readonly stateDelta?: JsonObject;
  readonly frame: { readonly kind: FrameKind; readonly agent: string; readonly path: readonly string[] };
  /**
   * Withdraws the questions that are open in the session, in the message's own commit, and ends their runs: for this reason.
   */
  readonly cancelsAsking?: string;
  /** The session as the caller has just read it; undefined if there was none. */
  readonly known?: { readonly session: SessionRecord | undefined };
}

export type MessageOutcome =
  | {
      readonly ok: true;
      readonly frame: FrameRecord;
      readonly event: StoredEvent;
      /** The message's place among the session's events. */
      readonly seq: number;
    }
  | {
      readonly ok: false;
      readonly code: "session-busy" | "session-deleted" | "session-full" | "too-large";
      readonly message: string;
    };

/** Stores a message and claims the model step that answers it. Creates the session if there is none. */
export async function receiveMessage(parts: EngineParts, input: MessageInput): Promise<MessageOutcome> {
  return parts.quota.during((reserved) => {
    const judge: Judge<MessageOutcome> = (snapshot, last) =>
      judgeMessage(parts, snapshot, { input, last, reserved });
    return transact(parts, { session: input.session }, judge, justRead(parts, input));
  });
}

function justRead({ ledger }: EngineParts, { known }: MessageInput): Known | undefined {
  if (known === undefined) return undefined;
  const { session } = known;
  return { snapshot: session && { now: ledger.now, session } };
}

/** The same with a key, which is stored in the message's own commit: a repetition finds the first message. */
export async function receiveOnce(
  parts: EngineParts,
  input: MessageInput,
  once: IdempotentRequest,
): Promise<MessageOutcome | Recalled> {
  return parts.quota.during((reserved) => {
    const judge: Judge<MessageOutcome | Recalled> = async (snapshot, last) => {
      const known = await recallResponse(parts.ledger, once);
      if (known !== undefined) return { value: known };
      return judgeMessage(parts, snapshot, { input, last, once, reserved });
    };
    return transact(parts, { session: input.session }, judge);
  });
}

interface Receiving {
  readonly input: MessageInput;
  readonly last: Conflict | undefined;
  readonly once?: IdempotentRequest;
  readonly reserved: Reserved;
}

async function judgeMessage(
  parts: EngineParts,
  snapshot: Snapshot | undefined,
  receiving: Receiving,
): Promise<Plan<MessageOutcome>> {
  if (receiving.last === "busy") {
    return {
      value: { ok: false, code: "session-busy", message: "The session is answering another message." },
    };
  }
  if (snapshot?.session.deletedAt !== undefined) {
    const message = `The session ${receiving.input.session.id} was deleted.`;
    return { value: { ok: false, code: "session-deleted", message } };
  }
  const admitting = parts.quota.admit(receiving.reserved, { isNew: snapshot === undefined });
  if (admitting !== undefined) await admitting;
  const tooMuch = await tooMuchState(parts, snapshot?.session.key, receiving.input.stateDelta);
  if (tooMuch !== undefined) return { value: tooMuch };
  return planMessage(parts, snapshot, { ...receiving, owner: await parts.lease.hold() });
}

async function planMessage(
  parts: EngineParts,
  snapshot: Snapshot | undefined,
  { input, owner, once, reserved }: Receiving & { readonly owner: string },
): Promise<Plan<MessageOutcome>> {
  const now = snapshot?.now ?? parts.ledger.now;
  const session = snapshot?.session ?? { key: parts.newId(now), create: input.session };
  const { event, stateDelta } = input;
  const run = { session: session.key, app: input.session.app, invocation: event.invocationId };
  const parent = { ...run, ...askedBy(input) };
  const id = newFrameId(parts, session.key, now);
  const draft = new Draft(parts, now, session);
  if (draft.open > 0 && input.cancelsAsking !== undefined)
    await cancelAsking(parts, draft, input.cancelsAsking);
  const frame = draft.willStep({ ...newFrame({ ...input.frame, id, parent }), owner });
  draft.claimedBy(owner).insertFrame(frame);
  for (const write of stateWrites(stateDelta)) draft.write(write);
  const seq = draft.firstSeq + draft.events.length;
  if (once !== undefined) {
    const remembered: RememberedRun = { session: session.key, invocation: event.invocationId, seq };
    draft.write(rememberResponse(once, { ...remembered }, now));
  }
  const stored = draft.event(event);
  const full = sessionFull(parts, draft);
  if (full !== undefined) return { value: full };
  return { draft, reserved, value: { ok: true, frame, event: stored, seq } };
}

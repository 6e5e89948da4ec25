import type { SessionRecord, Snapshot, Target } from "../ledger/index.ts";
import type { Packed, SessionDocument } from "./document.ts";
import { copyRow } from "./long-values.ts";
import type { LoadedDocument } from "./store.ts";

/** The session as its document says it is. */
export function toSession({
  key,
  version,
  document,
}: Pick<LoadedDocument, "key" | "version" | "document">): SessionRecord {
  const { head, grants } = document;
  return { key, version, ...head, ...(grants === undefined ? {} : { grants }) };
}

/** What the document alone says about a target; undefined if some of it has to be read from the log. */
export function snapshotOf(target: Target, loaded: LoadedDocument): Snapshot | undefined {
  const { now, document } = loaded;
  const session = toSession(loaded);
  if ("frame" in target) {
    const frame = whole(document.frames, target.frame);
    return frame && { now, session, frame };
  }
  if ("call" in target || "confirmation" in target) return snapshotOfCall(target, { now, session }, document);
  const call = namedCall(target, loaded.key);
  return call === undefined ? { now, session } : snapshotOfCall({ call }, { now, session }, document);
}

/** The id of the call that is asked for by its session and its key. */
export function namedCall(target: Target, session: string): string | undefined {
  return "key" in target && target.key !== undefined ? `${session}.${target.key}` : undefined;
}

function snapshotOfCall(
  target: { readonly call: string } | { readonly confirmation: string },
  base: Pick<Snapshot, "now" | "session">,
  { calls, confirmations, frames }: SessionDocument,
): Snapshot | undefined {
  const asked = "confirmation" in target ? whole(confirmations, target.confirmation) : undefined;
  const call = whole(calls, "call" in target ? target.call : asked?.call);
  if (call === undefined) return undefined;
  const confirmation = asked ?? whole(confirmations, call.confirmation);
  const frame = whole(frames, call.frame);
  const isThere = asked !== undefined || confirmation?.id === call.confirmation;
  return isThere && frame?.id === call.frame ? toSnapshot({ ...base, call, confirmation, frame }) : undefined;
}

/** Without the parts that there are not. */
export function toSnapshot({
  now,
  session,
  call,
  confirmation,
  frame,
}: { readonly [part in keyof Snapshot]-?: Snapshot[part] | undefined } & Pick<
  Snapshot,
  "now" | "session"
>): Snapshot {
  return {
    now,
    session,
    ...(call === undefined ? {} : { call }),
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(frame === undefined ? {} : { frame }),
  };
}

function whole<Row extends { readonly id: string }>(
  rows: readonly Packed<Row>[],
  id: string | undefined,
): Row | undefined {
  const found = id === undefined ? undefined : rows.find((row) => row.id === id);
  // The document may be this process's own: nobody else's to change.
  return found?.long === undefined && found !== undefined ? copyRow(found) : undefined;
}

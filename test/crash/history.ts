import { type CallCommand, type CallStatus, nextCall } from "../../src/engine/index.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/index.ts";
import type { JournalRow } from "../support/ledger/ledger-view.ts";
import { wordsDenial } from "./life.ts";

/** One journal record as it bears on one call. */
export interface CallRecordLine {
  readonly seq: number;
  readonly kind: string;
  readonly body: JsonObject;
}

/** The journal told by call: every record that names it, in order. */
export function byCall(journal: readonly JournalRow[]): ReadonlyMap<string, readonly CallRecordLine[]> {
  const calls = new Map<string, CallRecordLine[]>();
  const add = (call: JsonValue | undefined, line: CallRecordLine): void => {
    if (typeof call !== "string") return;
    const lines = calls.get(call);
    if (lines === undefined) calls.set(call, [line]);
    else lines.push(line);
  };
  for (const { seq, kind, body } of journal) {
    if (kind !== "calls-started") {
      add(body["call"], { seq, kind, body });
      continue;
    }
    const started = body["calls"] as readonly JsonObject[];
    for (const one of started) add(one["call"], { seq, kind: "call-started", body: one });
  }
  return calls;
}

interface Place {
  readonly status: CallStatus | undefined;
  readonly attempt: number;
}

/** Where the journal's records lead a call; the first one that is not legal is named. */
export type Replayed =
  | { readonly ok: true; readonly status: CallStatus | undefined; readonly attempt: number }
  | { readonly ok: false; readonly message: string };

/** Walks a call through the lifecycle's table by what the journal says happened to it. */
export function replay(lines: readonly CallRecordLine[]): Replayed {
  let place: Place = { status: undefined, attempt: 0 };
  for (const line of lines) {
    const next = follow(place, line);
    if (next === undefined) {
      const message = `record ${line.seq} (${line.kind}) cannot follow ${place.status}, attempt ${place.attempt}`;
      return { ok: false, message };
    }
    place = next;
  }
  return { ok: true, ...place };
}

const COMMANDS: { readonly [kind: string]: CallCommand } = {
  "call-cancelled": "cancel",
  "call-succeeded": "succeed",
  "call-failed": "fail",
  "call-denied": "word-denial",
  "call-expired": "word-expiry",
  "call-released": "release",
  "call-delegated": "delegate",
};

function follow(place: Place, { kind, body }: CallRecordLine): Place | undefined {
  const attempt = body["attempt"];
  switch (kind) {
    case "late-result":
    case "decision-refused":
      return place;
    case "vote-cast":
    case "vote-withdrawn":
    case "confirmation-seen":
    case "confirmation-reminded":
    case "confirmation-escalated":
      return place.status === "waiting" || place.status === "suspended" ? place : undefined;
    case "confirmation-cancelled":
      // Taken back because its call ran, which then is `unknown`.
      return body["callMayHaveRun"] === true ? place : move(place, "cancel");
    case "call-unknown":
      return body["statusThen"] === undefined ? inAttempt(place, "lose", attempt) : toUnknown(place, attempt);
    case "step-started":
    case "step-done":
    case "step-failed":
      return place.status === "executing" && attempt === place.attempt ? place : undefined;
    case "call-started":
      return place.status === undefined ? { status: "executing", attempt: 1 } : claim(place, attempt);
    case "confirmation-requested":
      return place.status === undefined ? { ...place, status: "waiting" } : move(place, "ask");
    case "confirmation-approved": {
      const ready = move(place, "approve");
      const started = body["started"] as JsonObject | undefined;
      return ready === undefined || started === undefined ? ready : claim(ready, started["attempt"]);
    }
    case "confirmation-denied":
      return move(place, refuses(place, body) ? "refuse" : "deny");
    case "confirmation-expired":
      return move(place, refuses(place, body) ? "refuse" : "expire");
    case "call-returned":
      return move(place, body["status"] === "done" ? "return" : "return-failed");
    case "call-settled":
      return attempt === place.attempt ? move(place, settlement(body)) : undefined;
    default: {
      const given = COMMANDS[kind];
      return given === undefined ? undefined : inAttempt(place, given, attempt);
    }
  }
}

// A refused call is settled as what it is: all that was unknown of it is how it worded that.
function settlement(body: JsonObject): CallCommand {
  const command = { denied: "word-denial", expired: "word-expiry" } as const;
  const status = textOf(body["status"]);
  return status === "denied" || status === "expired"
    ? command[status]
    : (`settle-${textOf(body["as"])}` as CallCommand);
}

function refuses({ status }: Place, body: JsonObject): boolean {
  return status === "suspended" && wordsDenial(textOf(body["tool"]));
}

function inAttempt(place: Place, given: CallCommand, attempt: JsonValue | undefined): Place | undefined {
  return attempt !== undefined && attempt !== place.attempt ? undefined : move(place, given);
}

// By a process that knows of an attempt that the ledger may have lost.
function toUnknown(place: Place, attempt: JsonValue | undefined): Place | undefined {
  const unknown = move(place, "mark-unknown");
  return unknown === undefined || typeof attempt !== "number" || attempt < place.attempt
    ? undefined
    : { ...unknown, attempt };
}

function claim(place: Place, attempt: JsonValue | undefined): Place | undefined {
  const claimed = move(place, "claim");
  return claimed !== undefined && attempt === place.attempt + 1
    ? { status: claimed.status, attempt: place.attempt + 1 }
    : undefined;
}

function move(place: Place, command: CallCommand): Place | undefined {
  const status = place.status && nextCall(place.status, command);
  return status === undefined ? undefined : { ...place, status };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

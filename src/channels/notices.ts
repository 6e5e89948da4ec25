import { createHash } from "node:crypto";
import { type JournalRecord, type Ledger, redact, toConfirmation } from "../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../protocol/index.ts";
import type { NotedCall, Notice, NoticeType } from "./channel.ts";

const TYPES: { readonly [kind: string]: NoticeType } = {
  "confirmation-requested": "confirmation.requested",
  "confirmation-approved": "confirmation.decided",
  "confirmation-denied": "confirmation.decided",
  "confirmation-expired": "confirmation.expired",
  "confirmation-cancelled": "confirmation.cancelled",
  "call-unknown": "call.unknown",
  "call-settled": "call.settled",
};
const ID_LENGTH = 32;

/** What a journal record is for channels; undefined for most. */
export function noticeTypeOf({ kind, body }: Pick<JournalRecord, "kind" | "body">): NoticeType | undefined {
  const type = TYPES[kind];
  if (type !== undefined || !kind.startsWith("call-")) return type;
  // The last attempt's own result, after its outcome was given up as unknown.
  return member(bodyOf(body), "late") === true ? "call.settled" : undefined;
}

/** The notice of a record, about what the ledger says now; undefined where nothing is left to tell, as after an erasure. */
export async function readNotice(
  ledger: Ledger,
  { channel, seq }: { readonly channel: string; readonly seq: number },
  link: ((confirmationId: string) => string) | undefined,
): Promise<Notice | undefined> {
  const [record] = await ledger.journal({ after: seq - 1, until: seq, limit: 1 });
  const type = record && noticeTypeOf(record);
  if (record === undefined || type === undefined) return undefined;
  const found = await readSubject(ledger, bodyOf(record.body));
  if (found === undefined) return undefined;
  return {
    id: noticeId(channel, record),
    type,
    sequence: seq,
    at: record.at,
    about: found.about,
    ...(link === undefined || found.confirmation === undefined ? {} : { link: link(found.confirmation) }),
  };
}

async function readSubject(
  ledger: Ledger,
  body: JsonObject,
): Promise<{ readonly about: Notice["about"]; readonly confirmation?: string } | undefined> {
  const confirmationId = member(body, "confirmation");
  const callId = member(body, "call");
  const snapshot =
    typeof confirmationId === "string"
      ? await ledger.load({ confirmation: confirmationId })
      : typeof callId === "string"
        ? await ledger.load({ call: callId })
        : undefined;
  const { call, confirmation, session } = snapshot ?? {};
  if (call === undefined || session === undefined) return undefined;
  if (confirmation !== undefined) {
    return { about: toConfirmation({ confirmation, call, session }), confirmation: confirmation.id };
  }
  const about: NotedCall = {
    callId: call.wireId,
    turn: call.frame === undefined ? call.id : `${call.frame}.${call.turn}`,
    status: call.status,
    app: call.app,
    agent: call.agent,
    user: call.requesters?.at(-1) ?? session.user,
    session: session.id,
    tool: call.tool,
    args: redact(call.args, call.secrets),
  };
  return { about };
}

// The record's hash is its own in every ledger, so two ledgers that tell one recipient are not taken for one.
function noticeId(channel: string, { hash, seq }: JournalRecord): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([channel, hash, seq]))
    .digest("hex");
  return `msg_${digest.slice(0, ID_LENGTH)}`;
}

function bodyOf(text: string | null): JsonObject {
  if (text === null) return {};
  const body: unknown = JSON.parse(text);
  return isJsonObject(body) ? body : {};
}

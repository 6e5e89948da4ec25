import { createHash } from "node:crypto";
import {
  allDelegations,
  type Directory,
  entrySubject,
  isJournalKind,
  type JournalKind,
  type JournalRecord,
  type Ledger,
  parseEntry,
  redact,
  toConfirmation,
  turnOf,
} from "../engine/index.ts";
import type { Channel, NotedCall, Notice, NoticeType } from "./channel.ts";
import type { DeliveriesOptions } from "./delivery.ts";
import type { PeopleKnown } from "./people.ts";

/** `late`: only if the result came after the outcome had become unknown. `ended`: then too, and as an end otherwise. */
const TYPES: { readonly [kind in JournalKind]: NoticeType | "late" | "ended" | undefined } = {
  "confirmation-requested": "confirmation.requested",
  "confirmation-approved": "confirmation.decided",
  "confirmation-denied": "confirmation.decided",
  "vote-cast": "confirmation.voted",
  "vote-withdrawn": "confirmation.voted",
  "confirmation-seen": undefined,
  "confirmation-reminded": "confirmation.reminded",
  "confirmation-escalated": "confirmation.escalated",
  "confirmation-expired": "confirmation.expired",
  "confirmation-cancelled": "confirmation.cancelled",
  "confirmation-restored": undefined,
  "decision-refused": undefined,
  "calls-started": undefined,
  "calls-answered": undefined,
  "call-allowed": undefined,
  "call-started": undefined,
  "call-succeeded": "ended",
  "call-failed": "ended",
  "call-denied": "late",
  "call-expired": "late",
  "call-cancelled": undefined,
  "call-unknown": "call.unknown",
  "call-released": undefined,
  "call-delegated": undefined,
  "call-returned": undefined,
  "call-result": undefined,
  "call-settled": "call.settled",
  "late-result": undefined,
  "grant-minted": undefined,
  "grant-used": undefined,
  "grant-refunded": undefined,
  "grant-refused": undefined,
  "grant-revoked": undefined,
  "step-started": undefined,
  "step-done": undefined,
  "step-failed": undefined,
  "delegation-made": undefined,
  "delegation-revoked": undefined,
  "hold-placed": undefined,
  "hold-released": undefined,
  "tenant-changed": undefined,
  "run-cancelled": undefined,
  "session-imported": undefined,
  "session-deleted": undefined,
  "session-pruned": undefined,
  "retention-run": undefined,
  "journal-archived": undefined,
  "person-erased": undefined,
};
const CURRENT_ONLY: ReadonlySet<NoticeType> = new Set(["confirmation.voted", "call.ended"]);
const ID_LENGTH = 32;

/** The notice type of a journal record; undefined for most records. */
export function noticeTypeOf(record: Pick<JournalRecord, "kind" | "body">): NoticeType | undefined {
  const type = isJournalKind(record.kind) ? TYPES[record.kind] : undefined;
  if (type !== "late" && type !== "ended") return type;
  const entry = parseEntry(record);
  if (entry.state === "readable" && "late" in entry.body && entry.body.late) return "call.settled";
  return type === "ended" ? "call.ended" : undefined;
}

/** Does the channel get notices of this type? */
export function isWanted(
  type: NoticeType | undefined,
  { keepsCurrent = false }: Pick<Channel, "keepsCurrent">,
): boolean {
  return type !== undefined && (keepsCurrent || !CURRENT_ONLY.has(type));
}

/** Do the rules that ask want this channel to be told? Of an outcome that is unknown, and what it was, every channel is. */
export function isFor(
  { about, type }: Pick<Notice, "about" | "type">,
  { name }: Pick<Channel, "name">,
): boolean {
  if (!("id" in about) || about.notify === undefined || !type.startsWith("confirmation.")) return true;
  return about.notify.includes(name);
}

/** The channels that a question is for, if none of them runs: then every channel tells of it. Otherwise empty. */
export function missingChannels(
  { about, type }: Pick<Notice, "about" | "type">,
  running: ReadonlySet<string>,
): readonly string[] {
  const { notify = [] } = "id" in about && type.startsWith("confirmation.") ? about : {};
  return notify.some((name) => running.has(name)) ? [] : notify;
}

/** The notice of a record, with the current state; undefined if nothing is left to send, as after an erasure. */
export async function readNotice(
  ledger: Ledger,
  { channel, seq }: { readonly channel: string; readonly seq: number },
  { link, directory }: Pick<DeliveriesOptions, "link" | "directory">,
): Promise<Notice | undefined> {
  const [record] = await ledger.journal.records({ after: seq - 1, until: seq, limit: 1 });
  const type = record && noticeTypeOf(record);
  if (record === undefined || type === undefined) return undefined;
  const found = await readSubject(ledger, record);
  if (found === undefined) return undefined;
  return {
    id: noticeId(channel, record),
    type,
    sequence: seq,
    revision: found.revision,
    at: record.at,
    about: found.about,
    ...(found.confirmation === undefined ? {} : { known: await knownOf(ledger, directory) }),
    ...(link === undefined || found.confirmation === undefined ? {} : { link: link(found.confirmation) }),
    ...(link === undefined ? {} : { linkFor: link }),
  };
}

async function knownOf(ledger: Ledger, directory: Directory | undefined): Promise<PeopleKnown> {
  const delegations = await allDelegations(ledger);
  return directory === undefined ? { delegations } : { delegations, directory };
}

type Subject = Pick<Notice, "about" | "revision"> & { readonly confirmation?: string };

async function readSubject(ledger: Ledger, record: JournalRecord): Promise<Subject | undefined> {
  const entry = parseEntry(record);
  if (entry.state !== "readable") return undefined;
  const named = entrySubject(entry);
  const snapshot =
    named.confirmation !== undefined
      ? await ledger.load({ confirmation: named.confirmation })
      : named.call !== undefined
        ? await ledger.load({ call: named.call })
        : undefined;
  const { call, confirmation, session } = snapshot ?? {};
  if (call === undefined || session === undefined) return undefined;
  const { version: revision } = session;
  if (confirmation !== undefined) {
    return {
      about: toConfirmation({ confirmation, call, session }),
      revision,
      confirmation: confirmation.id,
    };
  }
  const about: NotedCall = {
    callId: call.wireId,
    turn: turnOf(call),
    status: call.status,
    app: call.app,
    agent: call.agent,
    user: call.requesters?.at(-1) ?? session.user,
    session: session.id,
    tool: call.tool,
    args: redact(call.args, call.secrets),
  };
  return { about, revision };
}

// The record's hash is unique per ledger, so two ledgers can share a recipient.
function noticeId(channel: string, { hash, seq }: JournalRecord): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([channel, hash, seq]))
    .digest("hex");
  return `msg_${digest.slice(0, ID_LENGTH)}`;
}

import { createHash } from "node:crypto";
import {
  allDelegations,
  type Delivery,
  entrySubject,
  isJournalKind,
  type JournalKind,
  type JournalRecord,
  type Ledger,
  parseEntry,
  redact,
  type Snapshot,
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
  "journal-pruned": undefined,
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

/** Do the rules that ask want this channel to be told? Every channel is told of an unknown outcome, and how it was settled. */
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

type NamedRecord = Pick<Delivery, "channel" | "seq">;
type Reading = Pick<DeliveriesOptions, "link" | "directory">;

/**
 * Reads the notices of records that are told at once: what all of them need is read together. Each has the current state;
 * it is undefined if nothing is left to send, as after an erasure.
 */
export function noticesOf(
  ledger: Ledger,
  records: readonly NamedRecord[],
  reading: Reading,
): (record: NamedRecord) => Promise<Notice | undefined> {
  const together = readMaterial(ledger, records);
  // Everyone who needs it is told.
  together.catch(() => {});
  return async (record) => {
    // What cannot be read must not fail the others.
    const material = await together.catch(() => readMaterial(ledger, [record]));
    return toNotice(record, material, reading);
  };
}

/** What notices are made of. */
interface Material {
  readonly records: ReadonlyMap<number, JournalRecord>;
  readonly snapshots: ReadonlyMap<number, Snapshot>;
  readonly delegations: Awaited<ReturnType<typeof allDelegations>>;
}

async function readMaterial(ledger: Ledger, asked: readonly NamedRecord[]): Promise<Material> {
  const records = await ledger.journal.recordsAt(asked.map(({ seq }) => seq));
  const named = records.flatMap((record) => {
    const target = targetOf(record);
    return target === undefined ? [] : [{ seq: record.seq, target }];
  });
  const [snapshots, delegations] = await Promise.all([
    ledger.loadAll(named.map(({ target }) => target)),
    named.length === 0 ? [] : allDelegations(ledger),
  ]);
  return {
    records: new Map(records.map((record) => [record.seq, record])),
    snapshots: new Map(
      named.flatMap(({ seq }, at) => {
        const snapshot = snapshots[at];
        return snapshot === undefined ? [] : [[seq, snapshot] as const];
      }),
    ),
    delegations,
  };
}

function targetOf(record: JournalRecord): Parameters<Ledger["loadAll"]>[0][number] | undefined {
  const entry = parseEntry(record);
  if (entry.state !== "readable") return undefined;
  const { confirmation, call } = entrySubject(entry);
  if (confirmation !== undefined) return { confirmation };
  return call === undefined ? undefined : { call };
}

function toNotice(
  { channel, seq }: NamedRecord,
  { records, snapshots, delegations }: Material,
  { link, directory }: Reading,
): Notice | undefined {
  const record = records.get(seq);
  const type = record && noticeTypeOf(record);
  const found = toSubject(snapshots.get(seq));
  if (record === undefined || type === undefined || found === undefined) return undefined;
  const { about, revision, confirmation } = found;
  const known: PeopleKnown = directory === undefined ? { delegations } : { delegations, directory };
  return {
    id: noticeId(channel, record),
    type,
    sequence: seq,
    revision,
    at: record.at,
    about,
    ...(confirmation === undefined ? {} : { known }),
    ...(link === undefined || confirmation === undefined ? {} : { link: link(confirmation) }),
    ...(link === undefined ? {} : { linkFor: link }),
  };
}

type Subject = Pick<Notice, "about" | "revision"> & { readonly confirmation?: string };

function toSubject({ call, confirmation, session }: Partial<Snapshot> = {}): Subject | undefined {
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

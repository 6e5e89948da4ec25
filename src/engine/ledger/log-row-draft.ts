import { CountersignError, type StoredEvent } from "../../protocol/index.ts";
import { bodyDigest, throughJson } from "../common/index.ts";
import {
  type BodyOf,
  eventId,
  eventText,
  type JournalKind,
  MOST_RECORDS,
  rowBody,
  rowHash,
} from "../journal/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Commit } from "./commit.ts";

/** An event before the ledger's clock and order are on it. */
export type EventDraft = Partial<StoredEvent> & Pick<StoredEvent, "author" | "invocationId">;

/** What an event takes beside its text, in the memory of whoever reads it. */
const EVENT_OVERHEAD = 512;

/** Where a commit's row is in the log, and what it follows. */
interface LogPlace extends Pick<Commit["log"], "session" | "n" | "at"> {
  /** The hash of the row before it in the session. */
  readonly previousHash: string;
  /** How many events the session has before it. */
  readonly eventsBefore: number;
}

/** The events and journal records of one commit, and the log row that they become. */
export class LogRowDraft {
  readonly #parts: EngineParts;
  readonly #place: Pick<Commit["log"], "session" | "n" | "at">;
  readonly #previousHash: string;
  readonly #eventsBefore: number;
  readonly #events: StoredEvent[] = [];
  readonly #eventTexts: string[] = [];
  readonly #kinds: JournalKind[] = [];
  readonly #bodies: string[] = [];
  readonly #asked: BodyOf<"confirmation-requested">[] = [];
  #bytes = 0;
  #row: Commit["log"] | undefined;

  constructor(parts: EngineParts, { session, n, at, previousHash, eventsBefore }: LogPlace) {
    this.#parts = parts;
    this.#place = { session, n, at };
    this.#previousHash = previousHash;
    this.#eventsBefore = eventsBefore;
  }

  /** The events, as they will be read: nothing but JSON, and nobody else's to change. */
  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** How much the events take in the memory of whoever reads them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends an event; returns it as it will be stored. */
  event(draft: EventDraft): StoredEvent {
    const text = eventText(draft, this.#events.at(-1), this.#asked);
    // Neither member may come before the spread: `draft` is typed without them but open to extras.
    const id = draft.id ?? eventId(this.#place, this.#events.length);
    // Copied: a tool or a model may go on to change what they gave.
    const event: StoredEvent = throughJson({ ...draft, id, timestamp: this.#place.at });
    this.#assertOpen();
    this.#events.push(event);
    this.#eventTexts.push(text);
    this.#bytes += Buffer.byteLength(text) + EVENT_OVERHEAD;
    return event;
  }

  journal<Kind extends JournalKind>(kind: Kind, body: BodyOf<Kind>): void {
    this.#assertOpen();
    this.#kinds.push(kind);
    this.#bodies.push(JSON.stringify(body));
    if (kind === "confirmation-requested") this.#asked.push(body as BodyOf<"confirmation-requested">);
  }

  #assertOpen(): void {
    if (this.#row !== undefined)
      throw new CountersignError("internal", "The commit was already made from this draft.");
    if (this.#kinds.length >= MOST_RECORDS)
      throw new CountersignError(
        "internal",
        `A commit of session "${this.#place.session}" has too many records.`,
      );
  }

  /** The row with its hash. Hashed once: nothing is added to what has a hash. */
  get row(): Commit["log"] {
    if (this.#row !== undefined) return this.#row;
    const body = rowBody(this.#place.session, this.#bodies, this.#eventTexts);
    const unhashed = {
      ...this.#place,
      kinds: this.#kinds,
      digest: bodyDigest(this.#parts.ledger.digestKey, body),
    };
    const hash = rowHash(this.#parts.hasher, this.#previousHash, unhashed, this.#parts.knownSeal.k);
    this.#row = { ...unhashed, hash, events: this.#eventsBefore + this.#events.length, body };
    return this.#row;
  }
}

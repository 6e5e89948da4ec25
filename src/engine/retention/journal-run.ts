import { isJsonArray, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import type { Decider } from "../decisions/index.ts";
import { actor, diaryDraft, RETENTION_DIARY } from "../holds/index.ts";
import type { PrunedSession } from "../journal/index.ts";
import { type LogRow, type SessionRecord, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { agedJournal, holdOnJournal } from "./aged-journal.ts";
import { readMark } from "./archive-run.ts";
import { advance, type Boundary, boundaryOf, readDiary } from "./journal-boundary.ts";
import type { JournalRules, RetentionRules } from "./rules.ts";

/** What a run removed from the journal, and what it left because of something other than its age. */
export interface JournalReport {
  readonly sessions: number;
  readonly commits: number;
  /** Sessions that a legal hold kept. */
  readonly held: number;
  /** Sessions that are not in an archive yet, although this ledger is archived. */
  readonly unarchived: number;
  /** Sessions whose chain is not intact. */
  readonly unsound: number;
}

/** How the journal is pruned. */
export interface JournalRunOptions {
  readonly rules: Pick<RetentionRules, "version"> & { readonly journal: JournalRules };
  readonly decider: Decider;
  readonly batch: number;
  /** A turn for others. False if the run must end. */
  readonly rest: () => Promise<boolean>;
  readonly onHeld?: ((session: string, why: string) => void) | undefined;
}

/** Guards what the newest record says; its value has the sessions that are about to be buried. */
const PLACE = { kind: "pruned journal", id: "place" } as const;

interface Going {
  readonly session: SessionRecord;
  readonly rows: readonly LogRow[];
  readonly file?: number;
}

/**
 * Removes the lines of erased sessions that are past their age: whole sessions only, up to a checkpoint that is. First the
 * session is buried, so that nothing follows in it; then a record of the diary says that its lines go, and which ones are left;
 * then they go. Whoever dies in between is continued by the next run.
 */
export class JournalRun {
  readonly #parts: EngineParts;
  readonly #options: JournalRunOptions;
  #boundary: Boundary;
  #version: number;
  /** Buried by a process that died, and not yet said to go: a hold may have come in between. */
  #waiting: readonly string[] = [];
  readonly #isArchived: boolean;
  #report: JournalReport = { sessions: 0, commits: 0, held: 0, unarchived: 0, unsound: 0 };

  private constructor(
    parts: EngineParts,
    options: JournalRunOptions,
    from: { readonly boundary: Boundary; readonly version: number; readonly isArchived: boolean },
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#boundary = from.boundary;
    this.#version = from.version;
    this.#isArchived = from.isArchived;
  }

  static async begin(parts: EngineParts, options: JournalRunOptions): Promise<JournalRun> {
    const { ledger } = parts;
    // Before the diary: whoever writes there moves it.
    const place = await ledger.items.get(PLACE.kind, PLACE.id);
    const { pruned, isArchived } = await readDiary(parts);
    const boundary = await boundaryOf(parts, pruned);
    await ledger.journal.dropLines(pruned?.body.sessions.map(({ key }) => key) ?? []);
    const run = new JournalRun(parts, options, { boundary, version: place?.version ?? 0, isArchived });
    await run.#takeOver(place?.value);
    return run;
  }

  get report(): JournalReport {
    return this.#report;
  }

  async run(): Promise<"done" | "stopped"> {
    if (!(await this.#advance())) return "stopped";
    const { ledger } = this.#parts;
    const { rules, batch } = this.#options;
    const which = { idleSince: ledger.now - rules.journal.shortestMs, deleted: true } as const;
    let cursor: string | undefined;
    do {
      const request = { limit: batch, ...(cursor === undefined ? {} : { cursor }) };
      const { items, next } = await ledger.sessions(which, request);
      if (!(await this.#remove(items.filter(({ pruned }) => pruned === undefined)))) return "stopped";
      cursor = next;
      if (cursor !== undefined && !(await this.#options.rest())) return "stopped";
    } while (cursor !== undefined);
    return "done";
  }

  /** As far as anything can be past its age. */
  async #advance(): Promise<boolean> {
    const { shortestMs } = this.#options.rules.journal;
    for (;;) {
      const further = await advance(this.#parts, this.#boundary, this.#parts.ledger.now - shortestMs);
      if (further === undefined) return true;
      this.#boundary = further;
      if (!(await this.#note([])) || !(await this.#options.rest())) return false;
    }
  }

  /** A process that died may have buried some and not have said so. */
  async #takeOver(value: unknown): Promise<void> {
    const going = isJsonObject(value) && isJsonArray(value["going"]) ? value["going"] : [];
    const sessions: SessionRecord[] = [];
    for (const key of going.filter((each) => typeof each === "string")) {
      const { session } = (await this.#parts.ledger.load({ sessionKey: key })) ?? {};
      const [line] = await this.#parts.ledger.journal.sessionRows(key, { after: 0, limit: 1 });
      if (session?.pruned !== undefined && line !== undefined) sessions.push(session);
    }
    this.#waiting = sessions.map(({ key }) => key);
    await this.#remove(sessions);
  }

  /** False if another process has pruned meanwhile. */
  async #remove(sessions: readonly SessionRecord[]): Promise<boolean> {
    const judged: Going[] = [];
    for (const session of sessions) {
      const going = await this.#judge(session);
      if (going !== undefined) judged.push(going);
    }
    if (judged.length === 0) return true;
    const value = aboutToGo([...this.#waiting, ...judged.map(({ session: { key } }) => key)]);
    if (!(await this.#parts.ledger.items.put({ ...PLACE, value }, this.#version))) return false;
    this.#version += 1;
    const buried: Going[] = [];
    for (const going of judged) if (await this.#bury(going)) buried.push(going);
    if (buried.length === 0) return true;
    for (const { rows } of buried) for (const row of rows) this.#boundary.left.take(row);
    if (!(await this.#note(buried))) return false;
    await this.#parts.ledger.journal.dropLines(buried.map(({ session: { key } }) => key));
    for (const { session } of buried) await this.#forgetMark(session.key);
    return true;
  }

  async #judge(session: SessionRecord): Promise<Going | undefined> {
    const upTo = this.#boundary.checkpoint.lastSeq;
    const aged = await agedJournal(this.#parts, session, { rules: this.#options.rules.journal, upTo });
    if (!aged.goes) {
      if (aged.why === "unsound") this.#count({ unsound: 1 });
      if (aged.why === "held") this.#noteHeld(session.key, aged.hold.id);
      return undefined;
    }
    const mark = await readMark(this.#parts.ledger, session.key);
    const file = session.pruned?.file ?? (mark?.n === session.chain.n ? mark.file : undefined);
    if (file === undefined && this.#isArchived && session.pruned === undefined) {
      this.#count({ unarchived: 1 });
      return undefined;
    }
    return { session, rows: aged.rows, ...(file === undefined ? {} : { file }) };
  }

  async #bury({ session, file }: Going): Promise<boolean> {
    if (session.pruned !== undefined) return true;
    return this.#parts.ledger.bury(session, file === undefined ? {} : { file }, async () => {
      const { guard, hold } = await holdOnJournal(this.#parts, session);
      if (hold !== undefined) this.#noteHeld(session.key, hold.id);
      return hold === undefined ? guard : undefined;
    });
  }

  #noteHeld(session: string, hold: string): void {
    this.#count({ held: 1 });
    this.#options.onHeld?.(session, `The hold ${hold} keeps its journal.`);
  }

  /** Says in the journal whose lines go, and what is left. False if another process has pruned meanwhile. */
  async #note(going: readonly Going[]): Promise<boolean> {
    const { rules, decider } = this.#options;
    const { checkpoint, left } = this.#boundary;
    const { k, hash, lastSeq } = checkpoint;
    const sessions: readonly PrunedSession[] = going.map(({ session: { key, chain }, file }) => ({
      key,
      ...chain,
      ...(file === undefined ? {} : { file }),
    }));
    const gone = new Set(sessions.map(({ key }) => key));
    const waiting = this.#waiting.filter((key) => !gone.has(key));
    const isNoted = await transact<boolean>(this.#parts, { session: RETENTION_DIARY }, async (snapshot) => {
      const known = await this.#parts.ledger.items.get(PLACE.kind, PLACE.id);
      if ((known?.version ?? 0) !== this.#version) return { value: false };
      const draft = diaryDraft(this.#parts, snapshot);
      draft.journal("journal-pruned", {
        rules: rules.version,
        checkpoint: { k, hash },
        upTo: lastSeq,
        left: left.value,
        sessions,
        ...actor(decider),
      });
      draft.write({ kind: "item", item: { ...PLACE, value: aboutToGo(waiting) }, read: this.#version });
      return { draft, value: true };
    });
    if (!isNoted) return false;
    this.#version += 1;
    this.#waiting = waiting;
    this.#count({ sessions: going.length, commits: going.reduce((sum, { rows }) => sum + rows.length, 0) });
    return true;
  }

  async #forgetMark(session: string): Promise<void> {
    const mark = await this.#parts.ledger.items.get("archived", session);
    if (mark !== undefined) await this.#parts.ledger.items.remove(mark);
  }

  #count(more: Partial<JournalReport>): void {
    const before = this.#report;
    this.#report = {
      sessions: before.sessions + (more.sessions ?? 0),
      commits: before.commits + (more.commits ?? 0),
      held: before.held + (more.held ?? 0),
      unarchived: before.unarchived + (more.unarchived ?? 0),
      unsound: before.unsound + (more.unsound ?? 0),
    };
  }
}

/** What the next run continues with if this one dies. */
function aboutToGo(keys: readonly string[]): JsonObject {
  return keys.length === 0 ? {} : { going: [...new Set(keys)] };
}

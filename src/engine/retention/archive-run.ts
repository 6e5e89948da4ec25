import { CountersignError, isJsonObject, type JsonObject } from "../../protocol/index.ts";
import {
  type ArchiveFile,
  type ArchivePlace,
  archiveLines,
  type CheckedFile,
  checkFile,
  faultOfSession,
  inspectChain,
  ledgerId,
  NO_ARCHIVE,
  type SessionEnd,
} from "../archives/index.ts";
import type { Decider } from "../decisions/index.ts";
import { actor, diaryDraft, isDiary, RETENTION_DIARY } from "../holds/index.ts";
import { eachOf, type Ledger, type SessionRecord, transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { RunLease } from "./lease.ts";

/** Where archive files are kept. */
export interface ArchiveFolder {
  /** For messages. */
  nameOf(file: ArchiveFile): string;
  /** The lines of a file; undefined where there is none. */
  read(file: ArchiveFile): Promise<AsyncIterable<string> | undefined>;
  /** Keeps a file, whole and on disk when the promise resolves. False, and nothing is kept, where there is one of this number. */
  write(file: ArchiveFile, lines: AsyncIterable<string>): Promise<boolean>;
}

/** How sessions are archived. */
export interface ArchiveOptions {
  readonly folder: ArchiveFolder;
  /** Only sessions in which nothing has happened for this long. */
  readonly olderThanMs: number;
  /** In whose name; journalled. */
  readonly decider: Decider;
  /** The most sessions in one file. */
  readonly batch?: number;
  /** How long others get a turn after each file. */
  readonly pauseMs?: number;
  readonly signal?: AbortSignal;
  /** Told of each session that is not archived because its chain is not sound. */
  readonly onUnsound?: (session: string, fault: string) => void;
  readonly onFile?: (name: string, sessions: number) => void;
}

/** What was archived. `elsewhere`: another process runs retention now. `stopped`: the next run goes on from there. */
export interface ArchiveRun {
  readonly files: number;
  readonly sessions: number;
  readonly unsound: number;
  readonly ended: "done" | "stopped" | "elsewhere";
}

const BATCH = 200;
const PAUSE_MS = 100;
/** A file gets no further session once its bodies take this much. */
const MOST_BYTES = 32_000_000;
const PLACE = { kind: "archives", id: "place" } as const;
const MARK = "archived";

/**
 * Writes the journal of finished sessions into files, in one process at a time. What a file contains is noted in the
 * ledger once the file is on disk; a process that dies between the two leaves a file that the next run takes over.
 */
export async function runArchive(parts: EngineParts, options: ArchiveOptions): Promise<ArchiveRun> {
  await parts.ready();
  const run = (lease: RunLease): Promise<ArchiveRun> => new Archiver(parts, options, lease).run();
  const done = await RunLease.during(parts, "retention", run);
  return done ?? { files: 0, sessions: 0, unsound: 0, ended: "elsewhere" };
}

class Archiver {
  readonly #parts: EngineParts;
  readonly #options: ArchiveOptions;
  readonly #lease: RunLease;
  #counted = { files: 0, sessions: 0, unsound: 0 };

  constructor(parts: EngineParts, options: ArchiveOptions, lease: RunLease) {
    this.#parts = parts;
    this.#options = options;
    this.#lease = lease;
  }

  async run(): Promise<ArchiveRun> {
    await this.#takeOver();
    await this.#checkLast();
    const before = this.#parts.ledger.now - this.#options.olderThanMs;
    const waiting = this.#unarchived(before);
    for (;;) {
      const sessions = await this.#nextBatch(waiting);
      if (sessions.length === 0) return { ...this.#counted, ended: "done" };
      await this.#writeFile(sessions);
      if (!(await this.#rest())) return { ...this.#counted, ended: "stopped" };
    }
  }

  /** A process that died may have written the next file and not have said so. */
  async #takeOver(): Promise<void> {
    for (;;) {
      const place = await readPlace(this.#parts.ledger);
      const lines = await this.#options.folder.read(this.#fileAfter(place));
      if (lines === undefined) return;
      await this.#note(place, await this.#read(place, lines));
    }
  }

  /** Files of one ledger are one series: whoever continues it must have its last file. */
  async #checkLast(): Promise<void> {
    const { file, seal } = await readPlace(this.#parts.ledger);
    if (file === 0) return;
    const last = this.#fileAfter({ file: file - 1 });
    const lines = await this.#options.folder.read(last);
    const found = lines && (await checkFile(lines, { ...this.#keys(), report: () => {} }));
    if (found?.seal === seal) return;
    throw new CountersignError(
      "invalid-option",
      `The last archive file of this ledger, ${this.#options.folder.nameOf(last)}, is missing, or is a different file. Use the folder that has it: all archives of a ledger are one series.`,
      { details: { field: "folder" } },
    );
  }

  async #nextBatch(waiting: AsyncGenerator<SessionRecord>): Promise<readonly SessionRecord[]> {
    const { batch = BATCH, onUnsound } = this.#options;
    const sessions: SessionRecord[] = [];
    for (let bytes = 0; sessions.length < batch && bytes < MOST_BYTES; ) {
      const { value: session } = (await waiting.next()) as IteratorResult<SessionRecord, undefined>;
      if (session === undefined) break;
      const found = await inspectChain(this.#parts, session);
      if (found.fault === undefined) sessions.push(session);
      else {
        this.#counted.unsound += 1;
        onUnsound?.(session.key, found.fault);
      }
      bytes += found.bytes;
    }
    return sessions;
  }

  async *#unarchived(idleSince: number): AsyncGenerator<SessionRecord> {
    const { ledger } = this.#parts;
    for await (const session of eachOf(
      (page) => ledger.sessions({ idleSince, deleted: true }, page),
      BATCH,
    )) {
      if (isDiary(session) || session.pruned !== undefined) continue;
      const mark = await readMark(ledger, session.key);
      if (mark?.n !== session.chain.n) yield session;
    }
  }

  async #writeFile(sessions: readonly SessionRecord[]): Promise<void> {
    const { folder } = this.#options;
    const place = await readPlace(this.#parts.ledger);
    const file = this.#fileAfter(place);
    if (!(await folder.write(file, archiveLines(this.#parts, place, sessions)))) {
      throw new CountersignError(
        "ledger-busy",
        `Another process has just written ${folder.nameOf(file)}. Run the command again.`,
      );
    }
    // As it is on disk, not as it was meant: only that is noted.
    const lines = await folder.read(file);
    if (lines !== undefined) await this.#note(place, await this.#read(place, lines));
  }

  /** What a file has; throws if it is not the one that comes next in the series. */
  async #read(place: ArchivePlace, lines: AsyncIterable<string>): Promise<ReadFile> {
    const faults: string[] = [];
    const ends: SessionEnd[] = [];
    const found = await checkFile(lines, {
      ...this.#keys(),
      report: (what) => faults.push(what),
      onSession: ({ key, chain }) => ends.push({ key, chain }),
    });
    const { ledger } = this.#fileAfter(place);
    const isNext =
      found?.header.ledger === ledger &&
      found.header.file === place.file + 1 &&
      found.header.follows === place.seal;
    if (!isNext) faults.push("it does not follow the last one");
    for (const end of faults.length === 0 ? ends : []) {
      // A ledger that was set back to a backup has lost what later files tell of.
      const lost = await faultOfSession(this.#parts.ledger, end);
      if (lost !== undefined) faults.push(lost);
    }
    const [fault] = faults;
    if (found !== undefined && fault === undefined) return { found, ends };
    throw new CountersignError(
      "invalid-option",
      `${this.#options.folder.nameOf(this.#fileAfter(place))} exists, but is not the next archive file of this ledger: ${fault ?? "it cannot be read"}. Move it away and run the command again.`,
      { details: { field: "folder" } },
    );
  }

  /** Says in the journal what the file contains, and marks its sessions, in one commit. */
  async #note(place: ArchivePlace, { found, ends }: ReadFile): Promise<void> {
    const { header, seal, lastCheckpoint: checkpoint, sessions } = found;
    const { file } = header;
    await transact<void>(this.#parts, { session: RETENTION_DIARY }, async (snapshot) => {
      const known = await this.#parts.ledger.items.get(PLACE.kind, PLACE.id);
      if (toPlace(known?.value).file !== place.file) return { value: undefined };
      const draft = diaryDraft(this.#parts, snapshot);
      draft.journal("journal-archived", { file, seal, sessions, ...actor(this.#options.decider) });
      const value = { file, seal, checkpoint: { ...checkpoint } } satisfies JsonObject;
      draft.write({ kind: "item", item: { ...PLACE, value }, read: known?.version ?? 0 });
      for (const { key, chain } of ends) {
        const { version = 0 } = (await this.#parts.ledger.items.get(MARK, key)) ?? {};
        const mark = { kind: MARK, id: key, value: { n: chain.n, file } };
        draft.write({ kind: "item", item: mark, read: version });
      }
      return { draft, value: undefined };
    });
    this.#counted.files += 1;
    this.#counted.sessions += sessions;
    this.#options.onFile?.(this.#options.folder.nameOf(this.#fileAfter(place)), sessions);
  }

  #fileAfter({ file }: Pick<ArchivePlace, "file">): ArchiveFile {
    return { ledger: ledgerId(this.#parts.ledger.digestKey), file: file + 1 };
  }

  #keys(): { readonly hasher: EngineParts["hasher"]; readonly keyed: boolean } {
    return { hasher: this.#parts.hasher, keyed: this.#parts.secret !== undefined };
  }

  /** False if the run must end. */
  async #rest(): Promise<boolean> {
    const { signal, pauseMs = PAUSE_MS } = this.#options;
    await this.#parts.clock.sleep(pauseMs, signal);
    return this.#lease.goesOn(signal);
  }
}

interface ReadFile {
  readonly found: CheckedFile;
  readonly ends: readonly SessionEnd[];
}

async function readPlace({ items }: Pick<Ledger, "items">): Promise<ArchivePlace> {
  return toPlace((await items.get(PLACE.kind, PLACE.id))?.value);
}

function toPlace(value: unknown): ArchivePlace {
  if (!isJsonObject(value)) return NO_ARCHIVE;
  const { file, seal, checkpoint } = value;
  if (typeof file !== "number" || typeof seal !== "string" || !isJsonObject(checkpoint)) return NO_ARCHIVE;
  const { k, hash } = checkpoint;
  return typeof k === "number" && typeof hash === "string"
    ? { file, seal, checkpoint: { k, hash } }
    : NO_ARCHIVE;
}

/** Up to which commit a session is archived, and in which file. */
export async function readMark(
  { items }: Pick<Ledger, "items">,
  session: string,
): Promise<{ readonly n: number; readonly file: number } | undefined> {
  const value = (await items.get(MARK, session))?.value;
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { n, file } = value;
  return typeof n === "number" && typeof file === "number" ? { n, file } : undefined;
}

import { ChainWalk } from "../audit/index.ts";
import { bodyDigestAfter } from "../common/index.ts";
import { type ChainHasher, checkpointHash, lostBefore } from "../journal/index.ts";
import type { CheckpointRecord, LogRow } from "../ledger/index.ts";
import {
  type ArchivedSession,
  type ArchiveEnd,
  type ArchiveHeader,
  type CheckpointPlace,
  LinesDigest,
  sealOf,
} from "./format.ts";
import { parseArchiveLine } from "./parse-line.ts";

/** What a file is checked with. */
export interface FileCheck {
  readonly hasher: ChainHasher;
  /** Is there a secret? */
  readonly keyed: boolean;
  readonly report: (what: string) => void;
  /** Told of each session with what is known of it. Its chain was checked. */
  readonly onSession?: (session: ArchivedSession) => unknown;
}

/** What a file says that it is; what was counted in it. */
export interface CheckedFile {
  readonly header: ArchiveHeader;
  readonly seal: string;
  readonly lastCheckpoint: CheckpointPlace;
  readonly sessions: number;
  readonly rows: number;
  readonly records: number;
  readonly erased: number;
  readonly checkpoints: number;
}

/**
 * Checks one file, line by line: every chain in it is whole and unaltered from its first commit to the end that the file
 * names, its checkpoints follow each other, and its seal is over exactly these lines. Undefined where it is no archive.
 */
export async function checkFile(
  lines: AsyncIterable<string>,
  check: FileCheck,
): Promise<CheckedFile | undefined> {
  const walk = new FileWalk(check);
  try {
    for await (const line of lines) if (!walk.take(line)) break;
  } catch (error) {
    walk.fail(error);
  }
  return walk.end();
}

class FileWalk {
  readonly #check: FileCheck;
  readonly #digest = new LinesDigest();
  #number = 0;
  #header: ArchiveHeader | undefined;
  #lastCheckpoint: CheckpointPlace = { k: 0, hash: "" };
  #session: { readonly about: ArchivedSession; readonly walk: ChainWalk } | undefined;
  #end: ArchiveEnd | undefined;
  #isStopped = false;
  #isUnreadable = false;
  #counted = { sessions: 0, rows: 0, records: 0, erased: 0, checkpoints: 0 };

  constructor(check: FileCheck) {
    this.#check = check;
  }

  /** False where nothing that follows could be checked. */
  take(text: string): boolean {
    this.#number += 1;
    const line = parseArchiveLine(text);
    if (line === undefined) return this.#stop(`line ${this.#number} is not a line of an archive`);
    if (this.#end !== undefined) return this.#stop(`line ${this.#number} comes after the end`);
    if ("end" in line) {
      if (this.#header === undefined) return this.#stop("it does not begin like an archive");
      const { sessions, rows, digest, seal } = line.end;
      // Its own text is in no digest.
      if (text !== JSON.stringify({ end: { sessions, rows, digest, seal } }))
        this.#check.report("its end was changed");
      this.#end = line.end;
      return true;
    }
    this.#digest.add(text);
    if ("archive" in line) return this.#begin(line);
    if (this.#header === undefined) return this.#stop("it does not begin like an archive");
    if ("session" in line) this.#enter(this.#header, line.session);
    else if ("row" in line) this.#takeRow(line.row);
    else this.#takeCheckpoint(line.checkpoint);
    return true;
  }

  /** No more lines could be read. */
  fail(error: unknown): void {
    this.#isUnreadable = true;
    const why = error instanceof Error ? error.message : String(error);
    this.#check.report(`it cannot be read to its end (${why})`);
  }

  end(): CheckedFile | undefined {
    this.#leave();
    if (this.#header === undefined) {
      if (this.#number === 0 && !this.#isUnreadable) this.#check.report("it is empty");
      return undefined;
    }
    const seal = this.#checkEnd();
    return { header: this.#header, seal, lastCheckpoint: this.#lastCheckpoint, ...this.#counted };
  }

  #checkEnd(): string {
    const { report, hasher } = this.#check;
    if (this.#isStopped) return this.#end?.seal ?? "";
    if (this.#end === undefined) {
      report("its end is missing: it was cut off");
      return "";
    }
    const { digest, seal, sessions, rows } = this.#end;
    const isSame = this.#digest.end() === digest;
    if (!isSame) report("its lines do not match the digest at its end");
    if (sessions !== this.#counted.sessions || rows !== this.#counted.rows)
      report(`its end says ${sessions} sessions and ${rows} commits, but there are not as many`);
    if (sealOf(hasher, digest) !== seal) report("its seal does not match: it was made with another secret");
    return seal;
  }

  #begin(header: ArchiveHeader): boolean {
    if (this.#header !== undefined) return this.#stop(`line ${this.#number} begins another archive`);
    this.#header = header;
    this.#lastCheckpoint = header.checkpoint;
    const { keyed, report } = this.#check;
    if (header.keyed && !keyed)
      return this.#stop(
        "it was made with a secret, and cannot be checked without it: set COUNTERSIGN_SECRET",
      );
    if (!header.keyed && keyed) report("it says that it was made without a secret");
    return true;
  }

  #enter({ bodyPrefix }: ArchiveHeader, about: ArchivedSession): void {
    this.#leave();
    const digestOf = (body: string): string => bodyDigestAfter(bodyPrefix, body);
    const report = (where: string, what: string): void => this.#check.report(`${where}: ${what}`);
    const walk = new ChainWalk({ hasher: this.#check.hasher, digestOf }, about.key, report);
    this.#session = { about, walk };
    this.#counted.sessions += 1;
  }

  #leave(): void {
    if (this.#session === undefined) return;
    const { about, walk } = this.#session;
    this.#session = undefined;
    walk.finish();
    const { n, hash } = walk.end;
    if (n !== about.chain.n || hash !== about.chain.hash)
      this.#check.report(
        `session ${about.key}: its chain ends at commit ${n}, but the session says ${about.chain.n}`,
      );
    this.#counted.records += walk.records;
    this.#counted.erased += walk.erased;
    this.#check.onSession?.(about);
  }

  #takeRow(row: Omit<LogRow, "session">): void {
    this.#counted.rows += 1;
    if (this.#session === undefined) this.#check.report(`line ${this.#number} belongs to no session`);
    else this.#session.walk.take({ ...row, session: this.#session.about.key });
  }

  #takeCheckpoint(checkpoint: CheckpointRecord): void {
    const { k, hash } = checkpoint;
    const { hasher, report } = this.#check;
    const last = this.#lastCheckpoint;
    if (k !== last.k + 1) report(`checkpoint ${last.k + 1} is missing`);
    if (checkpointHash(hasher, last.hash, checkpoint, lostBefore(hash)) !== hash)
      report(`checkpoint ${k}: its hash does not match the checkpoint before it`);
    this.#lastCheckpoint = { k, hash };
    this.#counted.checkpoints += 1;
  }

  #stop(what: string): false {
    this.#isStopped = true;
    this.#check.report(what);
    return false;
  }
}

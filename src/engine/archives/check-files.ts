import type { Fault } from "../audit/index.ts";
import { chainHasher } from "../journal/index.ts";
import { type CheckedFile, checkFile } from "./check-file.ts";
import type { ArchivedSession } from "./format.ts";
import { archiveLimits } from "./limits.ts";

const MOST_FAULTS = 100;

/** A file of an archive, wherever it lies. */
export interface NamedLines {
  readonly name: string;
  readonly lines: AsyncIterable<string>;
}

/** What a check of archive files found. */
export interface ArchiveVerification {
  readonly ok: boolean;
  readonly files: number;
  /** A session that went on after it was archived counts again in a later file. */
  readonly sessions: number;
  readonly records: number;
  /** How many of them have no content any more, as a later record of the session says. */
  readonly erased: number;
  readonly checkpoints: number;
  readonly faults: readonly Fault[];
  /** What this check cannot detect, as sentences. */
  readonly cannotDetect: readonly string[];
}

/** How to check. */
export interface ArchiveCheck {
  readonly secret?: string | undefined;
  /** Compares each file with a ledger, too. */
  readonly beside?: BesideLedger;
}

/** Where the chain of an archived session ends. */
export type SessionEnd = Pick<ArchivedSession, "key" | "chain">;

/** What a ledger says of the files that are checked. */
export interface BesideLedger {
  /** Told of each file that could be read, with its name and where the chains in it end. */
  onFile(file: CheckedFile, name: string, ends: readonly SessionEnd[]): Promise<readonly Fault[]>;
  /** Told when all were read. */
  onEnd(): Promise<readonly Fault[]>;
}

/** A file that could be read, under its name. */
interface Found extends CheckedFile {
  readonly name: string;
}

/** Checks files one after the other, and then that they are one series without gaps. Memory grows with their number only. */
export async function verifyArchives(
  files: Iterable<NamedLines>,
  { secret, beside }: ArchiveCheck = {},
): Promise<ArchiveVerification> {
  const hasher = chainHasher(secret);
  const keyed = secret !== undefined;
  const faults: Fault[] = [];
  const add = (where: string, what: string): void => {
    if (faults.length < MOST_FAULTS) faults.push({ where, what });
  };
  const found: Found[] = [];
  for (const { name, lines } of files) {
    const report = (what: string): void => add(name, what);
    const ends: SessionEnd[] = [];
    const onSession = ({ key, chain }: ArchivedSession): unknown => ends.push({ key, chain });
    const file = await checkFile(lines, { hasher, keyed, report, onSession });
    if (file === undefined) continue;
    found.push({ ...file, name });
    for (const { where, what } of (await beside?.onFile(file, name, ends)) ?? []) add(where, what);
  }
  checkSeries(found, add);
  for (const { where, what } of (await beside?.onEnd()) ?? []) add(where, what);
  const sum = (count: (file: CheckedFile) => number): number =>
    found.reduce((total, file) => total + count(file), 0);
  return {
    ok: faults.length === 0,
    files: found.length,
    sessions: sum(({ sessions }) => sessions),
    records: sum(({ records }) => records),
    erased: sum(({ erased }) => erased),
    checkpoints: sum(({ checkpoints }) => checkpoints),
    faults,
    cannotDetect: archiveLimits({ keyed, hasLedger: beside !== undefined }),
  };
}

function checkSeries(found: readonly Found[], report: (where: string, what: string) => void): void {
  let before: Found | undefined;
  for (const file of found.toSorted((one, other) => one.header.file - other.header.file)) {
    const fault = before === undefined ? faultOfFirst(file) : faultBetween(before, file);
    if (fault !== undefined) report(file.name, fault);
    before = file;
  }
}

function faultOfFirst({ header: { file, follows, checkpoint } }: Found): string | undefined {
  if (file > 1) return missing(0, file);
  return follows === "" && checkpoint.k === 0
    ? undefined
    : "it is the first file, but says that it follows another";
}

function faultBetween(before: Found, { header }: Found): string | undefined {
  const { ledger, file, follows, checkpoint } = header;
  const { header: earlier, name, seal, lastCheckpoint } = before;
  if (ledger !== earlier.ledger)
    return `it belongs to the ledger ${ledger}, but ${name} belongs to ${earlier.ledger}`;
  if (file === earlier.file) return `it has the same number (${file}) as ${name}`;
  if (file !== earlier.file + 1) return missing(earlier.file, file);
  if (follows !== seal) return `it does not follow ${name}: it was made after a different file`;
  const goesOn = checkpoint.k === lastCheckpoint.k && checkpoint.hash === lastCheckpoint.hash;
  return goesOn ? undefined : "its checkpoints do not continue those of the file before it";
}

function missing(before: number, file: number): string {
  const [first, last] = [before + 1, file - 1];
  const which = first === last ? `file ${last} is` : `files ${first} to ${last} are`;
  return `it has the number ${file}, and ${which} missing`;
}

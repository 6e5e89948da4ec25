import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { CountersignError } from "../../../protocol/index.ts";

/** Read and write, for the owner of the file only. */
const PRIVATE = 0o600;
const OTHERS = 0o077;

// Windows has no such modes.
const HAS_MODES = process.platform !== "win32";

/**
 * Makes the file if there is none, for this user alone, whatever the umask: SQLite gives its log and its shared memory
 * the same mode. Throws `ledger-unreachable` for a symbolic link that leads nowhere, which SQLite would follow.
 */
export function makePrivate(path: string): void {
  try {
    const handle = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, PRIVATE);
    // The umask may have taken the user's own rights too.
    if (HAS_MODES) fchmodSync(handle, PRIVATE);
    closeSync(handle);
  } catch (error) {
    if (codeOf(error) === "EEXIST") refuseLooseLink(path);
    // SQLite reports whatever else is wrong with the path.
  }
}

function refuseLooseLink(path: string): void {
  try {
    realpathSync(path);
  } catch {
    throw new CountersignError(
      "ledger-unreachable",
      `The file "${path}" is a broken symbolic link. Create its target, or choose another path.`,
      { details: { path } },
    );
  }
}

/** A ledger's file, its log and its shared memory, as far as they are there; links are followed for the first only. */
export function filesOf(path: string): readonly string[] {
  try {
    const real = realpathSync(path);
    return [real, `${real}-wal`, `${real}-shm`].filter(isFile);
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The files of a ledger that others may read or write, with their modes, such as `644`. */
export function openToOthers(path: string): readonly { readonly file: string; readonly mode: string }[] {
  if (!HAS_MODES) return [];
  return filesOf(path).flatMap((file) => {
    const mode = (lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    return (mode & OTHERS) === 0 ? [] : [{ file, mode: mode.toString(8).padStart(3, "0") }];
  });
}

/** Removes the rights of others to a ledger's files, if the files belong to this user. */
export function tighten(path: string): void {
  for (const { file } of openToOthers(path)) tightenFile(file);
}

function tightenFile(file: string): void {
  try {
    const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      // The permissions of the file that was opened, not of a file that has its name by now.
      if (fstatSync(handle).isFile()) fchmodSync(handle, PRIVATE);
    } finally {
      closeSync(handle);
    }
  } catch {
    // Another user's, or gone: `doctor` says what is left open.
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/**
 * Archives: the journal of finished sessions as lines of files, and the check of such files without their ledger. Decided
 * here: what a file contains and how it is sealed; which file follows which; which faults of a file or a series a check finds, and
 * which it cannot find. Files are read and written elsewhere; when something is archived is decided in `retention`.
 */

export { besideLedger, faultOfSession } from "./beside-ledger.ts";
export { type CheckedFile, checkFile } from "./check-file.ts";
export { type ArchiveVerification, type NamedLines, type SessionEnd, verifyArchives } from "./check-files.ts";
export { type ArchiveFile, ledgerId } from "./format.ts";
export { type ArchivePlace, archiveLines, inspectChain, NO_ARCHIVE } from "./write-lines.ts";

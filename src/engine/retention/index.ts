/**
 * Retention: what is erased because of its age. Decided here: which sessions are past their age by the rules and the
 * ledger's clock, in which order and how fast they are erased, and that one process at a time does it and the next one
 * continues where it ended. What a rule says is decided by its reader (`src/retention`); what an erasure removes, in `sessions`; what a legal
 * hold keeps, in `holds`.
 */

export type { Planned } from "./aged-content.ts";
export { type ArchiveFolder, type ArchiveRun, runArchive } from "./archive-run.ts";
export { type ErasedPerson, erasePerson, type PersonalItems, type PersonErased } from "./erase-person.ts";
export type { JournalReport } from "./journal-run.ts";
export { RunLease } from "./lease.ts";
export { planRetention } from "./plan.ts";
export { readProgress } from "./progress.ts";
export type { RetentionRules } from "./rules.ts";
export { type RetentionReport, type RetentionRun, runRetention } from "./run.ts";

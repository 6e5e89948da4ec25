/**
 * Retention as an operator sets it up: the file with the rules, and the schedule on which a server runs them. Decided
 * here: which items outside of sessions are a person's; what the file may say and which rule counts where several match (the longest), and how often a run is due. What
 * a run does, and that only one runs at a time, is decided in `engine/retention`.
 */

export { archiveFileLines, archiveFolder } from "./archive-folder.ts";
export { PERSONAL_ITEMS } from "./personal-items.ts";
export { repeat } from "./repeat.ts";
export { parseRetention, type RetentionSettings } from "./rules-file.ts";
export { type ScheduleListener, scheduleRetention } from "./schedule.ts";
export { splitLines } from "./split-lines.ts";

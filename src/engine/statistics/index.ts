/**
 * Numbers about questions and decisions: how many, how long they took, what waits, and which rules could be added.
 * The journal is counted into one item per day, after the fact, so that a commit pays nothing for it and reading stays
 * the same however long the journal is. Decided here: what is counted under which day, tool and approver; how a record
 * is counted once, with any number of processes and crashes; whose numbers somebody may see; and which tools
 * are proposed for a rule. Nothing here changes a call or applies a rule.
 */

export { countJournal } from "./count-journal.ts";
export {
  countStatistics,
  MOST_DAYS,
  readStatistics,
  type Statistics,
  type StatisticsNumbers,
} from "./read-statistics.ts";
export type { Sight } from "./waiting.ts";

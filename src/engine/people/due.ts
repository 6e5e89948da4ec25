import type { ConfirmationRecord } from "../ledger/index.ts";

/** When the next reminder or escalation of a question is due; undefined if there is none left. */
export function dueAt({ reminders = [], escalations = [] }: ConfirmationRecord): number | undefined {
  const times = [
    ...reminders.filter(({ sent }) => !sent).map(({ at }) => at),
    ...escalations.filter(({ reached }) => !reached).map(({ at }) => at),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

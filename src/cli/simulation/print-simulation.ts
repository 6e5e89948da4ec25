import type { Quantiles, SimulationNumbers, SimulationReport } from "../../simulation/index.ts";
import { cutTo, padTo } from "../display/text-width.ts";
import { shortDuration } from "../duration.ts";
import { inert, type Output } from "../output.ts";
import { percent } from "./chosen-scenario.ts";

const NAME_WIDTH = 24;
const NONE = "–";

/** Prints a simulation for people: in total, by team and by week. */
export function printSimulation(output: Output, report: SimulationReport): void {
  const { total, open } = report;
  output.prose(
    `${total.calls} calls: ${total.ran} ran at once, ${total.granted} under grants, ${total.forbidden} were denied by a rule, ` +
      `${total.refused} were refused because too many were open, ${total.asked} were asked about.`,
  );
  output.prose(
    `Asked: ${total.asked}. Approved: ${total.approved}. Denied: ${total.denied}. Expired: ${total.expired}. ` +
      `Open at the end: ${open}. Escalations: ${total.escalated}. Votes: ${total.votes}.`,
  );
  if (total.unanswerable > 0)
    output.prose(
      `${total.unanswerable} questions can be decided by none of these approvers. Give a team the users or roles that the policy names.`,
    );
  output.line();
  output.line(
    output.style("bold", padTo("In total", NAME_WIDTH)) + output.style("dim", "     p50      p95      max"),
  );
  line(output, "open questions", total.queue, String);
  line(output, "time to decision", total.decisionSeconds, duration);
  line(output, "votes per approver", total.votesPerApprover, String);
  line(output, "share of working time", total.busy, percent);
  printTeams(output, report);
  printWeeks(output, report.weeks);
}

function line(
  output: Output,
  name: string,
  quantiles: Quantiles | undefined,
  show: (value: number) => string,
): void {
  const values = quantiles === undefined ? [] : [quantiles.p50, quantiles.p95, quantiles.max];
  const cells = (values.length === 0 ? [NONE, NONE, NONE] : values.map(show)).map((cell) => cell.padStart(8));
  output.line(`${padTo(cutTo(inert(name), NAME_WIDTH), NAME_WIDTH)}${cells.join(" ")}`);
}

function printTeams(output: Output, { teams }: SimulationReport): void {
  if (teams.length === 0) return;
  output.line();
  output.line(
    output.style("bold", padTo("Share of working time", NAME_WIDTH)) +
      output.style("dim", "     p50      p95      max"),
  );
  for (const { team, people, busy } of teams) line(output, `${team} (${people})`, busy, percent);
}

const COLUMNS = [
  "asked",
  "decided",
  "expired",
  "escalated",
  "queue",
  "p95",
  "wait",
  "p95",
  "busiest",
] as const;

function printWeeks(output: Output, weeks: SimulationReport["weeks"]): void {
  output.line();
  output.line(
    output.style("bold", padTo("Week", 10)) +
      output.style("dim", COLUMNS.map((title) => title.padStart(cellWidth(title))).join("")),
  );
  for (const { from, ...week } of weeks) {
    const cells = cellsOf(week).map((cell, place) => cell.padStart(cellWidth(COLUMNS[place] ?? "")));
    output.line(padTo(from, 10) + cells.join(""));
  }
}

function cellsOf(week: SimulationNumbers): readonly string[] {
  const { asked, approved, denied, expired, escalated, queue, decisionSeconds, busy } = week;
  return [
    String(asked),
    String(approved + denied),
    String(expired),
    String(escalated),
    String(queue.p50),
    String(queue.p95),
    decisionSeconds === undefined ? NONE : duration(decisionSeconds.p50),
    decisionSeconds === undefined ? NONE : duration(decisionSeconds.p95),
    busy === undefined ? NONE : percent(busy.max),
  ];
}

function cellWidth(title: string): number {
  return Math.max(7, title.length + 1);
}

function duration(seconds: number): string {
  return shortDuration(seconds * 1_000);
}

import {
  MOST_STATISTICS_DAYS,
  readStatistics,
  type Statistics,
  type StatisticsNumbers,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { cutTo, padTo } from "../display/text-width.ts";
import { shortDuration } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";
import { withEngine } from "../wiring.ts";

const DEFAULT_DAYS = 30;
const MOST_LINES = 20;
const NAME_WIDTH = 32;

export const stats: Command = {
  usage: "[--days N]",
  about:
    "Prints everybody's numbers of the last days, as `GET /v1/stats` returns them. Days are in UTC. Times are at most 5 % " +
    "off. It may suggest rules; they are not applied automatically.",
  flags: {
    days: {
      type: "string",
      value: "N",
      help: `how many days, today included (${DEFAULT_DAYS}, at most ${MOST_STATISTICS_DAYS})`,
    },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "stats", says: "the last 30 days" },
    { line: "stats --days 7 --json", says: "one week, as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const days = flags.number("days", 1) ?? DEFAULT_DAYS;
    if (!Number.isInteger(days) || days > MOST_STATISTICS_DAYS) {
      throw new CountersignError(
        "invalid-option",
        `--days must be a whole number from 1 to ${MOST_STATISTICS_DAYS}.`,
        { details: { field: "days" } },
      );
    }
    return withEngine(invocation, async ({ ledger }) => {
      let found = await readStatistics(ledger, { days, of: "everybody" });
      while (found.behind) found = await readStatistics(ledger, { days, of: "everybody" });
      if (flags.has("json")) output.json(found);
      else print(output, found);
      return EXIT.ok;
    });
  },
};

function print(output: Output, found: Statistics): void {
  const { from, to, waiting, total, tools, approvers } = found;
  output.line(output.style("bold", `${from} to ${to} (UTC)`));
  output.prose(`${sentence(total)}.`);
  const more = waiting.capped ? " or more" : "";
  const oldest =
    waiting.oldestSeconds === undefined
      ? ""
      : `, the oldest for ${shortDuration(waiting.oldestSeconds * 1_000)}`;
  output.prose(`Waiting now: ${waiting.count}${more}${oldest}.`);
  printRows(
    output,
    "By tool",
    tools.map(({ tool, ...numbers }) => ({ name: tool === "" ? "(others)" : tool, ...numbers })),
  );
  printRows(
    output,
    "By approver",
    approvers.map(({ approver, ...numbers }) => ({ name: approver, ...numbers })),
  );
  printCandidates(output, found);
}

function sentence(numbers: StatisticsNumbers): string {
  const { asked = 0, approved, amended, denied, expired = 0, cancelled = 0, unknown = 0 } = numbers;
  const changed = amended === 0 ? "" : ` (${amended} with changes)`;
  return (
    `Asked: ${asked}. Approved: ${approved}${changed}. Denied: ${denied}. Expired: ${expired}. ` +
    `Cancelled: ${cancelled}. Unknown: ${unknown}${timesOf(numbers)}`
  );
}

function timesOf({ decisionSeconds }: StatisticsNumbers): string {
  if (decisionSeconds === undefined) return "";
  const { median, p95 } = decisionSeconds;
  return `. Time to decision: median ${shortDuration(median * 1_000)}, 95 % within ${shortDuration(p95 * 1_000)}`;
}

function printRows(
  output: Output,
  title: string,
  rows: readonly (StatisticsNumbers & { readonly name: string })[],
): void {
  if (rows.length === 0) return;
  output.line();
  output.line(
    output.style("bold", padTo(title, NAME_WIDTH)) +
      output.style("dim", " approved   denied   median      p95"),
  );
  for (const { name, approved, denied, decisionSeconds } of rows.slice(0, MOST_LINES)) {
    const [median, p95] =
      decisionSeconds === undefined
        ? ["", ""]
        : [shortDuration(decisionSeconds.median * 1_000), shortDuration(decisionSeconds.p95 * 1_000)];
    const cells = [String(approved), String(denied), median, p95].map((cell) => cell.padStart(8)).join(" ");
    output.line(`${padTo(cutTo(inert(name), NAME_WIDTH), NAME_WIDTH)} ${cells}`);
  }
  if (rows.length > MOST_LINES) output.line(`and ${rows.length - MOST_LINES} more (--json has them)`);
}

function printCandidates(output: Output, { ruleCandidates }: Statistics): void {
  if (ruleCandidates.length === 0) return;
  output.line();
  output.line(output.style("bold", "Approved without change for a month"));
  for (const { tool, approved, since, rules, yaml } of ruleCandidates) {
    const asked = rules.length === 0 ? "the tool itself asks" : `asked by ${rules.join(", ")}`;
    output.prose(`${inert(tool)}: ${approved} times since ${since}; ${inert(asked)}.`);
    output.quote(yaml.trimEnd(), "    ");
  }
  output.prose(
    "An `allow` rule does not cancel a question: the rule or tool that asks must change too. `countersign policy replay` shows what a rule would have changed.",
  );
}

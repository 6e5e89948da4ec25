import { Backtest, type BacktestReport, parsePolicy } from "../../../policy/index.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { pastCalls } from "../../policy/past-calls.ts";
import { replayLines } from "../../policy/report-lines.ts";
import { withEngine } from "../../wiring.ts";
import { readPolicyText } from "./check.ts";

const DEFAULT_SINCE = "30d";

export const policyReplay: Command = {
  usage: "FILE [--since AGE] [--db URL]",
  about:
    "Reads the journal and prints what the policy would have changed: questions that would not be asked, and how people had decided " +
    "them; calls that ran and would now be asked about or denied. It changes nothing. Rules see the arguments and roles of " +
    "that time, but the current session state. Calls whose content was erased are left out. Suggestions are only printed: " +
    "exceptions for values below all that people denied, and grants of at most an hour and 20 calls where nothing was denied; each from at least 20 approvals.",
  words: { names: ["FILE"] },
  flags: {
    since: { type: "string", value: "AGE", help: `how far back, for example 12h or 30d (${DEFAULT_SINCE})` },
    ...LEDGER_FLAG,
  },
  examples: [{ line: "policy replay new.yaml --since 30d", says: "what the new file would have changed" }],
  run(invocation) {
    const [file = ""] = invocation.words;
    const { output, flags } = invocation;
    const policy = parsePolicy(file, readPolicyText(file));
    const since = flags.text("since") ?? DEFAULT_SINCE;
    const age = parseDuration(since, "since");
    return withEngine(invocation, async ({ ledger }) => {
      const backtest = new Backtest(policy);
      for await (const past of pastCalls(ledger, { since: ledger.now - age })) backtest.add(past);
      const report = backtest.report();
      if (flags.has("json")) output.json(JSON.parse(JSON.stringify(report)));
      else print(output, replayLines(report, { file, since }), report);
      return EXIT.ok;
    });
  },
};

function print(
  output: Output,
  lines: ReturnType<typeof replayLines>,
  { suggestions }: Pick<BacktestReport, "suggestions">,
): void {
  for (const [index, { text, ids = [] }] of lines.entries()) {
    output.prose(text, index === 0 ? "" : "  ");
    if (ids.length > 0) output.prose(ids.join("  "), "    ");
  }
  if (suggestions.length === 0) return;
  output.line();
  output.line(output.style("bold", "What past decisions support; add it to the rule if you agree"));
  for (const { rule, tool, approvals, ...suggested } of suggestions) {
    const [[name, text] = ["", ""]] = Object.entries(suggested);
    output.line(`  rule ${inert(rule)}, tool ${inert(tool)}, all ${approvals} calls approved:`);
    output.line(`    ${name}: ${inert(text)}`);
  }
}

import { Backtest, type BacktestReport, type Difference, parsePolicy } from "../../../policy/index.ts";
import { type Command, LEDGER_FLAG } from "../../command.ts";
import { parseDuration } from "../../duration.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { pastCalls } from "../../policy/past-calls.ts";
import { withEngine } from "../../wiring.ts";
import { readPolicyText } from "./check.ts";

const DEFAULT_SINCE = "30d";

export const policyReplay: Command = {
  usage: "FILE [--since AGE] [--db URL]",
  about:
    "Reads the journal and prints what the policy would have changed: questions that would not be asked, and how people had decided " +
    "them; calls that ran and would now be asked about or denied. It changes nothing. Rules see the arguments and roles of " +
    "that time, but the current session state. Calls whose content was erased are left out. Suggestions are only printed: " +
    "exceptions below everything that people denied, and grants of at most an hour and 20 calls where nothing was denied; each from at least 20 approvals.",
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
    const age = parseDuration(flags.text("since") ?? DEFAULT_SINCE, "since");
    return withEngine(invocation, async ({ ledger }) => {
      const backtest = new Backtest(policy);
      for await (const past of pastCalls(ledger, { since: ledger.now - age })) backtest.add(past);
      const report = backtest.report();
      if (flags.has("json")) output.json(JSON.parse(JSON.stringify(report)));
      else print(output, report);
      return EXIT.ok;
    });
  },
};

function print(output: Output, report: BacktestReport): void {
  output.line(`${report.calls} calls judged.`);
  line(output, "would stop asking", report.stopsAsking);
  line(output, "would newly ask", report.newlyAsks);
  line(output, "would newly deny", report.newlyDenies);
  line(output, "would stop denying", report.stopsDenying);
  if (report.suggestions.length === 0) return;
  output.line();
  output.line(output.style("bold", "exceptions and grants that history supports"));
  for (const { rule, tool, approvals, ...suggested } of report.suggestions) {
    const [[name, text] = ["", ""]] = Object.entries(suggested);
    output.line(`  ${inert(rule)} (${inert(tool)}), ${approvals} approved:  ${name}: ${inert(text)}`);
  }
}

function line(output: Output, what: string, { count, approved, denied, examples }: Difference): void {
  const times = count === 1 ? "once" : `${count} times`;
  const decided =
    approved + denied === 0 ? "" : `; people approved ${approved} and denied ${denied} of those`;
  output.line(`${what} ${times}${decided}`);
  if (count > 0 && examples.length > 0) output.prose(examples.map((id) => inert(id)).join("  "), "    ");
}

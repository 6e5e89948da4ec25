import { readFileSync } from "node:fs";
import { checkPolicy, type PolicyReport, policySchema } from "../../../policy/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { problemText } from "../../../yaml/index.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert, type Output } from "../../output.ts";
import { checkedLine, testedLine } from "../../policy/report-lines.ts";

export const policyCheck: Command = {
  usage: "FILE…",
  about:
    "Prints everything that is wrong as file:line:column, with the problem and the fix. It does not run the file's tests; " +
    "`policy test` does. The exit code is 0 if the files can be used, else 1.",
  words: { names: ["FILE"], many: true },
  flags: {},
  examples: [{ line: "policy check policy.yaml", says: "prints the problems, or the number of rules" }],
  run: async ({ words, flags, output }) => {
    const reports = words.map(reportOf);
    if (flags.has("json"))
      output.json({ files: reports.map(({ failures: _, ...report }) => ({ ...report })) });
    else
      for (const report of reports) {
        const { file, problems } = report;
        tell(output, { file, problems, done: problems.length === 0 ? checkedLine(report) : undefined });
      }
    return reports.every(({ problems }) => problems.length === 0) ? EXIT.ok : EXIT.failed;
  },
};

export const policyTest: Command = {
  usage: "FILE…",
  about:
    "Checks the file, and judges every call in its `tests`. A test that fails is printed as file:line:column. A file whose " +
    "tests fail is not used by `serve`. The exit code is 0 if all tests pass, else 1.",
  words: { names: ["FILE"], many: true },
  flags: {},
  examples: [{ line: "policy test policy.yaml", says: "prints the failed tests, or how many passed" }],
  run: async ({ words, flags, output }) => {
    const reports = words.map(reportOf);
    if (flags.has("json")) output.json({ files: reports.map((report) => ({ ...report })) });
    else
      for (const report of reports) {
        const { file, problems } = report;
        const done = problems.length === 0 ? testedLine(report) : undefined;
        tell(output, { file, problems: wrong(report), done });
      }
    return reports.every((report) => wrong(report).length === 0) ? EXIT.ok : EXIT.failed;
  },
};

export const policyJsonSchema: Command = {
  usage: "",
  about:
    "Save it, and name it in the first line of the policy: `# yaml-language-server: $schema=./policy.schema.json`.",
  flags: {},
  examples: [{ line: "policy schema > policy.schema.json", says: "writes it to a file" }],
  run: async ({ output }) => {
    output.json(policySchema);
    return EXIT.ok;
  },
};

function wrong({ problems, failures }: PolicyReport): PolicyReport["problems"] {
  return [...problems, ...failures];
}

function reportOf(file: string): PolicyReport & { readonly file: string } {
  return { file, ...checkPolicy(file, readPolicyText(file)) };
}

/** The text of a policy file; throws `invalid-option` if it cannot be read. */
export function readPolicyText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CountersignError("invalid-option", `Cannot read "${file}".`, { cause: error });
  }
}

function tell(
  output: Output,
  about: {
    readonly file: string;
    readonly problems: PolicyReport["problems"];
    readonly done: string | undefined;
  },
): void {
  for (const problem of about.problems) output.line(inert(problemText(problem)));
  if (about.done !== undefined) output.line(`${inert(about.file)}: ${about.done}`);
}

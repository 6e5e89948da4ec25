import type { BacktestReport, Difference, PolicyReport } from "../../policy/index.ts";
import { inert } from "../output.ts";

/** What `policy check` says about a file without problems. */
export function checkedLine({ rules, tests }: Pick<PolicyReport, "rules" | "tests">): string {
  const left = tests === 0 ? "it has no tests" : `${counted(tests, "test")} not run; \`policy test\` does`;
  return `no problems in ${counted(rules, "rule")}; ${left}`;
}

/** What `policy test` says about a file that can be read. */
export function testedLine({ tests, failures }: Pick<PolicyReport, "tests" | "failures">): string {
  if (tests === 0) return "it has no tests";
  if (failures.length > 0) return `${failures.length} of ${counted(tests, "test")} failed`;
  return tests === 1 ? "1 test passed" : `all ${tests} tests passed`;
}

const CHANGES = [
  ["would stop asking", "stopsAsking"],
  ["would newly ask", "newlyAsks"],
  ["would newly deny", "newlyDenies"],
  ["would stop denying", "stopsDenying"],
] as const;

/** What a policy would have changed, one line each, with the ids of some of those calls below it. */
export function replayLines(
  report: BacktestReport,
  { file, since }: { readonly file: string; readonly since: string },
): readonly { readonly text: string; readonly ids?: readonly string[] }[] {
  const { calls } = report;
  if (calls === 0) return [{ text: `There are no calls in the last ${since}. Nothing was compared.` }];
  const changed = CHANGES.filter(([, name]) => report[name].count > 0);
  const judged = `${counted(calls, "call")} of the last ${since} judged by ${inert(file)}`;
  if (changed.length === 0) return [{ text: `${judged}: nothing would change.` }];
  return [
    { text: `${judged}. The policy` },
    ...changed.map(([what, name]) => ({
      text: `${what} ${timesOf(report[name])}`,
      ids: idsOf(report[name]),
    })),
  ];
}

function timesOf({ count, approved, denied, examples }: Difference): string {
  const times = count === 1 ? "once" : `${count} times`;
  const decided =
    approved + denied === 0 ? "" : `; people approved ${approved} and denied ${denied} of those`;
  if (examples.length === 0) return `${times}${decided}`;
  const all = denied === 0 ? count : denied;
  const first = examples.length < all ? `first ${examples.length}` : "";
  const which = [first, denied === 0 ? "" : "denied", all === 1 ? "one" : "ones"];
  return `${times}${decided}. The ${which.filter((word) => word !== "").join(" ")}:`;
}

function idsOf({ examples }: Difference): readonly string[] {
  return examples.map((id) => inert(id));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

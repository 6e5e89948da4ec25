import type { Ledger, PolicySource } from "../../../engine/index.ts";
import { parsePolicy } from "../../../policy/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { simulate as play, type Scenario, type SimulationReport } from "../../../simulation/index.ts";
import { createLedger } from "../../../stores/index.ts";
import type { Command, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { policyFile } from "../../policy/open-policy.ts";
import { Progress } from "../../progress.ts";
import { type ChosenScenario, chosenScenario, percent } from "../../simulation/chosen-scenario.ts";
import { printSimulation } from "../../simulation/print-simulation.ts";
import { readPolicyText } from "./check.ts";

const USUAL_SEED = 1;

export const simulate: Command = {
  usage: "--policy FILE [--scenario FILE] [--agents N] [--approvers N] [--days N] [--sample SHARE]",
  about:
    "Simulates agents and approvers on a real engine in memory, with a simulated clock. The policy says which calls wait for " +
    "whom; the scenario says which calls there are, and when and how fast people work. Without a scenario, the calls are " +
    "those of the policy's own tests, one per agent and day, and the people are those whom the policy names. Prints how many " +
    "questions are open, how long decisions take, what escalates and expires, and how busy approvers are. A call takes about a " +
    "millisecond and 10 kB; of a large scenario only a part is simulated, unless you give --sample 1.",
  flags: {
    policy: { type: "string", value: "FILE", help: "the policy file (COUNTERSIGN_POLICY)" },
    scenario: { type: "string", value: "FILE", help: "a YAML file: calls, hours, teams" },
    agents: { type: "string", value: "N", help: "how many agents (10000)" },
    approvers: { type: "string", value: "N", help: "how many approvers (500)" },
    days: { type: "string", value: "N", help: "how many days (365)" },
    seed: { type: "string", value: "N", help: "the same seed gives the same result (1)" },
    sample: {
      type: "string",
      value: "SHARE",
      help: "simulate this share of the agents and approvers, for example 0.05",
    },
  },
  examples: [
    { line: "simulate --policy policy.yaml --agents 200 --approvers 4 --days 28", says: "four weeks" },
    { line: "simulate --policy policy.yaml --scenario office.yaml --json", says: "a scenario file, as JSON" },
  ],
  async run(invocation) {
    const { output, flags } = invocation;
    const file = policyFile(invocation);
    if (file === undefined) {
      throw new CountersignError("malformed-request", "`simulate` needs --policy FILE.", {
        details: { field: "policy" },
      });
    }
    const text = readPolicyText(file);
    const source = parsePolicy(file, text);
    const chosen = chosenScenario(flags, { source, file, text });
    const seed = flags.number("seed", 0) ?? USUAL_SEED;
    const report = await playInMemory(source, chosen.scenario, seed);
    if (flags.has("json")) output.json({ sample: chosen.share, ...report });
    else {
      tellShare(invocation, chosen, report);
      printSimulation(output, report);
    }
    return EXIT.ok;
  },
};

async function playInMemory(
  policy: PolicySource,
  scenario: Scenario,
  seed: number,
): Promise<SimulationReport> {
  const progress = new Progress();
  let ledger: Ledger | undefined;
  try {
    return await play({
      policy,
      scenario,
      seed,
      open: async (clock) => {
        ledger = await createLedger("memory:", { clock });
        return ledger;
      },
      onDay: ({ day, calls, open }) =>
        progress.show(`day ${day} of ${scenario.days}: ${calls} calls, ${open} questions open …`),
    });
  } finally {
    progress.end();
    await ledger?.close();
  }
}

/** In a sample, waiting times are too long rather than too short: in a large team somebody is free sooner. */
function tellShare(
  { output }: Invocation,
  { share, allCalls }: ChosenScenario,
  report: SimulationReport,
): void {
  const { agents, approvers, days, from } = report;
  output.line(output.style("bold", `${agents} agents, ${approvers} approvers, ${days} days from ${from}`));
  if (share === 1) return;
  output.prose(
    `This is ${percent(share)} of the scenario; all of it has about ${Math.round(allCalls)} calls. The counts are of this ` +
      "part. A small team waits longer than a large one with the same load per person, so real waits are shorter.",
  );
}

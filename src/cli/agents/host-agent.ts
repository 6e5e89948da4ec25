import type { Engine } from "../../engine/index.ts";
import { Runner } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { findAgents } from "./find-agents.ts";
import { type LoadedAgent, loadOneAgent } from "./load-agents.ts";

/** The agent of a folder or file. Throws if there is none, or more than one. */
export async function loadAgentAt(path: string): Promise<LoadedAgent> {
  const [found, ...others] = findAgents([path]);
  if (found === undefined || others.length > 0) throw severalAgents(path, [found, ...others]);
  return loadOneAgent(found);
}

/** Makes this process able to run the agent's calls. Close the Runner before the engine. */
export async function hostAgent(engine: Engine, { agent, app }: LoadedAgent): Promise<Runner> {
  const runner = new Runner({ engine, agent, app });
  // Registers the app with the engine.
  await runner.engine();
  return runner;
}

function severalAgents(
  given: string,
  found: readonly ({ readonly app: string } | undefined)[],
): CountersignError {
  const names = found.map((agent) => agent?.app ?? "").join(", ");
  return new CountersignError(
    "malformed-request",
    `"${given}" has several agents (${names}). Name the folder of one, for example ${given}/${found[0]?.app ?? ""}.`,
  );
}

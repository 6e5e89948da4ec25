import { CountersignError } from "../../protocol/index.ts";
import { isAgentTool } from "../tools/index.ts";
import { Agent, type AnyAgent } from "./agent.ts";

/** The agents of one app, by name, with the path to each. */
export interface AgentTree {
  readonly root: AnyAgent;
  readonly names: readonly string[];
  get(name: string): AnyAgent | undefined;
  /** The agents that this agent may hand over to: its sub-agents, its parent and its siblings. */
  transferTargets(name: string): readonly AnyAgent[];
  /** Can the conversation be handed to this agent from the root, one handover after the other? */
  isReachable(name: string): boolean;
}

/**
 * Reads the tree once. Refuses two agents of one name, because the ledger could not distinguish them, and an agent of
 * another copy of this package, because its gates would not work.
 */
export function readAgentTree(root: AnyAgent): AgentTree {
  const byName = new Map<string, AnyAgent>();
  const parents = new Map<string, AnyAgent>();
  const visit = (agent: AnyAgent, parent?: AnyAgent): void => {
    const known = byName.get(agent.name);
    if (known === agent) return;
    if (known !== undefined) {
      throw new CountersignError(
        "invalid-option",
        `Two agents are named "${agent.name}". Agent names must be unique.`,
      );
    }
    if (agent.kind === "llm" && !(agent instanceof Agent)) throw fromElsewhere(agent);
    byName.set(agent.name, agent);
    if (parent !== undefined) parents.set(agent.name, parent);
    for (const child of agent.subAgents) visit(child, agent);
    for (const delegate of delegatesOf(agent)) visit(delegate);
  };
  visit(root);
  return {
    root,
    names: [...byName.keys()],
    get: (name) => byName.get(name),
    isReachable: (name) => {
      let agent = byName.get(name);
      while (agent?.kind === "llm" && agent !== root) agent = parents.get(agent.name);
      return agent === root && root.kind === "llm";
    },
    transferTargets: (name) => {
      const agent = byName.get(name);
      const parent = parents.get(name);
      if (agent?.kind !== "llm") return [];
      const around = parent?.kind === "llm" ? [parent, ...parent.subAgents] : [];
      return [...agent.subAgents, ...around].filter((other) => other.name !== name);
    },
  };
}

function fromElsewhere({ name }: AnyAgent): CountersignError {
  return new CountersignError(
    "invalid-option",
    `The agent "${name}" was created with a different copy of countersign. Make sure that both import the same package.`,
  );
}

function delegatesOf(agent: AnyAgent): readonly AnyAgent[] {
  if (!(agent instanceof Agent)) return [];
  return agent.tools.flatMap((entry) => {
    if ("tools" in entry) return entry.agents ?? [];
    return isAgentTool(entry) ? [entry.delegate] : [];
  });
}

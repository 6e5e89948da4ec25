import type { JsonObject } from "../../protocol/index.ts";
import { Agent, type AnyAgent } from "../../runtime/index.ts";

interface Node {
  readonly name: string;
  readonly kind: "agent" | "tool";
  /** Whose tool or sub-agent it is. */
  readonly of?: string;
}

/**
 * The agents of an app as data: names, descriptions, tools. A toolset is shown as one tool, because its tools may
 * change from step to step.
 */
export function describeAgent(agent: AnyAgent): JsonObject {
  const subAgents = agent.subAgents.map(describeAgent);
  return {
    name: agent.name,
    type: "agent",
    ...(agent.description === "" ? {} : { description: agent.description }),
    tools: toolNames(agent).map((name) => ({ name, type: "tool" })),
    ...(subAgents.length === 0 ? {} : { sub_agents: subAgents }),
    rerun_on_resume: true,
  };
}

/** The same as a Graphviz drawing; the active parts are highlighted. */
export function drawAgent(
  agent: AnyAgent,
  { dark, active = [] }: { readonly dark: boolean; readonly active?: readonly string[] },
): string {
  const ink = dark ? "#cccccc" : "#334155";
  const lit = dark ? "#0F5223" : "#BBF7D0";
  const nodes = nodesOf(agent);
  const drawn = nodes.map(({ name, kind }) => {
    const fill = active.includes(name) ? `, style = "rounded,filled", fillcolor = "${lit}"` : "";
    const shape = kind === "agent" ? "ellipse" : "box";
    return `  ${quoted(name)} [shape = "${shape}", color = "${ink}", fontcolor = "${ink}"${fill}];`;
  });
  const edges = nodes.flatMap(({ name, of }) =>
    of === undefined ? [] : [`  ${quoted(of)} -> ${quoted(name)} [color = "${ink}"];`],
  );
  const paper = dark ? "#333537" : "#F8FAFC";
  return [
    `digraph ${quoted(agent.name)} {`,
    `  rankdir = "LR";`,
    `  bgcolor = "${paper}";`,
    ...drawn,
    ...edges,
    "}",
    "",
  ].join("\n");
}

function nodesOf(agent: AnyAgent, of?: string): readonly Node[] {
  return [
    { name: agent.name, kind: "agent", ...(of === undefined ? {} : { of }) },
    ...toolNames(agent).map((name): Node => ({ name, kind: "tool", of: agent.name })),
    ...agent.subAgents.flatMap((child) => nodesOf(child, agent.name)),
  ];
}

function toolNames(agent: AnyAgent): readonly string[] {
  return agent instanceof Agent ? agent.tools.map(({ name }) => name) : [];
}

function quoted(name: string): string {
  return `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

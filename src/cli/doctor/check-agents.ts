import { Agent, type AnyAgent, type Tool } from "../../runtime/index.ts";
import { findAgents } from "../agents/find-agents.ts";
import { closeAgents, type LoadedAgent, loadAgents, shortPath } from "../agents/load-agents.ts";
import { GEMINI_KEYS, GEMINI_PACKAGE, isInstalled } from "./check-setting.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

// A tool like these can reach what this process can reach: the API, the ledger's file, the keys.
const REACHES_ALL =
  /shell|bash|exec|terminal|command|subprocess|browser|computer|python|javascript|\beval|run_?code|code_?run/i;

/** The agents: do they load, and which of their tools act without asking? */
export async function checkAgents(paths: readonly string[], hasAuth: boolean): Promise<readonly Finding[]> {
  const { agents, broken } = await loadAgents(findAgents(paths));
  const unusable = broken.map(({ app, file, reason }) =>
    fail(
      app,
      `${shortPath(file)} cannot be loaded: ${reason}`,
      "Fix it: `countersign serve` does not start with it.",
    ),
  );
  const checked = await Promise.all(agents.map((agent) => checkAgent(agent, hasAuth)));
  await closeAgents(agents);
  return [...unusable, ...checked.flat()];
}

async function checkAgent({ app, agent }: LoadedAgent, hasAuth: boolean): Promise<readonly Finding[]> {
  const models = geminiModelsOf(agent);
  const tools = await toolsOf(agent);
  const free: Tool[] = [];
  for (const tool of tools) if (!(await asksFirst(tool, agent))) free.push(tool);
  const powerful = tools.filter(({ name }) => REACHES_ALL.test(name));
  const silent = free.filter((tool) => !tool.repeatable && !powerful.includes(tool));
  const findings: Finding[] = [...checkGemini(app, models)];
  if (powerful.length > 0 && !hasAuth) {
    findings.push(
      warn(
        app,
        `${namesOf(powerful)} can reach this server's API and the ledger file, and no login is required.`,
        "Use --auth, and run such tools as another user or on another machine. They can bypass approvals.",
      ),
    );
  }
  const unasked = free.filter((tool) => powerful.includes(tool));
  if (unasked.length > 0) {
    findings.push(
      warn(app, `${namesOf(unasked)} may run without approval.`, "Set `requireConfirmation: true`."),
    );
  }
  if (silent.length > 0 && !hasAuth) {
    findings.push(
      warn(
        app,
        `${namesOf(silent)} may run without approval, unless the tool asks by itself.`,
        "Set `requireConfirmation` on tools that change something, and `readOnly: true` on the others.",
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [
    silent.length > 0
      ? ok(app, `${namesOf(silent)} may run without approval, unless the tool asks by itself`)
      : ok(app, "every tool needs approval, or only reads"),
  ];
}

/** Without its package or a key, a Gemini model answers nothing. */
function checkGemini(app: string, [model]: readonly string[]): readonly Finding[] {
  if (model === undefined) return [];
  if (!isInstalled(GEMINI_PACKAGE))
    return [
      fail(app, `Its model ${model} needs the package ${GEMINI_PACKAGE}.`, `npm install ${GEMINI_PACKAGE}`),
    ];
  if (GEMINI_KEYS.some((name) => process.env[name])) return [];
  return [fail(app, `Its model ${model} needs an API key.`, `Set ${GEMINI_KEYS[0]}.`)];
}

function geminiModelsOf(agent: AnyAgent): readonly string[] {
  const own = agent instanceof Agent && typeof agent.model === "string" ? [agent.model] : [];
  return [
    ...own.filter((name) => /^(models\/)?gemini-/.test(name)),
    ...agent.subAgents.flatMap(geminiModelsOf),
  ];
}

/** A predicate that cannot be evaluated without arguments counts as a gate. */
async function asksFirst(tool: Tool, agent: AnyAgent): Promise<boolean> {
  const gates = await tool.gates({}, { agentName: agent.name, userId: "", sessionId: "" });
  return gates.length > 0;
}

async function toolsOf(agent: AnyAgent): Promise<readonly Tool[]> {
  const own = agent instanceof Agent ? agent.tools : [];
  const tools = await Promise.all(own.map(async (entry) => ("tools" in entry ? entry.tools() : [entry])));
  const below = await Promise.all(agent.subAgents.map(toolsOf));
  return [...tools.flat(), ...below.flat()];
}

function namesOf(tools: readonly Tool[]): string {
  return tools.map(({ name }) => name).join(", ");
}

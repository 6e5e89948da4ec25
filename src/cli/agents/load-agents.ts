import { spawnSync } from "node:child_process";
import { basename, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ManifestOptions } from "../../manifest/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { AnyAgent } from "../../runtime/index.ts";
import type { AgentFile } from "./find-agents.ts";
import { shareOwnPackage } from "./own-package.ts";

/** An agent that can be served. */
export interface LoadedAgent extends AgentFile {
  readonly agent: AnyAgent;
  /** Closes its connections. */
  close?(): Promise<void>;
}

/** An agent that cannot be served, and why, in one sentence. */
export interface BrokenAgent extends AgentFile {
  readonly reason: string;
}

/** The results of loading the files. */
export interface LoadedAgents {
  readonly agents: readonly LoadedAgent[];
  readonly broken: readonly BrokenAgent[];
}

const A2A_PACKAGE = "@a2a-js/sdk";
const EXPORTS: readonly string[] = ["rootAgent", "root_agent"];

/** Loads every file; a failure does not affect the others. */
export async function loadAgents(files: readonly AgentFile[]): Promise<LoadedAgents> {
  shareOwnPackage();
  const agents: LoadedAgent[] = [];
  const broken: BrokenAgent[] = [];
  for (const found of files) {
    try {
      const loaded = isManifest(found) ? await loadFromManifest(found) : [await loadModule(found)];
      refuseTaken(agents, loaded);
      agents.push(...loaded);
    } catch (error) {
      broken.push({ ...found, reason: reasonOf(error, found.file) });
    }
  }
  return { agents, broken };
}

// Only a manifest names its agents.
function refuseTaken(before: readonly LoadedAgent[], loaded: readonly LoadedAgent[]): void {
  for (const { app } of loaded) {
    const other = before.find((agent) => agent.app === app);
    if (other === undefined) continue;
    throw new CountersignError(
      "invalid-option",
      `The name "${app}" is already used by ${shortPath(other.file)}. Rename one of them.`,
      { details: { app } },
    );
  }
}

/** Closes the agents' connections. */
export async function closeAgents(agents: readonly LoadedAgent[]): Promise<void> {
  for (const agent of agents) await agent.close?.();
}

/** Loads one file; throws `invalid-option` with the file and the reason. */
export async function loadOneAgent(found: AgentFile): Promise<LoadedAgent> {
  const { agents, broken } = await loadAgents([found]);
  const [agent] = agents;
  if (agent !== undefined) return agent;
  throw brokenError(broken);
}

/** What is wrong with the first, and how many more there are. */
export function brokenError(broken: readonly BrokenAgent[]): CountersignError {
  const [first, ...others] = broken;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return new CountersignError(
    "invalid-option",
    `${shortPath(first?.file ?? "")}: ${first?.reason ?? "cannot be loaded."}${more}`,
    { details: { broken: broken.map(({ file, reason }) => ({ file, reason })) } },
  );
}

/** The path in its shortest form. */
export function shortPath(file: string): string {
  const near = relative(process.cwd(), file);
  return near === "" || near.startsWith("..") ? file : near;
}

function isManifest({ file }: AgentFile): boolean {
  return /\.(?:ya?ml|json)$/.test(file);
}

/** A single agent in a folder's `agent.yaml` is named after the folder; any other has the name in its manifest. */
async function loadFromManifest(found: AgentFile): Promise<readonly LoadedAgent[]> {
  const { checkManifest, loadManifest } = await import("../../manifest/index.ts");
  // Only remote agents need this package.
  const { remoteAgents } = checkManifest(found.file);
  const agents = loadManifest(found.file, remoteAgents.length === 0 ? {} : await reachingOthers());
  const isFolders = agents.length === 1 && /^agent\.\w+$/.test(basename(found.file));
  return agents.map((made) => ({
    app: isFolders ? found.app : made.name,
    file: found.file,
    agent: made.agent,
    close: () => made.close(),
  }));
}

async function reachingOthers(): Promise<ManifestOptions> {
  const { RemoteAgent } = await import("../../a2a/index.ts").catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(A2A_PACKAGE)) throw cause;
    throw new CountersignError(
      "missing-package",
      `It uses a remote agent. Install ${A2A_PACKAGE} to connect to it.`,
      { details: { package: A2A_PACKAGE }, cause },
    );
  });
  return { remoteAgent: (about) => new RemoteAgent(about) };
}

async function loadModule(found: AgentFile): Promise<LoadedAgent> {
  return { ...found, agent: await agentOf(found.file) };
}

async function agentOf(file: string): Promise<AnyAgent> {
  const module = (await import(pathToFileURL(file).href)) as { readonly [name: string]: unknown };
  const name = EXPORTS.find((candidate) => module[candidate] !== undefined);
  if (name === undefined) {
    const others = Object.keys(module).join(", ") || "nothing";
    throw new CountersignError("invalid-option", `It does not export \`rootAgent\`. It exports ${others}.`);
  }
  const agent = await module[name];
  if (isAgent(agent)) return agent;
  throw new CountersignError(
    "invalid-option",
    `Its \`${name}\` is not a Countersign agent. Create it with \`new LlmAgent\` (or \`new Agent\`) from "countersign".`,
  );
}

function isAgent(value: unknown): value is AnyAgent {
  if (typeof value !== "object" || value === null) return false;
  const { kind, name, subAgents, hooks } = value as Partial<AnyAgent>;
  return (
    typeof kind === "string" &&
    typeof name === "string" &&
    Array.isArray(subAgents) &&
    typeof hooks === "object"
  );
}

// A module may throw anything.
function reasonOf(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `Loading it throws ${String(error)}.`;
  if (CountersignError.isInstance(error)) return error.message;
  const [firstLine = ""] = error.message.split("\n");
  const place = placeOf(error) ?? (error instanceof SyntaxError ? placeOfSyntaxError(file) : undefined);
  return `${error.name}: ${firstLine}${place === undefined ? "" : ` (${place})`}`;
}

/**
 * Where it was thrown: the stack of a syntax error begins with the place; otherwise it is the first file in the stack.
 */
function placeOf({ stack = "" }: Error): string | undefined {
  // Where types could not be stripped, the first line is a path.
  const [, plain, plainLine] = /^(\/[^\n]*|[A-Za-z]:[^\n]*):(\d+)\n/.exec(stack) ?? [];
  if (plain !== undefined) return `${shortPath(plain)}:${plainLine}`;
  const [, url] = /(file:\/\/[^\s()]+?:\d+)/.exec(stack) ?? [];
  const [, path, line] = /^(.*):(\d+)$/.exec(url ?? "") ?? [];
  if (path === undefined) return undefined;
  return `${shortPath(fileURLToPath(path))}:${line}`;
}

// Node.js does not tell a program where a script's syntax error is; it tells it on the command line.
function placeOfSyntaxError(file: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 10_000 });
  return placeOf({ name: "", message: "", stack: stderr });
}

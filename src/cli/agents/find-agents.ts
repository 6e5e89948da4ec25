import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CountersignError } from "../../protocol/index.ts";

/** A file that should export an agent, and the name under which it is served. */
export interface AgentFile {
  readonly app: string;
  /** Absolute. */
  readonly file: string;
}

const EXTENSIONS: readonly string[] = [".ts", ".mts", ".js", ".mjs", ".yaml", ".yml", ".json"];
const FILE_NAMES = EXTENSIONS.map((extension) => `agent${extension}`);

/**
 * The agents at these paths, in order: a file is one agent, a folder with an `agent.ts` (`.js`, `.mjs`, or a manifest
 * `agent.yaml` or `agent.json`) is one, and any other folder is all of its subfolders that have one. Apps are named
 * after their folders. Throws `invalid-option` for any other path, and for two agents of one name.
 */
export function findAgents(paths: readonly string[]): readonly AgentFile[] {
  const byApp = new Map<string, AgentFile>();
  for (const found of paths.flatMap((path) => agentsAt(path))) {
    const other = byApp.get(found.app);
    if (other !== undefined && other.file !== found.file) throw sameName(other, found);
    byApp.set(found.app, found);
  }
  return [...byApp.values()];
}

function agentsAt(path: string): readonly AgentFile[] {
  const place = resolve(path);
  const found = kindOf(path, place) === "file" ? fileAgent(path, place) : folderAgents(place);
  if (found.length > 0) return found;
  throw unusable(
    path,
    "has no agent. Add an agent.ts (.js, .mjs) that exports `rootAgent`, or an agent.yaml, to it or to a subfolder",
  );
}

function kindOf(path: string, place: string): "file" | "folder" {
  try {
    return statSync(place).isDirectory() ? "folder" : "file";
  } catch (cause) {
    throw unusable(path, reasonOf(cause), cause);
  }
}

function fileAgent(path: string, file: string): readonly AgentFile[] {
  const extension = extname(file);
  if (!EXTENSIONS.includes(extension)) throw unusable(path, `is not a ${EXTENSIONS.join(", ")} file`);
  const name = basename(file, extension);
  return [{ app: name === "agent" ? basename(dirname(file)) : name, file }];
}

function folderAgents(folder: string): readonly AgentFile[] {
  const own = agentIn(folder);
  if (own !== undefined) return [own];
  return entriesOf(folder)
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .flatMap((name) => agentIn(join(folder, name)) ?? []);
}

function agentIn(folder: string): AgentFile | undefined {
  const file = FILE_NAMES.map((name) => join(folder, name)).find((candidate) => existsSync(candidate));
  return file === undefined ? undefined : { app: basename(folder), file };
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (cause) {
    throw unusable(folder, reasonOf(cause), cause);
  }
}

function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be read by this user";
  return `cannot be read (${code ?? String(cause)})`;
}

function unusable(path: string, why: string, cause?: unknown): CountersignError {
  return new CountersignError("invalid-option", `"${path}" ${why}.`, { details: { path }, cause });
}

function sameName(one: AgentFile, other: AgentFile): CountersignError {
  return new CountersignError(
    "invalid-option",
    `Two agents have the name "${one.app}": ${one.file} and ${other.file}. Rename one of the folders.`,
    { details: { app: one.app } },
  );
}

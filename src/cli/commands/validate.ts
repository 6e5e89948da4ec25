import { statSync } from "node:fs";
import { checkManifest, type ManifestReport, problemText } from "../../manifest/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { findAgents } from "../agents/find-agents.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";

export const validate: Command = {
  usage: "FILE…",
  about:
    "Reads manifests (kagent's Agent in YAML, or its JSON agent config) as `serve` would, and prints everything " +
    "that is wrong as file:line:column, with the problem and the fix. For a folder, it reads its agent.yaml, or those " +
    "of its subfolders. The exit code is 0 if all of them can be served, else 1. This does not check whether an MCP server has the tools that a " +
    "manifest names; `countersign doctor` does.",
  words: { names: ["FILE"], many: true },
  flags: {},
  examples: [
    { line: "validate file-manager.yaml", says: "prints the problems, or the agents that it describes" },
    { line: "validate agents --json", says: "checks every manifest in a folder, as JSON" },
  ],
  async run({ words, flags, output }) {
    const reports = words
      .flatMap((path) => manifestsAt(path))
      .map((file) => ({ file, ...checkManifest(file) }));
    const ok = reports.every(({ problems }) => problems.length === 0);
    if (flags.has("json")) output.json({ ok, manifests: reports });
    else for (const report of reports) tell(output, report);
    return ok ? EXIT.ok : EXIT.failed;
  },
};

function manifestsAt(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const files = findAgents([path]).flatMap(({ file }) => (/\.(?:ya?ml|json)$/.test(file) ? [file] : []));
  if (files.length > 0) return files;
  throw new CountersignError("invalid-option", `"${path}" has no manifest; its agents are code.`);
}

function tell(output: Output, { file, agents, problems, warnings }: ManifestReport & { file: string }): void {
  for (const problem of problems) output.line(inert(problemText(problem)));
  for (const warning of warnings)
    output.line(inert(problemText(warning).replace(/(:\d+:\d+:)/, "$1 warning:")));
  if (problems.length === 0) output.line(`${inert(file)}: ${agents.map((name) => inert(name)).join(", ")}`);
}

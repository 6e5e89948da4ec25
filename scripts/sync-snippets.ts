// Copies the regions of examples/ into README and docs, between their markers; `--check` only says what differs.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./command.ts";

const MARKED =
  /(<!-- snippet: (?<file>[\w./-]+)#(?<region>[\w-]+) -->\n)(?<old>[\s\S]*?)(<!-- \/snippet -->)/g;
/** What an example imports from the source, users import from the package. */
const IMPORTS: readonly (readonly [string, string])[] = [
  [`"../src/index.ts"`, `"countersign"`],
  [`"../../src/index.ts"`, `"countersign"`],
  [`"../../../src/index.ts"`, `"countersign"`],
  [`"../../src/adapters/ai-sdk/index.ts"`, `"countersign/ai-sdk"`],
  [`"../../src/adapters/langchain/index.ts"`, `"countersign/langchain"`],
  [`"../../src/adapters/openai-agents/index.ts"`, `"countersign/openai-agents"`],
  [`"../../../src/adapters/google-adk/index.ts"`, `"countersign/google-adk"`],
  [`"../../src/adapters/mcp-server/index.ts"`, `"countersign/mcp-server"`],
  [`"../../../src/adapters/mastra/index.ts"`, `"countersign/mastra"`],
  [`"../../../src/adapters/claude-agent-sdk/index.ts"`, `"countersign/claude-agent-sdk"`],
  [`"../../src/a2a/index.ts"`, `"countersign/a2a"`],
  [`"../../src/client/index.ts"`, `"countersign/client"`],
  [`"../../src/http/index.ts"`, `"countersign/http"`],
  [`"../../src/http/node/index.ts"`, `"countersign/http/node"`],
  [`"../../src/manifest/index.ts"`, `"countersign/manifest"`],
  [`"../../src/mcp/index.ts"`, `"countersign/mcp"`],
  [`"../src/models/scripted/index.ts"`, `"countersign/models/scripted"`],
  [`"../src/testing.ts"`, `"countersign/testing"`],
];

process.exitCode = main(process.argv.includes("--check"));

function main(checkOnly: boolean): number {
  const pages = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT }).toSorted()];
  const faults: string[] = [];
  let snippets = 0;
  for (const page of pages) {
    const path = join(ROOT, page);
    const text = readFileSync(path, "utf8");
    const synced = text.replace(MARKED, (_whole, ...groups) => {
      const { file, region } = groups.at(-1) as { readonly file: string; readonly region: string };
      snippets += 1;
      return `<!-- snippet: ${file}#${region} -->\n${fenced(file, region)}<!-- /snippet -->`;
    });
    if (synced === text) continue;
    if (checkOnly)
      faults.push(`${page} does not show what examples/ says; run \`node scripts/sync-snippets.ts\`.`);
    else writeFileSync(path, synced);
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stdout.write(`${snippets} snippets in ${pages.length} pages\n`);
  return faults.length === 0 ? 0 : 1;
}

function fenced(file: string, region: string): string {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  const start = lines.indexOf(`// #region ${region}`);
  const end = lines.indexOf("// #endregion", start);
  if (start < 0 || end < 0) throw new Error(`${file} has no region ${region}`);
  let code = lines
    .slice(start + 1, end)
    .join("\n")
    .trimEnd();
  for (const [from, to] of IMPORTS) code = code.replaceAll(from, to);
  return `\`\`\`ts\n${code}\n\`\`\`\n`;
}

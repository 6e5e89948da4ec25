// The tools of an MCP server in your own agent: reads run at once, writes after approval.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scripted } from "../../src/models/scripted/index.ts";

const folder = await mkdtemp(join(tmpdir(), "countersign-"));
const program = fileURLToPath(new URL("../agents/file_manager/filesystem-server.mjs", import.meta.url));
const model = scripted(({ contents }) =>
  contents.length === 1
    ? [{ functionCall: { name: "write_file", args: { path: "note.txt", content: "hello" } } }]
    : "Written.",
);

// #region toolset
import { Agent, Runner } from "../../src/index.ts";
import { McpToolset } from "../../src/mcp/index.ts";

const files = new McpToolset({
  name: "files", // what people are shown
  server: { command: "node", args: [program], env: { FILES_FOLDER: folder } }, // or { url, headers, authProvider }
  confirmation: { named: ["write_file", "delete_file"] },
});
const agent = new Agent({ name: "clerk", model, instruction: "You manage files.", tools: [files] });
const runner = new Runner({ agent, ledger: "memory:" });

const turn = await runner.send("Write a note", { user: "ana" });
const [waiting] = turn.pending; // { tool: "write_file", source: "files", args: … }
// #endregion

assert.deepEqual({ tool: waiting?.tool, source: waiting?.source }, { tool: "write_file", source: "files" });
const { finished } = await runner.approve(waiting?.id ?? "", { by: { id: "ana" } });
assert.equal((await finished).text, "Written.");
assert.equal(await readFile(join(folder, "note.txt"), "utf8"), "hello");
await runner.close();
await files.close();
await rm(folder, { recursive: true });

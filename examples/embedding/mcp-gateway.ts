// The MCP gateway in your own program: clients over HTTP, approvals in the same engine.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const folder = await mkdtemp(join(tmpdir(), "countersign-"));
const program = fileURLToPath(new URL("../agents/file_manager/filesystem-server.mjs", import.meta.url));

import { serve } from "../../src/http/node/index.ts";
// #region gateway
import { createEngine } from "../../src/index.ts";
import { McpEndpoint, McpGateway } from "../../src/mcp/index.ts";

const engine = await createEngine({ ledger: "memory:" });
const gateway = new McpGateway({
  engine,
  name: "files", // calls are listed under the app mcp:files
  server: { command: "node", args: [program], env: { FILES_FOLDER: folder } },
  require: ["write_file", "delete_file"], // default: all
  by: { id: "ana" }, // who counts as the requester
});
await gateway.open(); // throws for a name that the server does not list
const worker = engine.work();
const endpoint = new McpEndpoint(gateway);
const server = await serve({ app: endpoint, port: 0 }); // clients connect to /mcp
// #endregion

const client = new Client({ name: "desktop", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
const asked = Promise.withResolvers<string>();
const calling = client.callTool(
  { name: "write_file", arguments: { path: "note.txt", content: "hello" } },
  { onprogress: ({ message = "" }) => asked.resolve(message) },
);
const [, id = ""] = /\((.*)\)/.exec(await asked.promise) ?? [];
await engine.approve(id, { by: { id: "ana" } });
assert.ok(!(await calling).isError);
assert.equal(await readFile(join(folder, "note.txt"), "utf8"), "hello");
await client.close();

// #region close
await worker.stop();
await gateway.close(); // running calls finish and are answered
await endpoint.close();
await server.close();
await engine.close();
// #endregion

await rm(folder, { recursive: true });

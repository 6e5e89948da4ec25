// An agent from a manifest file, run by your own program.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../agents/file_manager/agent.yaml", import.meta.url));

// #region load
import { Runner } from "../../src/index.ts";
import { checkManifest, loadManifest, problemText } from "../../src/manifest/index.ts";

const { problems } = checkManifest(file); // connects to nothing; loadManifest throws the same problems
for (const problem of problems) console.error(problemText(problem)); // agent.yaml:12:9: …, and how to fix it

const [made] = loadManifest(file, { model: "gemini-flash-latest" }); // for agents that name none
// #endregion

assert.ok(made);

// #region run
const runner = new Runner({ agent: made.agent, ledger: "memory:" });
// …
await runner.close();
await made.close(); // ends its MCP servers
// #endregion

assert.equal(made.name, "file-manager");

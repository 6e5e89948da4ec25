// Hooks: one hook asks for confirmation, refuses calls or changes arguments; the tools do not know about it.
import assert from "node:assert/strict";
import { z } from "zod";
import { Agent, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";

const ran: string[] = [];
const file = z.object({ path: z.string() });
const tools = ["read_file", "delete_file", "format_disk"].map((name) =>
  tool({ name, description: name, parameters: file, execute: ({ path }) => ran.push(`${name} ${path}`) }),
);
const model = scripted(({ contents }) =>
  contents.length > 1
    ? "I have tried all three."
    : tools.map(({ name }) => ({ functionCall: { name, args: { path: "~/x" } } })),
);

// #region hook
const needsApproval = new Set(["delete_file"]);

const agent = new Agent({
  name: "files",
  model,
  tools,
  beforeTool: ({ tool: { name }, args, ctx }) => {
    if (name === "format_disk") return { error: "never" }; // a returned value is the result: nobody is asked, nothing runs
    if (args["path"] === "~/x") args["path"] = "/home/ana/x"; // these arguments are shown, and run
    if (needsApproval.has(name)) ctx.requestConfirmation({ hint: `May ${name} go ahead?` });
    return undefined;
  },
});
// #endregion

const runner = new Runner({ agent, ledger: "memory:" });
const { pending } = await runner.send("Do all three", { user: "ana" });
assert.deepEqual(ran, ["read_file /home/ana/x"], "what needs nobody has run");
assert.deepEqual(
  pending.map(({ hint, args }) => [hint, args]),
  [["May delete_file go ahead?", { path: "/home/ana/x" }]],
);
for (const { id } of pending) await (await runner.approve(id, { by: { id: "ana" } })).finished;
assert.deepEqual(ran, ["read_file /home/ana/x", "delete_file /home/ana/x"], "as it was shown, once");
await runner.close();

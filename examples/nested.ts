// An agent used as a tool by another. It pauses in the middle of its work, and continues there.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { Agent, agentTool, type Model, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-example-"));
const ledger = `sqlite:${join(folder, "ledger.db")}`;
const booked: string[] = [];

/** Calls this tool once, and then repeats the result. */
function callsOnce(name: string, args: Record<string, string>): Model {
  return scripted(({ contents }) => {
    const { result } = contents.at(-1)?.parts[0]?.functionResponse?.response ?? {};
    return result === undefined ? [{ functionCall: { name, args } }] : `Done: ${JSON.stringify(result)}.`;
  });
}

// #region nested
const book = tool({
  name: "book",
  description: "Books a hotel.",
  parameters: z.object({ hotel: z.string() }),
  requireConfirmation: true,
  execute: ({ hotel }) => booked.push(hotel) && `booked ${hotel}`,
});
const clerk = new Agent({
  name: "clerk",
  description: "Books hotels.",
  model: callsOnce("book", { hotel: "Ritz" }),
  tools: [book],
});
const concierge = new Agent({
  name: "concierge",
  model: callsOnce("clerk", { request: "Book the Ritz" }),
  tools: [agentTool(clerk)],
});

const runner = new Runner({ agent: concierge, ledger });
const turn = await runner.send("I need a room", { user: "ana" });
for (const { path, tool: name, args } of turn.pending) {
  console.log(path, name, args); // [ "concierge", "clerk" ] book { hotel: "Ritz" }
}
await runner.close(); // the process may end here; both agents are rows in the ledger
// #endregion
assert.deepEqual(
  turn.pending.map(({ path, tool: name, args }) => ({ path, name, args })),
  [{ path: ["concierge", "clerk"], name: "book", args: { hotel: "Ritz" } }],
);
assert.deepEqual(booked, []);

// #region resume
const later = new Runner({ agent: concierge, ledger });
for (const { id } of await later.pending()) {
  const { finished } = await later.approve(id, { by: { id: "ana" } });
  console.log((await finished).text); // Done: "Done: \"booked Ritz\".".
}
// #endregion
assert.deepEqual(booked, ["Ritz"], "booked once, inside the nested agent");
const session = await later.sessionService.getSession({ userId: "ana", sessionId: turn.session });
assert.equal(session?.events.at(-1)?.author, "concierge", "and the outer one has the last word");
await later.close();
rmSync(folder, { recursive: true });

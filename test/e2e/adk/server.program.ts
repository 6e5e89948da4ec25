// Serves hitl_demo on a database, in a process of its own. A model that is told "stall" says so and never answers.
import { argv } from "node:process";
import { rootAgent } from "../../../examples/agents/hitl_demo/agent.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { Agent, type Model, Runner } from "../../../src/index.ts";
import type { Line } from "../../support/processes/child.ts";
import { listen, say } from "../../support/processes/program.ts";

/** What this program says. */
export interface ServerLine extends Line {
  readonly type: "listening" | "asked";
  readonly url?: string;
}

const [, , file = "", mode = ""] = argv;
const { model: script, name, tools } = rootAgent;
if (typeof script !== "object") throw new TypeError("The demo's model is a script.");
const model: Model = {
  ...script,
  async *generate(request, options) {
    say({ type: "asked" });
    if (mode === "stall") await new Promise<never>(() => {});
    yield* script.generate(request, options);
  },
};
const runner = new Runner({
  agent: new Agent({ name, tools, model }),
  ledger: `sqlite:${file}`,
  leaseMs: 500,
  heartbeatMs: 100,
});
runner.work();
const { url } = await serve({ app: createApp({ apps: { hitl_demo: runner } }), port: 0 });
const line: ServerLine = { type: "listening", url };
say(line);
listen(() => {});

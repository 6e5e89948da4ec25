// Serves the desk over A2A on a database, in a process of its own. Its tools say that they ran. `stall`: the tool
// `hold` never ends. `mute`: the model never says what it makes of a tool's answer.
import { argv } from "node:process";
import { createA2aApp } from "../../../src/a2a/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { Runner } from "../../../src/index.ts";
import type { Line } from "../../support/processes/child.ts";
import { listen, say } from "../../support/processes/program.ts";
import { scriptedAgent, type WantedCall } from "./a2a-server.ts";

/** What this program says. */
export type A2aLine =
  | (Line & { readonly type: "listening"; readonly url: string })
  | (Line & { readonly type: "ran"; readonly name: string })
  | (Line & { readonly type: "muted" });

const [, , file = "", mode = ""] = argv;
const ran: WantedCall[] = [];
ran.push = (...calls) => {
  for (const { name } of calls) say({ type: "ran", name } as A2aLine);
  return 0;
};
const held = mode === "stall" ? new Promise<never>(() => {}) : Promise.resolve();
const runner = new Runner({
  agent: scriptedAgent(ran, held),
  ledger: `sqlite:${file}`,
  leaseMs: 500,
  heartbeatMs: 100,
  beforeModel: async ({ request: { contents } }) => {
    const isAnswered = contents.at(-1)?.parts.some((part) => part.functionResponse !== undefined) === true;
    if (mode !== "mute" || !isAnswered) return undefined;
    say({ type: "muted" });
    return new Promise<never>(() => {});
  },
});
runner.work();
const app = createApp({ apps: { desk: runner }, mounts: [createA2aApp({ apps: { desk: runner } })] });
const { url } = await serve({ app, port: 0 });
const line: A2aLine = { type: "listening", url: `${url}/a2a/desk` };
say(line);
listen(() => {});

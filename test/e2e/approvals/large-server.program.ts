// Serves what waits in a database, in a process of its own, without a login.
import { argv } from "node:process";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { createEngine } from "../../../src/index.ts";
import type { Line } from "../../support/processes/child.ts";
import { listen, say } from "../../support/processes/program.ts";

/** What this program says. */
export interface LargeServerLine extends Line {
  readonly type: "listening";
  readonly url: string;
}

const [, , file = ""] = argv;
const engine = await createEngine({ ledger: `sqlite:${file}` });
const app = createApp({ apps: {}, engine, limits: { requestsPerMinute: Number.POSITIVE_INFINITY } });
const { url } = await serve({ app, port: 0 });
const line: LargeServerLine = { type: "listening", url };
say(line);
listen(() => {});

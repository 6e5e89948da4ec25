// One level of a chain of agents, served over A2A in a process of its own on its own database. The lowest deletes files
// and says so in a file; the others ask the one below. Told to, it kills itself at a message that comes in or goes out.
import { appendFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { createA2aApp } from "../../../src/a2a/index.ts";
import { parseTaskId } from "../../../src/a2a/tasks/task-id.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { Agent, type JsonObject, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { activityOf } from "../../../src/runtime/index.ts";
import type { Line } from "../../support/processes/child.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";
import { callingAgent } from "./calling-server.ts";

/** The moment at which it kills itself: before the n-th message is handled or sent, or once that is done. */
export interface Moment {
  readonly way: "in" | "out";
  readonly n: number;
  readonly when: "before" | "after";
}

export interface LevelOptions {
  readonly file: string;
  readonly effects: string;
  readonly port: number;
  /** Where the level below is; none below the lowest. */
  readonly below?: string;
}

/** What it is told to do wrong from now on. */
export interface Fault {
  readonly dies?: Moment;
  /** The lowest never says that it has deleted. */
  readonly hangs?: boolean;
}

export type LevelLine =
  | (Line & { readonly type: "armed" })
  | (Line & { readonly type: "listening"; readonly url: string; readonly port: number })
  | (Line & { readonly type: "deleted" });

const { file, effects, port, below } = programOptions() as LevelOptions;
let { dies, hangs }: Fault = {};

/** Told that something has to be done soon, it waits for nobody longer than this. */
const SOON_MS = 1_000;

function deleter(): Agent {
  const about = {
    description: "Deletes a file.",
    parameters: { type: "object", properties: {} },
    requireConfirmation: true,
    execute: async (args: JsonObject) => {
      appendFileSync(effects, `${JSON.stringify(args)}\n`);
      say({ type: "deleted" });
      if (hangs === true) await new Promise<never>(() => {});
      return { status: "deleted" };
    },
  } as const;
  const model = scripted(({ contents }) => {
    const { functionResponse, text = "" } = contents.at(-1)?.parts.at(-1) ?? {};
    if (functionResponse !== undefined) return `Done: ${JSON.stringify(functionResponse.response)}`;
    const name = text.includes("soon") ? "delete_soon" : "delete_file";
    return [{ functionCall: { id: "call-1", name, args: { path: "a" } } }];
  });
  const tools = [
    tool({ ...about, name: "delete_file" }),
    tool({ ...about, name: "delete_soon", expiresInMs: SOON_MS }),
  ];
  return new Agent({ name: "desk", model, tools });
}

const counts = { in: 0, out: 0 };

/** Is this the message to die at? */
function isFatal(way: Moment["way"], body: string): boolean {
  if (!body.includes('"SendMessage"')) return false;
  counts[way] += 1;
  return dies?.way === way && dies.n === counts[way];
}

function die(when: Moment["when"]): void {
  if (dies?.when === when) process.kill(process.pid, "SIGKILL");
}

// Once a message is handled, so is what it set going here: a death inside of a tool is another story.
async function settled(answer: Response): Promise<void> {
  const { result } = (await answer.json()) as {
    readonly result?: { readonly task: { readonly id: string } };
  };
  const ref = parseTaskId(result?.task.id ?? "");
  if (ref === undefined) return;
  const { ledger } = await runner.engine();
  while ((await activityOf(ledger, ref.session, ref.invocation)).state === "active") await setImmediate();
}

const plain = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const fatal = isFatal("out", await request.clone().text());
  if (fatal) die("before");
  const answer = await plain(request, init);
  if (fatal) die("after");
  return answer;
};

const agent = below === undefined ? deleter() : callingAgent(below);
const runner = new Runner({
  app: "level",
  agent,
  ledger: `sqlite:${file}`,
  leaseMs: 500,
  heartbeatMs: 100,
});
runner.work({ sweepMs: 200 });
const app = createApp({ apps: { level: runner }, mounts: [createA2aApp({ apps: { level: runner } })] });
const guarded = {
  fetch: async (request: Request, ...rest: unknown[]): Promise<Response> => {
    const fatal = isFatal("in", await request.clone().text());
    if (fatal) die("before");
    const answer = await app.fetch(request, ...(rest as []));
    if (fatal) {
      await settled(answer.clone());
      die("after");
    }
    return answer;
  },
};
const server = await serve({ app: guarded, port });
const line: LevelLine = {
  type: "listening",
  url: `${server.url}/a2a/level`,
  port: Number(new URL(server.url).port),
};
say(line);
listen((fault) => {
  ({ dies, hangs } = fault as Fault);
  Object.assign(counts, { in: 0, out: 0 });
  say({ type: "armed" });
});

// The server under load: `server.ts <ledger's URL> [team]`, with a parent that asks it what it saw. With `team`, whoever
// names themselves in a header is one of those who may decide everything; without it nobody logs in.
import { createApp } from "../../src/http/index.ts";
import { serve } from "../../src/http/node/index.ts";
import { createEngine, Runner } from "../../src/index.ts";
import { FULL } from "../../test/support/ledger/full-session.ts";
import { createAgent } from "./agent.ts";
import { nowMs } from "./clock.ts";
import { PERSON_HEADER } from "./person.ts";

export type Command =
  | { readonly kind: "open" }
  /** Starts so many sessions that then wait for a person. */
  | { readonly kind: "ask"; readonly count: number }
  /** When which call's body was entered, since this was last asked. */
  | { readonly kind: "entered" }
  | { readonly kind: "memory" };

export interface Replies {
  readonly open: { readonly url: string };
  readonly ask: readonly Asked[];
  readonly entered: readonly (readonly [key: string, at: number])[];
  readonly memory: Memory;
}

export type Reply = { readonly value: Replies[keyof Replies] } | { readonly error: string };

/** A session that waits for a person. */
export interface Asked {
  readonly user: string;
  readonly session: string;
  readonly confirmation: string;
}

/** In bytes; the heap after what nobody needs was collected. */
export interface Memory {
  /** Processor time so far, in seconds. */
  readonly cpu: number;
  readonly heap: number;
  readonly resident: number;
}

const AT_ONCE = 32;
const TEAM = "approvers";

function authenticate(request: Request): { readonly id: string; readonly roles: readonly string[] } {
  return { id: request.headers.get(PERSON_HEADER) ?? "nobody", roles: [TEAM] };
}

async function main(): Promise<void> {
  const [ledger = "", mode] = process.argv.slice(2);
  const isTeam = mode === "team";
  let entered: [string, number][] = [];
  const engine = await createEngine({ ledger });
  const agent = createAgent((key) => entered.push([key, nowMs()]), isTeam ? { roles: [TEAM] } : "requester");
  const runner = new Runner({ engine, agent, app: FULL.app });
  await runner.engine();
  const server = await serve({
    app: createApp({ apps: { [FULL.app]: runner }, ...(isTeam ? { authenticate } : {}) }),
    port: 0,
  });
  engine.work();
  const run = async (command: Command): Promise<Replies[keyof Replies]> => {
    switch (command.kind) {
      case "open":
        return { url: server.url };
      case "ask":
        return ask(runner, command.count);
      case "entered": {
        const seen = entered;
        entered = [];
        return seen;
      }
      case "memory":
        return measureMemory();
    }
  };
  process.on("message", (command: Command) => {
    run(command).then(
      (value) => process.send?.({ value }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}

async function ask(runner: Runner, count: number): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const [user, session] = [`user-${n % FULL.users}`, `flight-${n}`];
      const { pending } = await runner.send("Please reimburse me.", { user, session });
      asked.push({ user, session, confirmation: pending[0]?.id ?? "" });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return asked;
}

async function measureMemory(): Promise<Memory> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return { heap: heapUsed + external, resident: rss, cpu: (user + system) / 1e6 };
}

await main();

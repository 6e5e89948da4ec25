import { createApp } from "../../src/http/index.ts";
import { createEngine, type Engine, Runner } from "../../src/index.ts";
import { FULL, fullSession } from "../../test/support/ledger/full-session.ts";
import { IN_GROUPS } from "../in-groups.ts";
import { callKey, createAgent } from "./agent.ts";
import { nowMs } from "./clock.ts";

/** What is done on a full ledger again and again; times are in milliseconds. */
export const OPERATIONS = [
  "decision",
  "decision to tool",
  "claim after a decision elsewhere",
  "decision to live feed",
  "inbox, first page",
  "inbox, a person in 20 groups",
  "inbox, words",
  "history, first page",
  "history, one tool",
  "statistics, 30 days",
  "audit log, first page",
  "verification of one session",
  "erasure of one session",
] as const;
export type Operation = (typeof OPERATIONS)[number];

const PAGES: Partial<Record<Operation, string>> = {
  "inbox, first page": "/v1/confirmations?status=requested&limit=50",
  "inbox, words": "/v1/confirmations?status=requested&limit=50&q=close",
  "history, first page": "/v1/confirmations?status=succeeded&limit=50",
  "history, one tool": `/v1/confirmations?status=succeeded&limit=50&tool=${FULL.otherTool}`,
  "statistics, 30 days": "/v1/stats?days=30",
  "audit log, first page": "/v1/audit?limit=50",
};
const NEWS = /^data: \{"id":"([^"]+)".*?"status":"([a-z]+)"/gm;
/** A prime, so that each comes once. */
const FAR_APART = 7_919;
const IN_FLIGHT = 16;

/** How many sessions of it wait for a decision, and how many are over. */
export interface Size {
  readonly decided: number;
  readonly pending: number;
}

/** A filled ledger, a process that hosts its app, and another one that only decides. */
export class FullLedger {
  readonly #host: Engine;
  readonly #other: Engine;
  readonly #runner: Runner;
  readonly #app: ReturnType<typeof createApp>;
  readonly #pending: number;
  readonly #decided: number;
  readonly #entered = new Map<string, (at: number) => void>();
  readonly #told = new Map<string, (at: number) => void>();
  readonly #stop = new AbortController();
  #next = 0;
  #ended = 0;
  #cycles = 0;

  private constructor(
    engines: { readonly host: Engine; readonly other: Engine },
    { pending, decided }: Size,
  ) {
    this.#host = engines.host;
    this.#other = engines.other;
    this.#pending = pending;
    this.#decided = decided;
    const agent = createAgent((key) => this.#entered.get(key)?.(nowMs()));
    this.#runner = new Runner({ engine: this.#host, agent, app: FULL.app });
    this.#app = createApp({ apps: { [FULL.app]: this.#runner }, engine: this.#host });
  }

  static async open(url: string, size: Size): Promise<FullLedger> {
    const engines = { host: await createEngine({ ledger: url }), other: await createEngine({ ledger: url }) };
    const ledger = new FullLedger(engines, size);
    await ledger.#begin();
    return ledger;
  }

  /** How long one of these takes. */
  async time(operation: Operation): Promise<number> {
    const page = PAGES[operation];
    if (page !== undefined) return this.#timePage(page);
    if (operation === "inbox, a person in 20 groups") return this.#timeInGroups();
    if (operation === "verification of one session" || operation === "erasure of one session")
      return this.#timeEnded(operation);
    const { confirmation, key } = this.#take();
    const entered = this.#moment(this.#entered, key);
    const told = operation === "decision to live feed" ? this.#moment(this.#told, confirmation) : undefined;
    const began = nowMs();
    const decides = operation === "claim after a decision elsewhere" ? this.#other : this.#host;
    await decides.approve(confirmation, { by: { id: "bench" } });
    const decided = nowMs();
    const at = await entered;
    if (operation === "decision") return decided - began;
    if (operation === "claim after a decision elsewhere") return at - decided;
    return ((await told) ?? at) - began;
  }

  /** So many cycles of new sessions, several at once. */
  async cycle(count: number): Promise<void> {
    let left = count;
    const lane = async (): Promise<void> => {
      while (left-- > 0) {
        this.#cycles += 1;
        const { pending } = await this.#runner.send("Please reimburse me.", {
          user: `cycle-${this.#cycles}`,
        });
        const { finished } = await this.#runner.approve(pending[0]?.id ?? "", { by: { id: "bench" } });
        await finished;
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#runner.close();
    await this.#other.close();
    await this.#host.close();
  }

  async #begin(): Promise<void> {
    await this.#runner.engine();
    this.#host.work();
    // The statistics count the whole journal once, a part at each look.
    for (let behind = true; behind; ) {
      const response = await this.#get("/v1/stats?days=30");
      ({ behind } = (await response.json()) as { readonly behind: boolean });
    }
    await this.#follow();
  }

  async #follow(): Promise<void> {
    const { body } = await this.#get("/v1/confirmations/stream");
    if (body === null) throw new Error("The live feed has no body.");
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.#stop.signal.addEventListener("abort", () => {
      reader.cancel().catch(() => {});
    });
    const read = async (): Promise<void> => {
      let rest = "";
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        const messages = (rest + piece.value).split("\n\n");
        rest = messages.pop() ?? "";
        for (const [, id = "", status] of messages.join("\n").matchAll(NEWS))
          if (status !== "requested") this.#told.get(id)?.(nowMs());
      }
      // A server ends a feed after a while, and whoever reads it asks again.
      if (!this.#stop.signal.aborted) await this.#follow();
    };
    read().catch((error: unknown) => this.#stop.abort(error));
  }

  async #timePage(page: string): Promise<number> {
    const began = nowMs();
    const response = await this.#get(page);
    await response.text();
    return nowMs() - began;
  }

  async #timeInGroups(): Promise<number> {
    const began = nowMs();
    const filter = { state: "open", viewers: IN_GROUPS } as const;
    const { items } = await this.#host.ledger.confirmations(filter, { limit: 50 });
    if (items.length !== 50) throw new Error(`The page has ${items.length} questions.`);
    return nowMs() - began;
  }

  /** On sessions that are over, far apart, each once. */
  async #timeEnded(operation: "verification of one session" | "erasure of one session"): Promise<number> {
    const n = this.#pending + ((this.#ended * FAR_APART) % this.#decided);
    this.#ended += 1;
    const { key, user, id } = fullSession(n);
    const app = n % 20 === 0 ? FULL.otherApp : FULL.app;
    const began = nowMs();
    const { ok } =
      operation === "erasure of one session"
        ? await this.#host.deleteSession({ app, user, id }, { id: user })
        : await this.#host.verifySession(key);
    if (!ok) throw new Error(`The ${operation} ${id} did not succeed.`);
    return nowMs() - began;
  }

  async #get(path: string): Promise<Response> {
    const response = await this.#app.fetch(new Request(`http://localhost${path}`));
    if (response.status !== 200)
      throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
    return response;
  }

  /** Resolves when it is called for the first time. */
  #moment(waiting: Map<string, (at: number) => void>, id: string): Promise<number> {
    return new Promise((resolve, reject) => {
      waiting.set(id, (at) => {
        waiting.delete(id);
        resolve(at);
      });
      this.#stop.signal.addEventListener("abort", () => reject(new Error("Stopped.")), { once: true });
    });
  }

  // Far apart from each other, each once, and of the tool and the app that the host has: even numbers, without every
  // twentieth.
  #take(): { readonly confirmation: string; readonly key: string } {
    const all = Math.floor(this.#pending / 20) * 9;
    if (this.#next >= all) throw new Error("Nobody waits any more.");
    const place = (this.#next * FAR_APART) % all;
    this.#next += 1;
    const { id, confirmation } = fullSession(20 * Math.floor(place / 9) + 2 + 2 * (place % 9));
    return { confirmation, key: callKey(id, "call-1") };
  }
}

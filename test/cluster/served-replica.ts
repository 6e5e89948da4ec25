import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Confirmation } from "../../src/index.ts";
import { AdkClient, asked } from "../support/http/adk-client.ts";
import type { End } from "../support/processes/child.ts";
import { ENTRY } from "../support/processes/command-line.ts";
import { COMPILE_CACHE } from "../support/processes/compile-cache.ts";
import type { Resources } from "../support/resources.ts";

const APP = "teller";

/** How a replica is started: as anybody would start it. */
export interface ServeInput {
  readonly folder: string;
  readonly ledger: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** The command's script, if it is not that of this version. */
  readonly entry?: string;
}

/** The answer to a decision. */
export interface Decided {
  readonly status: number;
  readonly confirmation: Confirmation;
}

/** One `countersign serve`, in a process of its own. */
export class ServedReplica {
  readonly url: string;
  /** Resolves when the process is gone. */
  readonly ended: Promise<End>;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, ended: Promise<End>, url: string) {
    this.#process = child;
    this.ended = ended;
    this.url = url;
  }

  static async start(
    resources: Resources,
    { folder, ledger, args = [], env = {}, entry = ENTRY }: ServeInput,
  ): Promise<ServedReplica> {
    const child = spawn(
      process.execPath,
      [entry, "serve", "agents", "--port", "0", "--json", "--db", ledger, ...args],
      {
        cwd: folder,
        env: {
          PATH: process.env["PATH"],
          HOME: process.env["HOME"],
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let printed = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const ended = new Promise<End>((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
    resources.add(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    const url = new Promise<string>((resolve) => {
      if (child.stdout === null) return;
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith('{"url"')) resolve((JSON.parse(line) as { readonly url: string }).url);
      });
    });
    const gone = ended.then(({ code }) => {
      throw new Error(`serve ended with ${code}: ${printed}`);
    });
    // Whoever is killed later has ended too.
    gone.catch(() => {});
    return new ServedReplica(child, ended, await Promise.race([url, gone]));
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** A client of the ADK's routes here. */
  get client(): AdkClient {
    return new AdkClient({ url: this.url }, { app: APP, user: "ana" });
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Begins a session with these words; the ids of the confirmations that it then waits for, in order. */
  async ask(session: string, words: string): Promise<readonly string[]> {
    await this.client.createSession(session);
    return asked((await this.client.run(session, words)).events);
  }

  async decide(id: string, confirmed: boolean): Promise<Decided> {
    const path = `/v1/confirmations/${id}/decision`;
    const response = await this.client.request("POST", path, { confirmed });
    return { status: response.status, confirmation: (await response.json()) as Confirmation };
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.client.request("GET", path)).json()) as T;
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Command, Replies, Reply } from "./server.ts";

const PROGRAM = new URL("./server.ts", import.meta.url);

/** The process of a server, and what it is asked apart from its requests. */
export class ServerProcess {
  readonly #child: ChildProcess;

  constructor(ledger: string, mode?: "team") {
    this.#child = fork(PROGRAM, mode === undefined ? [ledger] : [ledger, mode], {
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  async ask<Kind extends keyof Replies>(command: Extract<Command, { kind: Kind }>): Promise<Replies[Kind]> {
    const answered = new AbortController();
    const { signal } = answered;
    const ended = once(this.#child, "exit", { signal }).then(([code]) => {
      throw new Error(`The server ended with code ${String(code)}.`);
    });
    // Whichever of the two comes second is no longer waited for.
    ended.catch(() => {});
    this.#child.send(command);
    const [reply] = (await Promise.race([once(this.#child, "message", { signal }), ended])) as [Reply];
    answered.abort();
    if ("error" in reply) throw new Error(`The server: ${reply.error}`);
    return reply.value as Replies[Kind];
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

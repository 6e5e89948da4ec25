import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Store } from "./contender.ts";
import type { Command, Replies, Reply } from "./worker.ts";

const WORKER = new URL("./worker.ts", import.meta.url);

/** A worker process and its commands. Each runs one at a time; between commands it is idle. */
export class ContenderProcess {
  readonly name: string;
  readonly #child: ChildProcess;

  constructor(name: string, options: { readonly store: Store; readonly file: string }) {
    this.name = name;
    this.#child = fork(WORKER, [name, options.store, options.file], {
      execArgv: ["--expose-gc", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  async run<Kind extends keyof Replies>(command: Extract<Command, { kind: Kind }>): Promise<Replies[Kind]> {
    const answered = new AbortController();
    const { signal } = answered;
    const ended = once(this.#child, "exit", { signal }).then(([code]) => {
      throw new Error(`${this.name} ended with code ${String(code)}`);
    });
    // Whichever of the two comes second is no longer waited for.
    ended.catch(() => {});
    this.#child.send(command);
    const [reply] = (await Promise.race([once(this.#child, "message", { signal }), ended])) as [Reply];
    answered.abort();
    if ("error" in reply) throw new Error(`${this.name}: ${reply.error}`);
    return reply.value as Replies[Kind];
  }

  /** Ends the process, whatever it is doing. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

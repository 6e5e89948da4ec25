import { join } from "node:path";
import { LedgerFile } from "../../support/ledger/ledger-file.ts";
import type { Child } from "../../support/processes/child.ts";
import type { Resources } from "../../support/resources.ts";
import type { LifeLine } from "../life.ts";
import { assertKilled } from "../lives.ts";
import type { ActorLine, ActorOptions, Go, SessionId } from "./acting.ts";
import { judge } from "./judge.ts";
import type { CommitStrike } from "./killer.ts";

/** Far more than anything here takes, on a busy machine too. */
const PATIENCE_MS = 30_000;
const ENDS: ReadonlySet<string> = new Set(["done", "failed", "cancelled", "succeeded", "denied"]);
const PROGRAM = new URL("./actor.program.ts", import.meta.url);

/** One ledger, one world, and the processes that run its scenarios, die and are followed by others. */
export class RunnerProcesses {
  readonly #resources: Resources;
  readonly #options: ActorOptions;
  readonly #promised: LifeLine[] = [];
  readonly #sessions: SessionId[] = [];
  readonly #errors: string[] = [];

  private constructor(resources: Resources, options: ActorOptions) {
    this.#resources = resources;
    this.#options = options;
  }

  static async gather(
    resources: Resources,
    options: Pick<ActorOptions, "scenarios" | "seed" | "maxLostAttempts">,
  ): Promise<RunnerProcesses> {
    const folder = await resources.folder();
    const place = { ledger: join(folder, "ledger.db"), effects: join(folder, "effects.jsonl") };
    return new RunnerProcesses(resources, { ...place, ...options });
  }

  /** One more session, for the next process to begin. */
  add(session: SessionId): void {
    this.#sessions.push(session);
  }

  /** A process that goes on where others stopped. */
  enter(go: Omit<Go, "type" | "sessions"> = {}): Child<ActorLine> {
    const child = this.#resources.child<ActorLine>(PROGRAM, { args: [JSON.stringify(this.#options)] });
    child.onLine((line) => this.#hear(line));
    child.send({ type: "go", sessions: this.#sessions, ...go } satisfies Go);
    return child;
  }

  /**
   * Lets a process recover what is left, then begin this session and be struck; without one, it is struck as it
   * recovers. False: it came to its end instead.
   */
  async strike(strike: CommitStrike, next?: SessionId): Promise<boolean> {
    const child = this.enter({ strike, ...(next === undefined ? {} : { next }) });
    if (next !== undefined) this.add(next);
    const done = await this.#isDone(child);
    assertKilled(await child.kill(), child.complaints);
    return !done;
  }

  /** Lets a process do everything that is left. */
  async finish(): Promise<void> {
    const child = this.enter();
    if (!(await this.#isDone(child))) throw new Error(`It ended by itself: ${child.complaints}`);
    await child.kill();
  }

  /** What people decided, as they were told when it was committed. */
  decisions(): readonly boolean[] {
    return this.#promised.flatMap((line) => (line.type === "decided" ? [line.confirmed] : []));
  }

  /** What is wrong, now that everything is at its end. */
  async judge(): Promise<readonly string[]> {
    const faults = await judge({ ...this.#options, sessions: this.#sessions, promised: this.#promised });
    return [...faults, ...this.#errors.map((message) => `error: ${message}`)];
  }

  /** Does it come to its end, or is it killed before? */
  async #isDone(child: Child<ActorLine>): Promise<boolean> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(this.#unfinished())), PATIENCE_MS);
    const done = child.line("done").then(
      () => true,
      () => false,
    );
    return Promise.race([done, late]).finally(() => clearTimeout(timer));
  }

  #unfinished(): string {
    const file = new LedgerFile(this.#options.ledger);
    const { calls, frames } = file.contents();
    file.close();
    const open = [...calls, ...frames].filter(({ status }) => !ENDS.has(status));
    return `Not done after ${PATIENCE_MS} ms: ${JSON.stringify({ open, errors: this.#errors })}`;
  }

  #hear(line: ActorLine): void {
    if (line.type === "recovered") return;
    if (line.type === "error") this.#errors.push(line.message);
    else this.#promised.push(line);
  }
}

import { join } from "node:path";
import type { Child, End } from "../support/child.ts";
import { LedgerFile } from "../support/ledger-file.ts";
import type { Resources } from "../support/resources.ts";
import { check, type Finding, type Moment } from "./checker.ts";
import type { Kind, LifeLine, LifeOptions } from "./life.ts";
import type { Strike } from "./points.ts";

const PROGRAM = new URL("./life.program.ts", import.meta.url);

type Told = Pick<LifeOptions, "settle"> & Partial<Pick<LifeOptions, "share" | "strike" | "sabotage">>;

/**
 * One ledger, one world, and the processes that live and die on them one after another, or two at a time.
 * Whatever any of them said counts until the end.
 */
export class Lives {
  readonly #resources: Resources;
  readonly #place: Pick<LifeOptions, "ledger" | "effects" | "seed" | "kinds">;
  readonly #promised: LifeLine[] = [];
  readonly #errors: string[] = [];
  #sessions = 0;

  private constructor(resources: Resources, place: Lives["place"]) {
    this.#resources = resources;
    this.#place = place;
  }

  static async begin(
    resources: Resources,
    { seed, kinds }: { readonly seed: number; readonly kinds: readonly Kind[] },
  ): Promise<Lives> {
    const folder = await resources.folder();
    const place = { ledger: join(folder, "ledger.db"), effects: join(folder, "effects.jsonl"), seed, kinds };
    return new Lives(resources, place);
  }

  get place(): Pick<LifeOptions, "ledger" | "effects" | "seed" | "kinds"> {
    return this.#place;
  }

  /** What processes said went wrong in them. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Lets there be more sessions, for the next process to begin. */
  addSessions(count: number): void {
    this.#sessions += count;
  }

  /** Starts a process that goes on where the last one stopped. */
  start(told: Told): Child<LifeLine> {
    const options: LifeOptions = {
      ...this.#place,
      sessions: this.#sessions,
      share: { index: 0, of: 1 },
      ...told,
    };
    const child = this.#resources.child<LifeLine>(PROGRAM, { args: [JSON.stringify(options)] });
    child.onLine((line) => {
      if (line.type === "error") this.#errors.push(line.message);
      else this.#promised.push(line);
    });
    return child;
  }

  /** Lets a process live until it strikes itself down. Rejects if it comes to its end otherwise. */
  async untilStruck(told: Told & { readonly strike: Strike }): Promise<void> {
    const child = this.start(told);
    const done = child.line("done").then(
      () => true,
      () => false,
    );
    const { point, passage } = told.strike;
    if (await Promise.race([done, child.ended.then(() => false)])) {
      await child.kill();
      throw new Error(`Everything was done, and ${point} was not passed ${passage} times.`);
    }
    assertKilled(await child.ended, child.complaints);
  }

  /** Lets a process do everything that is left. Gives up, leaving it to the checker, after `patienceMs`. */
  async untilDone(told: Told, patienceMs = 30_000): Promise<void> {
    const child = this.start(told);
    const timer = setTimeout(() => child.signal("SIGKILL"), patienceMs);
    try {
      await child.line("done");
      child.send({ type: "close" });
    } catch (error) {
      if (!child.process.killed) throw error;
    }
    const { code, signal } = await child.ended;
    clearTimeout(timer);
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`It ended with ${code}: ${child.complaints}`);
  }

  /** The kinds of journal records that this run came to. */
  journalKinds(): readonly string[] {
    const file = new LedgerFile(this.#place.ledger);
    try {
      return [...new Set(file.contents().journal.map(({ kind }) => kind))];
    } finally {
      file.close();
    }
  }

  check(moment: Moment): Promise<readonly Finding[]> {
    return check({ ...this.#place, promised: this.#promised, moment });
  }
}

/** Throws unless the process was killed; a process that ends by itself has a fault of its own. */
export function assertKilled({ code, signal }: End, complaints: string): void {
  if (signal !== "SIGKILL")
    throw new Error(`The process was to be killed; it ended with ${code ?? signal}: ${complaints}`);
}

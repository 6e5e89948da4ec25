import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readEffects } from "../support/ledger/effects.ts";
import { type LedgerPlace, lookAt } from "../support/ledger/open-view.ts";
import type { Child, End } from "../support/processes/child.ts";
import type { Resources } from "../support/resources.ts";
import { check, type Finding, type Moment } from "./checker.ts";
import type { Kind, LifeLine, LifeOptions } from "./life.ts";
import type { Strike } from "./points.ts";

/** Far more than anything here takes, on a busy machine too. */
export const PATIENCE_MS = 120_000;
const MOST_TRIES = 5;
/** Nobody who has begun is silent for so long while there is something to do. */
const STILL_MS = 1_500;
const PROGRAM = new URL("./life.program.ts", import.meta.url);

export type Notice = Extract<LifeLine, { readonly type: "notice" }>;

type Told = Pick<LifeOptions, "settle"> &
  Partial<
    Pick<
      LifeOptions,
      "share" | "strike" | "sabotage" | "through" | "skewMs" | "lease" | "durability" | "quarrel" | "watch"
    >
  >;

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
    {
      seed,
      kinds,
      ledger,
    }: { readonly seed: number; readonly kinds: readonly Kind[]; readonly ledger?: LedgerPlace },
  ): Promise<Lives> {
    const folder = await resources.folder();
    const effects = join(folder, "effects.jsonl");
    const place = { ledger: ledger ?? join(folder, "ledger.db"), effects, seed, kinds };
    return new Lives(resources, place);
  }

  get place(): Pick<LifeOptions, "ledger" | "effects" | "seed" | "kinds"> {
    return this.#place;
  }

  /** What processes said went wrong in them. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** What processes told their operators of what the ledger lost. */
  get notices(): readonly Notice[] {
    return this.#promised.filter((line) => line.type === "notice");
  }

  /** Lets there be more sessions, for the next process to begin; how many there are then. */
  addSessions(count: number): number {
    this.#sessions += count;
    return this.#sessions;
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

  /**
   * Lets a process live until it strikes itself down. Where a slow disk lets its lease run out, it gives up its calls and is
   * done before that: then another one begins as many sessions. Rejects if none is struck.
   */
  async untilStruck(told: Told & { readonly strike: Strike }, sessions: number): Promise<void> {
    let fate = "done";
    for (let tries = 0; tries < MOST_TRIES && fate === "done"; tries++) {
      this.addSessions(sessions);
      const child = this.start(told);
      fate = await fateOf(child, PATIENCE_MS);
      const ended = await child.kill();
      if (fate === "ended") assertKilled(ended, child.complaints);
    }
    const { point, passage } = told.strike;
    if (fate !== "ended")
      throw new Error(`${point} was not passed ${passage} times; the process is ${fate}.`);
  }

  /** Lets a process do everything that is left. What it cannot do in time is left to the checker to find. */
  async untilDone(told: Told): Promise<void> {
    const child = this.start(told);
    await this.#close(child, await fateOf(child, PATIENCE_MS));
  }

  /** Lets a process that may never be done go on for as long as it does anything. */
  async untilPaused(told: Told): Promise<void> {
    const child = this.start(told);
    let commits = 0;
    child.onLine(({ type }) => {
      if (type === "committed") commits += 1;
    });
    const fate = fateOf(child, PATIENCE_MS);
    for (let before = 0; ; before = commits) {
      const now = await Promise.race([fate, setTimeout(STILL_MS, "at work" as const)]);
      if (now !== "at work") return this.#close(child, now);
      if (commits > 0 && commits === before) return this.#close(child, "not done");
    }
  }

  async #close(child: Child<LifeLine>, fate: Awaited<ReturnType<typeof fateOf>>): Promise<void> {
    if (fate === "done") child.send({ type: "close" });
    if (fate === "not done") child.signal("SIGKILL");
    const { code } = await child.ended;
    if (fate !== "not done" && code !== 0) throw new Error(`It ended with ${code}: ${child.complaints}`);
  }

  /** The kinds of journal records that this run came to. */
  async journalKinds(): Promise<readonly string[]> {
    return [...(await this.tally()).records.keys()];
  }

  /** What this run came to, in numbers. */
  async tally(): Promise<Tally> {
    const contents = await lookAt(this.#place.ledger, (view) => view.contents());
    const records = new Map<string, number>();
    for (const { kind } of contents?.journal ?? []) records.set(kind, (records.get(kind) ?? 0) + 1);
    return {
      sessions: contents?.sessions.length ?? 0,
      runs: readEffects(this.#place.effects).filter(({ what }) => what === "body").length,
      refusals: this.#promised.filter((line) => line.type === "refused" && line.code === "already-decided")
        .length,
      records,
    };
  }

  check(moment: Moment): Promise<readonly Finding[]> {
    return check({ ...this.#place, promised: this.#promised, moment });
  }
}

/** A run in numbers. */
export interface Tally {
  readonly sessions: number;
  /** How often a body was entered. */
  readonly runs: number;
  /** Decisions that were refused because another one was first. */
  readonly refusals: number;
  /** Journal records by kind. */
  readonly records: ReadonlyMap<string, number>;
}

/** What becomes of a process that has so long. */
async function fateOf(child: Child<LifeLine>, patienceMs: number): Promise<"done" | "ended" | "not done"> {
  const timer = new AbortController();
  const late = setTimeout(patienceMs, "not done" as const, { signal: timer.signal });
  // Aborted when it is not needed any more.
  late.catch(() => {});
  try {
    const done = child.line("done").then(
      () => "done" as const,
      () => "ended" as const,
    );
    return await Promise.race([done, late]);
  } finally {
    timer.abort();
  }
}

/** Throws unless the process was killed; a process that ends by itself has a fault of its own. */
export function assertKilled({ code, signal }: End, complaints: string): void {
  if (signal !== "SIGKILL")
    throw new Error(`The process was to be killed; it ended with ${code ?? signal}: ${complaints}`);
}

import type { Decider } from "../decisions/index.ts";
import { actor, diaryDraft, RETENTION_DIARY } from "../holds/index.ts";
import { transact } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { pruneSession } from "../sessions/index.ts";
import { agedContent } from "./aged-content.ts";
import { type JournalReport, JournalRun } from "./journal-run.ts";
import { RunLease } from "./lease.ts";
import { readProgress, writeProgress } from "./progress.ts";
import type { RetentionRules } from "./rules.ts";

/** How a run is made. */
export interface RetentionRunOptions {
  readonly rules: RetentionRules;
  /** In whose name; journalled. */
  readonly decider: Decider;
  /** How many sessions are checked before other work gets a turn. */
  readonly batch?: number;
  /** How long the pause for other work is. */
  readonly pauseMs?: number;
  /** Ends the run after the batch; the next one goes on from there. */
  readonly signal?: AbortSignal;
  /** Told after each batch. */
  readonly onProgress?: (report: RetentionReport) => void;
  /** Told of each session that a legal hold keeps. */
  readonly onHeld?: (session: string, why: string) => void;
}

/** What a run did. */
export interface RetentionReport {
  /** Sessions whose content was erased. */
  readonly erased: number;
  /** Sessions that a legal hold kept. */
  readonly held: number;
  /** What was removed from the journal itself; absent where the rules keep it for ever. */
  readonly journal?: JournalReport;
}

/** `elsewhere`: another process runs it now. `stopped`: the next run goes on from there. */
export type RetentionRun = RetentionReport & { readonly ended: "done" | "stopped" | "elsewhere" };

const BATCH = 50;
const PAUSE_MS = 100;

/**
 * Erases content that is past its age, in one process at a time. Each session is judged again, with the holds, in the
 * transaction that erases it. If the process dies, the next run goes on where it was.
 */
export async function runRetention(parts: EngineParts, options: RetentionRunOptions): Promise<RetentionRun> {
  await parts.ready();
  const done = await RunLease.during(parts, "retention", async (lease): Promise<RetentionRun> => {
    const run = new Run(parts, options, lease);
    const content = await run.content();
    await run.note();
    const ended = content === "done" ? await run.journal() : content;
    await parts.ledger.tidy();
    return { ...run.report, ended };
  });
  return done ?? { erased: 0, held: 0, ended: "elsewhere" };
}

class Run {
  readonly #parts: EngineParts;
  readonly #options: RetentionRunOptions;
  readonly #lease: RunLease;
  #erased = 0;
  #held = 0;
  #journal: JournalRun | undefined;

  constructor(parts: EngineParts, options: RetentionRunOptions, lease: RunLease) {
    this.#parts = parts;
    this.#options = options;
    this.#lease = lease;
  }

  get report(): RetentionReport {
    const journal = this.#journal?.report;
    return { erased: this.#erased, held: this.#held, ...(journal === undefined ? {} : { journal }) };
  }

  /** Removes what is left of erased sessions from the journal. */
  async journal(): Promise<"done" | "stopped"> {
    const { rules, decider, batch = BATCH, onHeld } = this.#options;
    const { version, journal } = rules;
    if (journal === undefined) return "done";
    const rest = (): Promise<boolean> => this.#rest();
    const options = { rules: { version, journal }, decider, batch, rest, onHeld };
    this.#journal = await JournalRun.begin(this.#parts, options);
    return this.#journal.run();
  }

  async content(): Promise<"done" | "stopped"> {
    const { ledger } = this.#parts;
    const { rules, batch = BATCH } = this.#options;
    if (rules.shortestContentMs === undefined) return "done";
    const idleSince = ledger.now - rules.shortestContentMs;
    let { cursor } = await readProgress(ledger);
    for (;;) {
      const request = { limit: batch, ...(cursor === undefined ? {} : { cursor }) };
      const { items, next } = await ledger.sessions({ idleSince }, request);
      for (const { key } of items) await this.#erase(key);
      const done = next === undefined;
      await writeProgress(ledger, done ? { finishedAt: ledger.now } : { cursor: next });
      if (done) return "done";
      if (!(await this.#rest())) return "stopped";
      cursor = next;
    }
  }

  /** Says in the journal what was erased under which rules. */
  async note(): Promise<void> {
    if (this.#erased === 0) return;
    const { rules, decider } = this.#options;
    await transact<void>(this.#parts, { session: RETENTION_DIARY }, (snapshot) => {
      const draft = diaryDraft(this.#parts, snapshot);
      const counts = { erased: this.#erased, held: this.#held };
      draft.journal("retention-run", { rules: rules.version, ...counts, ...actor(decider) });
      return { draft, value: undefined };
    });
  }

  async #erase(key: string): Promise<void> {
    const aged = await agedContent(this.#parts.ledger, key, this.#options.rules);
    if (aged === undefined) return;
    const { session, olderThanMs, tools } = aged;
    const erased = await pruneSession(this.#parts, key, {
      olderThanMs,
      version: session.version,
      tools: [...tools],
    });
    if (erased.ok) this.#erased += 1;
    else if (erased.code === "under-hold") {
      this.#held += 1;
      this.#options.onHeld?.(key, erased.message);
    }
  }

  /** False if the run must end. */
  async #rest(): Promise<boolean> {
    const { signal, pauseMs = PAUSE_MS, onProgress } = this.#options;
    onProgress?.(this.report);
    await this.#parts.clock.sleep(pauseMs, signal);
    return this.#lease.goesOn(signal);
  }
}

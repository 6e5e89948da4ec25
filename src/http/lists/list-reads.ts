import type { Ledger, Lists, StandbyProblem } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The oldest list that anybody can ask for, in seconds. */
export const MOST_AGE_SECONDS = 30;
/** A problem that comes and goes is told of so often. */
const TELL_MS = 60_000;

const WORDS: Readonly<Record<StandbyProblem, string>> = {
  behind: "the standby is behind; lists are read from the primary",
  unreachable: "the standby does not answer; lists are read from the primary",
  promoted: "the server for reading lists is not a standby; lists are read from the primary",
  "other-ledger": "the standby is not a copy of this ledger as it is now; lists are read from the primary",
  failed: "a list could not be read from the standby; lists are read from the primary",
};

interface Parts {
  readonly log: Logger;
  readonly metrics: Metrics;
  ledger(): Promise<Ledger>;
}

/** Where lists are read: from a standby that is as new as the caller wants, if there is one, else from the ledger itself. */
export class ListReads {
  readonly #parts: Parts;
  readonly #toldAt = new Map<StandbyProblem, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * What `read` makes of the lists. With `asOf` if they are a standby's: everything that was committed before is in them.
   * Without a `maxAge`, they have everything that was committed before this was called.
   */
  async read<Page extends object>(
    { maxAge = 0 }: { readonly maxAge?: number | undefined },
    read: (lists: Lists) => Promise<Page>,
  ): Promise<Page & { readonly asOf?: string }> {
    const ledger = await this.#parts.ledger();
    if (ledger.standbys === undefined) return read(ledger);
    const found = await ledger.standbys.find(1_000 * maxAge).catch(() => "failed" as const);
    if (typeof found === "string") {
      this.#count(found);
      return read(ledger);
    }
    try {
      const page = await read(found.lists);
      this.#count("standby");
      return { ...page, asOf: new Date(found.asOf).toISOString() };
    } catch (error) {
      if (!isLedgers(error)) throw error;
      this.#count("failed", error);
      return read(ledger);
    }
  }

  #count(outcome: StandbyProblem | "standby", err?: unknown): void {
    const { log, metrics } = this.#parts;
    metrics.add("listReads", { outcome });
    if (outcome === "standby") return;
    const now = performance.now();
    if (now - (this.#toldAt.get(outcome) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    this.#toldAt.set(outcome, now);
    log.warn({ outcome, ...(err === undefined ? {} : { err }) }, WORDS[outcome]);
  }
}

/** Is it the server's fault, and not the request's? */
function isLedgers(error: unknown): boolean {
  return (
    CountersignError.isInstance(error) && (error.code.startsWith("ledger-") || error.code === "internal")
  );
}

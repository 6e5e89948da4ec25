import { CountersignError } from "../../protocol/index.ts";
import type { Clock } from "../common/index.ts";
import type { Ledger } from "../ledger/index.ts";

/** What all sessions of one ledger may use together. What is left out has no limit. */
export interface QuotaLimits {
  /** Questions that wait for an answer. */
  readonly pending?: number;
  readonly sessions?: number;
  /** What is stored, about. */
  readonly bytes?: number;
}

/** What a ledger has; the first two are counted only as far as was asked. */
export interface Usage {
  readonly pending: number;
  readonly sessions: number;
  readonly bytes: number;
}

/** So long what was counted is used, unless it is used up before. */
const COUNTED_FOR_MS = 5_000;
/** At a limit, it is not counted more often than this. */
const COUNT_AGAIN_MS = 250;

/**
 * The limits of a whole ledger. New sessions, messages, calls and questions are judged by it; decisions, results and
 * deletions never are. What other processes add within five seconds may exceed a limit.
 */
export class Quota {
  readonly #ledger: Pick<Ledger, "usage">;
  readonly #clock: Clock;
  readonly #limits: QuotaLimits;
  readonly #isUnlimited: boolean;
  #counted: Promise<Usage> | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Added here since it was counted. */
  #sessions = 0;
  #pending = 0;

  constructor(ledger: Pick<Ledger, "usage">, clock: Clock, limits: QuotaLimits = {}) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#limits = limits;
    const { pending, sessions, bytes } = limits;
    this.#isUnlimited = pending === undefined && sessions === undefined && bytes === undefined;
  }

  /** Throws `over-quota` unless there is room for what comes in; undefined where nothing is limited. */
  admit({ isNew }: { readonly isNew: boolean }): Promise<void> | undefined {
    return this.#isUnlimited ? undefined : this.#admit(isNew);
  }

  /** How many of so many questions may be asked. */
  async pendingRoom(wanted: number): Promise<number> {
    const limit = this.#limits.pending;
    if (limit === undefined || wanted === 0) return wanted;
    const room = (counted: Usage): number => limit - counted.pending - this.#pending;
    let counted = await this.#count();
    if (room(counted) < wanted) counted = await this.#countAgain();
    const granted = Math.max(0, Math.min(wanted, room(counted)));
    this.#pending += granted;
    return granted;
  }

  /** Throws `over-quota` where one more question may not be asked. */
  async admitQuestion(): Promise<void> {
    if ((await this.pendingRoom(1)) === 0) throw overQuota("pending", this.#limits.pending);
  }

  async #admit(isNew: boolean): Promise<void> {
    const flaw = (counted: Usage): keyof QuotaLimits | undefined => this.#flaw(counted, isNew);
    let counted = await this.#count();
    if (flaw(counted) !== undefined) counted = await this.#countAgain();
    const over = flaw(counted);
    if (over !== undefined) throw overQuota(over, this.#limits[over]);
    if (isNew) this.#sessions += 1;
  }

  #flaw(counted: Usage, isNew: boolean): keyof QuotaLimits | undefined {
    const { sessions = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = this.#limits;
    if (isNew && counted.sessions + this.#sessions >= sessions) return "sessions";
    return counted.bytes >= bytes ? "bytes" : undefined;
  }

  #count(): Promise<Usage> {
    const isOld = this.#clock.monotonic() - this.#countedAt >= COUNTED_FOR_MS;
    return this.#counted === undefined || isOld ? this.#read() : this.#counted;
  }

  #countAgain(): Promise<Usage> {
    const isOld = this.#clock.monotonic() - this.#countedAt >= COUNT_AGAIN_MS;
    return this.#counted === undefined || isOld ? this.#read() : this.#counted;
  }

  #read(): Promise<Usage> {
    const { pending = 0, sessions = 0 } = this.#limits;
    this.#countedAt = this.#clock.monotonic();
    this.#sessions = 0;
    this.#pending = 0;
    const counted = this.#ledger.usage({ pending, sessions });
    this.#counted = counted;
    counted.catch(() => {
      if (this.#counted === counted) this.#counted = undefined;
    });
    return counted;
  }
}

const NAMES = { pending: "open questions", sessions: "sessions", bytes: "bytes of stored data" } as const;

function overQuota(limit: keyof QuotaLimits, most = 0): CountersignError {
  return new CountersignError(
    "over-quota",
    `The limit of ${most} ${NAMES[limit]} is reached. Answer, delete or prune some, or ask the operator for more.`,
    { details: { limit, most } },
  );
}

import { CountersignError } from "../../../protocol/index.ts";
import type { Clock } from "../../common/index.ts";
import type { Ledger } from "../../ledger/index.ts";

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

/** How long a count is used, unless it is used up before. */
const COUNTED_FOR_MS = 5_000;
/** At a limit, it is not counted more often than this. */
const COUNT_AGAIN_MS = 250;

/** What one command has reserved. A new try of the command replaces what the last one reserved. */
export interface Reserved {
  pending: number;
  sessions: number;
}

/**
 * The limits of a whole ledger. New sessions, messages, calls and questions are judged by it; decisions, results,
 * deletions and questions of calls that run never are. What other processes add within five seconds may exceed a limit.
 */
export class Quota {
  readonly #ledger: Pick<Ledger, "usage">;
  readonly #clock: Clock;
  readonly #limits: QuotaLimits;
  readonly #isUnlimited: boolean;
  #counted: Promise<Usage> | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Stored here since it was counted. */
  #stored: Readonly<Reserved> = { pending: 0, sessions: 0 };
  /** Reserved by commands that are under way. A count does not have it. */
  #underWay: Readonly<Reserved> = { pending: 0, sessions: 0 };

  constructor(ledger: Pick<Ledger, "usage">, clock: Clock, limits: QuotaLimits = {}) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#limits = limits;
    const { pending, sessions, bytes } = limits;
    this.#isUnlimited = pending === undefined && sessions === undefined && bytes === undefined;
  }

  /** Runs a command that may reserve room; whatever it has not stored by its end is free again. */
  async during<T>(command: (reserved: Reserved) => Promise<T>): Promise<T> {
    const reserved: Reserved = { pending: 0, sessions: 0 };
    try {
      return await command(reserved);
    } finally {
      this.#reserve(reserved, { pending: 0, sessions: 0 });
    }
  }

  /** What the command reserved is stored now. */
  keep(reserved: Reserved): void {
    const { pending, sessions } = reserved;
    this.#stored = {
      pending: this.#stored.pending + pending,
      sessions: this.#stored.sessions + sessions,
    };
    this.#reserve(reserved, { pending: 0, sessions: 0 });
  }

  /**
   * The first of a command's checks. Throws `over-quota` unless there is room for what comes in; undefined where nothing
   * is limited.
   */
  admit(reserved: Reserved, { isNew }: { readonly isNew: boolean }): Promise<void> | undefined {
    return this.#isUnlimited ? undefined : this.#admit(reserved, isNew);
  }

  /** How many of so many questions may be asked. */
  async pendingRoom(reserved: Reserved, wanted: number): Promise<number> {
    const limit = this.#limits.pending;
    if (limit === undefined) return wanted;
    const { sessions } = reserved;
    this.#reserve(reserved, { pending: 0, sessions });
    if (wanted === 0) return 0;
    const room = (counted: Usage): number =>
      limit - counted.pending - this.#stored.pending - this.#underWay.pending;
    let granted = 0;
    await this.#compare((counted, isNewest) => {
      granted = Math.max(0, Math.min(wanted, room(counted)));
      if (granted < wanted && !isNewest) return false;
      this.#reserve(reserved, { pending: granted, sessions });
      return true;
    });
    return granted;
  }

  /** Throws `over-quota` if one more question may not be asked. */
  async admitQuestion(reserved: Reserved): Promise<void> {
    if ((await this.pendingRoom(reserved, 1)) === 0) throw overQuota("pending", this.#limits.pending);
  }

  async #admit(reserved: Reserved, isNew: boolean): Promise<void> {
    this.#reserve(reserved, { pending: 0, sessions: 0 });
    await this.#compare((counted, isNewest) => {
      const over = this.#flaw(counted, isNew);
      if (over !== undefined && !isNewest) return false;
      if (over !== undefined) throw overQuota(over, this.#limits[over]);
      this.#reserve(reserved, { pending: 0, sessions: Number(isNew) });
      return true;
    });
  }

  /** Compares with the last count and, if that is exceeded, once more with a new one. */
  async #compare(accepts: (counted: Usage, isNewest: boolean) => boolean): Promise<void> {
    let counting = this.#count();
    for (let isNewest = false; ; ) {
      const counted = await counting;
      const newest = this.#counted ?? counting;
      // Another command counted meanwhile. What was stored since belongs to that count.
      if (newest !== counting) counting = newest;
      else if (accepts(counted, isNewest)) return;
      else {
        isNewest = true;
        counting = this.#countAgain();
      }
    }
  }

  #reserve(reserved: Reserved, { pending, sessions }: Readonly<Reserved>): void {
    this.#underWay = {
      pending: this.#underWay.pending + pending - reserved.pending,
      sessions: this.#underWay.sessions + sessions - reserved.sessions,
    };
    reserved.pending = pending;
    reserved.sessions = sessions;
  }

  #flaw(counted: Usage, isNew: boolean): keyof QuotaLimits | undefined {
    const { sessions = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = this.#limits;
    const taken = counted.sessions + this.#stored.sessions + this.#underWay.sessions;
    if (isNew && taken >= sessions) return "sessions";
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
    this.#stored = { pending: 0, sessions: 0 };
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

import { setTimeout as sleep } from "node:timers/promises";
import { DocumentLedger, type FoundStandby, type StandbyProblem } from "../../../engine/index.ts";
import { type Database, isUndefined } from "../connection/index.ts";
import { PostgresStore } from "../postgres-store.ts";
import type { Mark, Marks } from "./marks.ts";

/** One that cannot be used is looked at again after so long, and nobody waits for that. */
const AGAIN_MS = 2_000;
const LOOK_LIMIT_MS = 1_000;
/** So long it is given to reach a mark, looked at so often; after that was in vain, nobody waits for so long. */
const CATCH_UP_MS = 250;
const POLL_MS = 15;
const IN_VAIN_MS = 2_000;

const LOOK = `
  select pg_is_in_recovery(), (select system_identifier::text from pg_control_system()),
    (select value from countersign.meta where name = 'digest-key'),
    exists (select 1 from countersign.histories h where h.id = $1),
    coalesce((pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, 0)`;

type Answer = readonly [
  isStandby: boolean,
  system: string,
  key: string | null,
  hasHistory: boolean,
  replayed: number,
];

/** The ledger that a standby must be a copy of. */
export interface Followed {
  readonly marks: Marks;
  readonly digestKey: Uint8Array;
}

/** One server, which may be a standby of the ledger's: what was last seen of it. */
export class Standby {
  readonly name: string;
  readonly #database: Database;
  readonly #followed: Followed;
  #problem: StandbyProblem | undefined;
  #replayed = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #hurriedUntil = Number.NEGATIVE_INFINITY;

  constructor(database: Database, followed: Followed) {
    this.name = database.name;
    this.#database = database;
    this.#followed = followed;
  }

  /**
   * Its lists, with everything that was committed before `oldest`, and more if it has more; or why not. `wait`: it is given a
   * moment to catch up.
   */
  async find(oldest: number, { wait }: { readonly wait: boolean }): Promise<FoundStandby | StandbyProblem> {
    if (this.#problem !== undefined) {
      if (performance.now() - this.#lookedAt > AGAIN_MS) this.look().catch(() => {});
      return this.#problem;
    }
    const startedAt = performance.now();
    const { marks } = this.#followed;
    const newest = await marks.since(startedAt);
    for (;;) {
      const problem = await this.look();
      if (problem !== undefined) return problem;
      const now = performance.now();
      const isLate = now - startedAt > CATCH_UP_MS;
      const isLast = isLate || !wait || now < this.#hurriedUntil;
      const { reached } = this;
      // An older one only where the newest is not reached soon.
      if (reached !== undefined && reached.askedAt >= (isLast ? oldest : newest.askedAt))
        return this.#found(reached);
      if (isLate) this.#hurriedUntil = now + IN_VAIN_MS;
      if (isLast) return "behind";
      await sleep(POLL_MS);
    }
  }

  #found(mark: Mark): FoundStandby {
    const { digestKey } = this.#followed;
    return { asOf: mark.now, lists: new DocumentLedger(new StandbyStore(this.#database, digestKey, mark)) };
  }

  /** The newest mark that it has. */
  get reached(): Mark | undefined {
    return this.#followed.marks.reachedBy(this.#replayed);
  }

  /** Looks whether it can be used, and how far it is. One look at a time, for everybody. */
  async look(): Promise<StandbyProblem | undefined> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
    return this.#problem;
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #lookOnce(): Promise<void> {
    try {
      const mark = await this.#followed.marks.since(Number.NEGATIVE_INFINITY);
      const answer = await this.#ask(mark);
      const [, , , hasHistory, replayed] = answer;
      this.#problem = problemIn(answer, mark, this.#followed.digestKey);
      // Without the newest line of the history it is not known which time line the place is on.
      this.#replayed = hasHistory || !mark.isNoted ? replayed : 0;
    } catch (error) {
      const isMissing = error instanceof Error && isUndefined(error.cause);
      this.#problem = isMissing ? "other-ledger" : "unreachable";
    }
    this.#lookedAt = performance.now();
  }

  async #ask({ history }: Mark): Promise<Answer> {
    const timer = new AbortController();
    const late = sleep(LOOK_LIMIT_MS, undefined, { signal: timer.signal });
    late.catch(() => {});
    const asked = this.#database.get(LOOK, [history]);
    asked.catch(() => {});
    try {
      const row = await Promise.race([asked, late]);
      if (row === undefined) throw new Error("The standby does not answer.");
      return row as unknown as Answer;
    } finally {
      timer.abort();
    }
  }
}

function problemIn(answer: Answer, mark: Mark, digestKey: Uint8Array): StandbyProblem | undefined {
  const [isStandby, system, key, hasHistory, replayed] = answer;
  if (key !== Buffer.from(digestKey).toString("hex")) return "other-ledger";
  if (!isStandby) return "promoted";
  if (!mark.history.startsWith(`${system}/`)) return "other-ledger";
  return mark.isNoted && !hasHistory && replayed >= mark.replayed ? "other-ledger" : undefined;
}

/** What is on a standby. Its log is read as far as it was complete when the mark was made. */
class StandbyStore extends PostgresStore {
  readonly #logEnd: number;

  constructor(database: Database, digestKey: Uint8Array, { now, logEnd }: Mark) {
    super(database, { digestKey, now, alwaysSync: false });
    this.#logEnd = logEnd;
  }

  override log(...[query]: Parameters<PostgresStore["log"]>): ReturnType<PostgresStore["log"]> {
    if ("at" in query || query.session !== undefined) return super.log(query);
    return super.log({ ...query, until: Math.min(query.until ?? this.#logEnd, this.#logEnd) });
  }
}

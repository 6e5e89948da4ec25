import { randomBytes } from "node:crypto";
import type { CommitOutcome, StoreCommit } from "../../engine/index.ts";
import type { Database } from "../postgres/database.ts";
import { NOW } from "../postgres/now.ts";
import { commitStatement, type Sent } from "./commit-statement.ts";

interface Waiting extends Sent {
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** So many commits go into one statement, and so many statements of one kind are under way. */
const MOST_TOGETHER = 64;
const MOST_UNDER_WAY = 4;

const WHY =
  "select coalesce((select version from countersign.documents where key = $1), 0), " +
  "exists (select 1 from countersign.log where session = $1 and n = $2::bigint + 1 and commit_id = $3::bigint), " +
  `$4::text is null or exists (select 1 from countersign.owners where id = $4 and fenced = 0 and lease_until > ${NOW}), ` +
  `$4::text is null or exists (select 1 from countersign.owners o where o.id = $4 and countersign.may_claim(o.history, ${NOW})), ` +
  `($5::bigint is null or ${NOW} < $5) and ($6::bigint is null or ${NOW} >= $6)`;

/**
 * Commits that wait while others are written go together into the next statement. Those that must be on disk go apart from
 * those that need not, so that these do not wait for it.
 */
export class CommitQueue {
  readonly #synced: Lane;
  readonly #unsynced: Lane;

  constructor(
    database: Database,
    { alwaysSync, written }: { readonly alwaysSync: boolean; readonly written: () => void },
  ) {
    this.#synced = new Lane(database, { sync: true, written });
    this.#unsynced = alwaysSync ? this.#synced : new Lane(database, { sync: false, written });
  }

  add(commit: StoreCommit): Promise<CommitOutcome> {
    return (commit.sync ? this.#synced : this.#unsynced).add(commit);
  }
}

class Lane {
  readonly #database: Database;
  readonly #sync: boolean;
  readonly #written: () => void;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(
    database: Database,
    { sync, written }: { readonly sync: boolean; readonly written: () => void },
  ) {
    this.#database = database;
    this.#sync = sync;
    this.#written = written;
  }

  add(commit: StoreCommit): Promise<CommitOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id: newCommitId(), commit, resolve, reject });
      this.#schedule();
    });
  }

  // What is added in the same turn of the event loop goes together.
  #schedule(): void {
    if (this.#scheduled || this.#underWay >= MOST_UNDER_WAY || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const group = this.#take();
      this.#underWay += 1;
      this.#send(group)
        .catch(() => {})
        .finally(() => {
          this.#underWay -= 1;
          this.#schedule();
        });
      this.#schedule();
    });
  }

  /** At most one commit of each session: the next one names the version that this one makes. */
  #take(): readonly Waiting[] {
    const group: Waiting[] = [];
    const left: Waiting[] = [];
    const keys = new Set<string>();
    for (const each of this.#waiting) {
      const fits = group.length < MOST_TOGETHER && !keys.has(each.commit.key);
      keys.add(each.commit.key);
      (fits ? group : left).push(each);
    }
    this.#waiting = left;
    return group;
  }

  async #send(group: readonly Waiting[]): Promise<void> {
    let done: ReadonlySet<string>;
    try {
      done = await this.#write(group);
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      else for (const each of group) await this.#send([each]);
      return;
    }
    if (done.size > 0) this.#written();
    for (const each of group) {
      if (done.has(each.commit.key)) each.resolve({ ok: true });
      else this.#why(each).then(each.resolve, each.reject);
    }
  }

  async #write(group: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const { text, values } = commitStatement(group, this.#sync);
    const rows = await this.#database.all(text, values, { shared: !this.#sync });
    return new Set(rows.map(([key]) => key as string));
  }

  async #why({ id, commit }: Waiting): Promise<CommitOutcome> {
    const { key, version, owner = null, before = null, from = null } = commit;
    const row = await this.#database.get(WHY, [key, version, id, owner, before, from]);
    const [stored, isDone, holds, mayClaim, inTime] = (row ?? []) as unknown as [number, ...boolean[]];
    // It was sent again after its answer was lost, and had been done.
    if (isDone === true) return { ok: true };
    if (stored !== version) return { ok: false, conflict: "version" };
    if (holds === false) return { ok: false, conflict: "owner" };
    if (mayClaim === false) return { ok: false, conflict: "history" };
    return { ok: false, conflict: inTime === false ? "deadline" : "version" };
  }
}

// From a random start, lest two processes give out the same ones.
let lastCommitId = randomBytes(8).readBigInt64BE();

function newCommitId(): string {
  lastCommitId = BigInt.asIntN(64, lastCommitId + 1n);
  return lastCommitId.toString();
}

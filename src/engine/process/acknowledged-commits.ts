import type { Clock } from "../common/index.ts";
import type { ChainHead, Commit, Ledger, SessionRecord } from "../ledger/index.ts";

/** A commit that the ledger acknowledged. */
export interface Acknowledged {
  readonly session: string;
  /** The session's version after the commit. */
  readonly version: number;
  readonly chain: { readonly n: number; readonly hash: string };
  /** Its journal records, and the calls that it wrote. */
  readonly kinds: readonly string[];
  readonly calls: readonly string[];
  readonly at: number;
}

const KEPT_MS = 2 * 60_000;
const MOST_COMMITS = 5_000;
/** A server loses its newest commits; of commits at the same time, any may have been the newest. */
const NEWEST = 4;

/**
 * The commits of the last minutes that the ledger acknowledged to this process. If the ledger no longer has one, it was
 * lost: in a crash, if it was not synced, or in a failover.
 */
export class AcknowledgedCommits {
  readonly #clock: Clock;
  readonly #most: number;
  #commits: Acknowledged[] = [];

  constructor(clock: Clock, most: number = MOST_COMMITS) {
    this.#clock = clock;
    this.#most = most;
  }

  add({ session, change, writes, log: { kinds } }: Commit): void {
    if (this.#most === 0) return;
    const at = this.#clock.monotonic();
    const calls = writes.flatMap((write) =>
      write.kind === "call-insert" ? [write.call.id] : write.kind === "call-update" ? [write.id] : [],
    );
    const { key, version } = session;
    this.#commits.push({ session: key, version: version + 1, chain: change.chain, kinds, calls, at });
    if (this.#commits.length > 2 * this.#most) this.#forget();
  }

  /**
   * The commits that the ledger has lost; they are removed here. All are checked only if the newest is lost, or if
   * required.
   */
  async lost(ledger: Ledger, { all }: { readonly all: boolean }): Promise<readonly Acknowledged[]> {
    this.#forget();
    const known = [...this.#commits];
    if (!all && !(await hasLost(ledger, known.slice(-NEWEST)))) return [];
    const lost = new Set<Acknowledged>();
    for (const [session, commits] of Map.groupBy(known, (commit) => commit.session)) {
      for (const commit of await lostIn(ledger, session, commits)) lost.add(commit);
    }
    this.#commits = this.#commits.filter((commit) => !lost.has(commit));
    return [...lost];
  }

  #forget(): void {
    const oldest = this.#clock.monotonic() - KEPT_MS;
    this.#commits = this.#commits.slice(-this.#most).filter(({ at }) => at >= oldest);
  }
}

async function hasLost(ledger: Ledger, commits: readonly Acknowledged[]): Promise<boolean> {
  for (const commit of commits) {
    if ((await lostIn(ledger, commit.session, [commit])).length > 0) return true;
  }
  return false;
}

async function lostIn(
  ledger: Ledger,
  session: string,
  commits: readonly Acknowledged[],
): Promise<readonly Acknowledged[]> {
  const stored = (await ledger.load({ sessionKey: session }))?.session;
  if (stored === undefined) return commits;
  const lost: Acknowledged[] = [];
  for (const commit of commits) {
    const { n, hash } = commit.chain;
    const behind = stored.version < commit.version || stored.chain.n < n;
    if (behind || (await isOther(ledger, stored, { n, hash }))) lost.push(commit);
  }
  return lost;
}

/** The number may belong to another record by now. Of a session whose journal was pruned, the end is all that is left. */
async function isOther(
  ledger: Ledger,
  { key, pruned, chain }: SessionRecord,
  { n, hash }: ChainHead,
): Promise<boolean> {
  if (n === 0) return false;
  if (pruned !== undefined) return n === chain.n && hash !== chain.hash;
  return (await hashAt(ledger, key, n)) !== hash;
}

async function hashAt(ledger: Ledger, session: string, n: number): Promise<string | undefined> {
  return (await ledger.journal.sessionRows(session, { after: n - 1, limit: 1 }))[0]?.hash;
}

import type { Executions } from "../calls/index.ts";
import { revokeAll, revokeAllIn, revokeAllShared } from "../grants/index.ts";
import type { HeldWork } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { assertClaims } from "./assert-claims.ts";
import type { Notify } from "./notice.ts";
import type { NoticeWriter } from "./notices.ts";
import { recoverCall, recoverFrame } from "./recover.ts";

const NEW_HISTORY =
  "the database server was replaced; no calls start for one lease time while processes report what they know";
const MAY_BE_USED_UP = "the database server was replaced; uses or the revocation of the grant may be lost";
const MAY_BE_LOST =
  "the ledger lost commits of a session; uses or the revocation of the grant may be among them";
const LOST = "the ledger lost an acknowledged commit";

/** Work that, according to the ledger, this process is doing. `turn` is a frame's turn, or a call's attempt. */
interface Held {
  readonly kind: "call" | "frame";
  readonly id: string;
  readonly turn: number;
}

/**
 * Compares what the ledger says this process's owner holds with what the process really does. A database that crashed
 * may have lost the commit that ended a call or a step; the owner's lease is still renewed, so no other process would
 * ever take it over. Work that is idle here at two checks, at least one heartbeat apart, is recovered: the end that
 * this process remembers is recorded again, or the call is recovered like that of a lost process; a step is taken
 * again.
 */
export class Reconciler {
  readonly #parts: EngineParts;
  readonly #executions: Executions;
  readonly #notify: Notify;
  readonly #writer: NoticeWriter;
  #toldOf = "";
  /** After a replacement or crash of the server, more than the newest commits may be lost. */
  #mayHaveLostAny = false;
  #reconnects = 0;
  /** Sessions of which the ledger lost something, and whose grants are not revoked yet. */
  readonly #sessionsWithLosses = new Set<string>();
  /** What was found idle, and when first. */
  #idle = new Map<string, number>();
  #owner = "";
  #looking = false;

  constructor(
    parts: EngineParts,
    executions: Executions,
    { notify, writer }: { readonly notify: Notify; readonly writer: NoticeWriter },
  ) {
    this.#parts = parts;
    this.#executions = executions;
    this.#writer = writer;
    this.#notify = (notice) => {
      writer.add(notice);
      notify(notice);
    };
  }

  /**
   * The ledger's server was replaced: checks the claims of this process, within one lease. Other losses are reported
   * from the next check on. If it rejects, it is called again.
   */
  async newHistory(history: string): Promise<void> {
    if (this.#toldOf !== history)
      this.#notify({ kind: "new-history", message: NEW_HISTORY, details: { history } });
    this.#toldOf = history;
    this.#mayHaveLostAny = true;
    try {
      // Every record names the newest checkpoint that is known here.
      this.#parts.knownSeal.k = (await this.#parts.ledger.journal.lastCheckpoint())?.k ?? 0;
      // The commits that used or revoked a grant may be lost.
      await revokeAll(this.#parts, { reason: MAY_BE_USED_UP });
      await assertClaims(this.#parts, this.#executions, this.#notify);
    } finally {
      // Claims do not wait for this; what is not stored now is stored at a later check.
      this.#writer.store().catch(() => {});
      // An idle process would not check by itself.
      this.look(this.#owner).catch(() => {});
    }
  }

  /** Checks once, unless a check is running. Failures are left to the next check. Never rejects. */
  async look(owner: string): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      if (owner !== this.#owner) this.#idle.clear();
      this.#owner = owner;
      for (const held of await this.#longIdle(owner)) await this.#takeBack(owner, held);
      await this.#tellLost();
      await this.#revokeGrants();
    } catch {
      // The ledger is unreachable; idle work stays as it is.
    } finally {
      await this.#writer.store().catch(() => {});
      this.#looking = false;
    }
  }

  async #tellLost(): Promise<void> {
    const { acknowledged, ledger } = this.#parts;
    const { reconnects = 0 } = ledger.stats?.() ?? {};
    // A crashed server closed its connections; the newest commits may have been made after that.
    const all = this.#mayHaveLostAny || reconnects !== this.#reconnects;
    this.#reconnects = reconnects;
    this.#mayHaveLostAny = false;
    try {
      for (const { session, kinds, calls } of await acknowledged.lost(ledger, { all })) {
        this.#sessionsWithLosses.add(session);
        this.#notify({ kind: "lost-commits", message: LOST, details: { session, records: kinds, calls } });
      }
    } catch (error) {
      this.#mayHaveLostAny ||= all;
      throw error;
    }
  }

  // A grant must not be filled up again by what the ledger forgot.
  async #revokeGrants(): Promise<void> {
    // Any session may have used one of those.
    if (this.#sessionsWithLosses.size > 0) await revokeAllShared(this.#parts, { reason: MAY_BE_LOST });
    for (const session of this.#sessionsWithLosses) {
      await revokeAllIn(this.#parts, session, { reason: MAY_BE_LOST });
      this.#sessionsWithLosses.delete(session);
    }
  }

  async #longIdle(owner: string): Promise<readonly Held[]> {
    const { clock, ledger, settings } = this.#parts;
    const askedAt = clock.monotonic();
    const idle = listed(await ledger.owners.held(owner)).filter(({ id }) => this.#isIdle(id));
    const before = this.#idle;
    const now = clock.monotonic();
    this.#idle = new Map(idle.map((held) => [keyOf(held), before.get(keyOf(held)) ?? now]));
    return idle.filter((held) => askedAt - (before.get(keyOf(held)) ?? now) >= settings.heartbeatMs);
  }

  #isIdle(id: string): boolean {
    return !this.#executions.isAtWork(id) && !this.#parts.inFlight.has(id);
  }

  async #takeBack(owner: string, { kind, id, turn }: Held): Promise<void> {
    const own = { owner, turn, isIdle: () => this.#isIdle(id) };
    if (kind === "frame") {
      const { stepping: frame } = await recoverFrame(this.#parts, id, own);
      if (frame !== undefined) this.#executions.step(frame);
      return;
    }
    if (this.#executions.recordAgain(id, turn)) return;
    this.#executions.forbid(id, turn);
    const taken = await recoverCall(this.#parts, id, own);
    if (taken.claimed !== undefined) this.#executions.start(taken.claimed);
  }
}

function listed({ calls, frames }: HeldWork): readonly Held[] {
  return [
    ...calls.map(({ id, attempt }) => ({ kind: "call" as const, id, turn: attempt })),
    ...frames.map(({ id, turn }) => ({ kind: "frame" as const, id, turn })),
  ];
}

function keyOf({ id, turn }: Held): string {
  return `${id} ${turn}`;
}

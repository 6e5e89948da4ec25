import type { Executions } from "../calls/index.ts";
import type { HeldWork } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { assertClaims } from "./assert-claims.ts";
import type { Notify } from "./notice.ts";
import type { NoticeKeeper } from "./notices.ts";
import { recoverCall, recoverFrame } from "./recover.ts";

const NEW_HISTORY =
  "the database server was replaced; no calls start for one lease time while processes report what they know";
const LOST = "the ledger lost an acknowledged commit";

/** Something that the ledger says this process does. `turn` is a frame's, or the attempt of a call. */
interface Held {
  readonly kind: "call" | "frame";
  readonly id: string;
  readonly turn: number;
}

/**
 * Compares what the ledger says this process's owner holds with what the process really does. A database that crashed
 * may have lost the commit that ended a call or a step; the owner beats on, so nobody else would ever take it up. What
 * is idle here at two looks, a heartbeat or more apart, is taken back: the end that this process remembers is recorded
 * again, or the call is recovered as that of a lost process; a step is taken again.
 */
export class Reconciler {
  readonly #parts: EngineParts;
  readonly #executions: Executions;
  readonly #notify: Notify;
  readonly #keeper: NoticeKeeper;
  #toldOf = "";
  /** Since the server was replaced or crashed, not only the newest commits may be gone. */
  #mayHaveLostAny = false;
  #reconnects = 0;
  /** What was found idle, and when first. */
  #idle = new Map<string, number>();
  #owner = "";
  #looking = false;

  constructor(
    parts: EngineParts,
    executions: Executions,
    { notify, keeper }: { readonly notify: Notify; readonly keeper: NoticeKeeper },
  ) {
    this.#parts = parts;
    this.#executions = executions;
    this.#keeper = keeper;
    this.#notify = (notice) => {
      keeper.add(notice);
      notify(notice);
    };
  }

  /**
   * The ledger's server was replaced: asserts what was claimed here, for which there is one lease's time. What was lost
   * besides is told from the next look on. Rejects to be asked again.
   */
  async newHistory(history: string): Promise<void> {
    if (this.#toldOf !== history)
      this.#notify({ kind: "new-history", message: NEW_HISTORY, details: { history } });
    this.#toldOf = history;
    this.#mayHaveLostAny = true;
    try {
      // Every record names the newest checkpoint that is known here.
      this.#parts.knownSeal.k = (await this.#parts.ledger.lastCheckpoint())?.k ?? 0;
      await assertClaims(this.#parts, this.#executions, this.#notify);
    } finally {
      // Claims do not wait for that; what is not stored now is stored at a later look.
      this.#keeper.store().catch(() => {});
      // One that is idle would not look by itself.
      this.look(this.#owner).catch(() => {});
    }
  }

  /** Looks once, unless a look is under way. What fails is left to the next look. Never rejects. */
  async look(owner: string): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      if (owner !== this.#owner) this.#idle.clear();
      this.#owner = owner;
      for (const held of await this.#longIdle(owner)) await this.#takeBack(owner, held);
      await this.#tellLost();
    } catch {
      // The ledger is away; what is idle stays so.
    } finally {
      await this.#keeper.store().catch(() => {});
      this.#looking = false;
    }
  }

  async #tellLost(): Promise<void> {
    const { acknowledged, ledger } = this.#parts;
    const { reconnects = 0 } = ledger.stats?.() ?? {};
    // A server that crashed ended its connections, and the newest commits may have been made since.
    const all = this.#mayHaveLostAny || reconnects !== this.#reconnects;
    this.#reconnects = reconnects;
    this.#mayHaveLostAny = false;
    try {
      for (const { session, kinds, calls } of await acknowledged.lost(ledger, { all }))
        this.#notify({ kind: "lost-commits", message: LOST, details: { session, records: kinds, calls } });
    } catch (error) {
      this.#mayHaveLostAny ||= all;
      throw error;
    }
  }

  async #longIdle(owner: string): Promise<readonly Held[]> {
    const { clock, ledger, settings } = this.#parts;
    const askedAt = clock.monotonic();
    const idle = listed(await ledger.held(owner)).filter(({ id }) => this.#isIdle(id));
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
      const frame = await recoverFrame(this.#parts, id, own);
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

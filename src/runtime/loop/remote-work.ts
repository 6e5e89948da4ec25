import {
  type CallRecord,
  eachOf,
  type FrameRecord,
  type StoredItem,
  withdrawTurn,
} from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { type ForeignAgent, isForeign } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";

/** Remote work of one frame: its agent, and the agent's own note. */
type Kept = Readonly<{ agent: string; note: JsonObject }>;

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 10_000;
const MOST_AT_ONCE = 32;
// After this long, cancelling the work on a remote agent is no longer tried.
const TOLD_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Stores that work for a call's frame continues on a remote server. On disk when it resolves; the frame's next note
 * replaces it.
 */
export async function storeRemoteWork(
  { app, engine }: RunContext,
  call: CallRecord,
  note: JsonObject,
): Promise<void> {
  if (call.frame === undefined) return;
  const { ledger } = engine;
  const [kind, id] = [kindOf(app), call.frame];
  const value = { agent: call.agent, note };
  // Only the call that its frame waits for writes here, and that runs in one process at a time.
  for (let kept = false; !kept; ) {
    kept = await ledger.items.put({ kind, id, value }, (await ledger.items.get(kind, id))?.version ?? 0);
  }
}

/** A frame that is over has no remote work. */
export async function deleteRemoteWork({ app, engine }: RunContext, { id }: FrameRecord): Promise<void> {
  const kept = await engine.ledger.items.get(kindOf(app), id);
  if (kept !== undefined) await engine.ledger.items.remove(kept);
}

/**
 * Checks on remote work: a question that was decided there is withdrawn here, and work whose run was stopped is
 * cancelled there. What is due is stored in the ledger, so any process with the app's agents does it; an extra check
 * finds nothing to do.
 */
export class RemoteWork {
  readonly #run: RunContext;
  readonly #looks = new Map<string, Look>();
  #atWork = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(run: RunContext) {
    this.#run = run;
  }

  /** Starts the checks that are due; does not wait for remote servers. */
  async sweep(): Promise<void> {
    const { app, engine, agents, background } = this.#run;
    if (!agents.names.some((name) => this.#agent(name) !== undefined)) return;
    // On a busy ledger there are rounds all the time; checks run no more often than this.
    const now = this.#run.now();
    if (now - this.#sweptAt < FIRST_LOOK_MS) return;
    this.#sweptAt = now;
    const seen = new Set<string>();
    for await (const item of eachOf((page) => engine.ledger.items.list(kindOf(app), page))) {
      seen.add(item.id);
      if (this.#isTime(item)) background.addAside(this.#look(item));
    }
    for (const id of this.#looks.keys()) if (!seen.has(id)) this.#looks.delete(id);
  }

  #isTime({ id, version }: StoredItem): boolean {
    const look = this.#looks.get(id);
    if (this.#atWork >= MOST_AT_ONCE || look?.busy === true) return false;
    return look?.version !== version || this.#run.now() >= look.nextAt;
  }

  async #look(item: StoredItem): Promise<void> {
    const { id, version } = item;
    const before = this.#looks.get(id);
    const waitMs = before?.version === version ? Math.min(before.waitMs * 2, LONGEST_LOOK_MS) : FIRST_LOOK_MS;
    const look: Look = { version, waitMs, nextAt: 0, busy: true };
    this.#looks.set(id, look);
    this.#atWork += 1;
    try {
      await this.#tend(item);
    } finally {
      this.#atWork -= 1;
      look.busy = false;
      look.nextAt = this.#run.now() + waitMs;
    }
  }

  async #tend(item: StoredItem): Promise<void> {
    const { engine, closing } = this.#run;
    const { agent: name, note } = readKept(item.value);
    const agent = this.#agent(name);
    // Another process has the agent, or none.
    if (agent === undefined) return;
    const { frame, session } = (await engine.ledger.load({ frame: item.id })) ?? {};
    if (frame === undefined || session?.deletedAt !== undefined || frame.status === "cancelled") {
      const last = await this.#lastly(item);
      await agent.callOff?.(note, closing);
      if (last !== undefined) await engine.ledger.items.remove(last);
    } else if (frame.status === "done" || frame.status === "failed") {
      await engine.ledger.items.remove(item);
    } else if (frame.status === "waiting") {
      await this.#takeBack(agent, frame);
    }
  }

  /** After its run was stopped, it is stored only for this long. */
  async #lastly(item: StoredItem): Promise<StoredItem | undefined> {
    if (item.expiresAt !== undefined) return item;
    const { ledger } = this.#run.engine;
    await ledger.items.put({ ...item, expiresAt: ledger.now + TOLD_WITHIN_MS }, item.version);
    return ledger.items.get(item.kind, item.id);
  }

  // Read after the frame: a note is written before the questions that it is about, so it is theirs or of later ones.
  async #takeBack(agent: ForeignAgent, frame: FrameRecord): Promise<void> {
    const { app, engine, closing } = this.#run;
    const calls = await engine.ledger.calls(frame.calls);
    if (!calls.some(({ status }) => status === "waiting")) return;
    const kept = await engine.ledger.items.get(kindOf(app), frame.id);
    if (kept === undefined) return;
    const reason = await agent.decidedElsewhere?.(readKept(kept.value).note, closing);
    if (reason === undefined) return;
    await withdrawTurn(this.#run.parts, frame, { reason, cursor: { [DECIDED_ELSEWHERE]: frame.turn } });
  }

  #agent(name: string): ForeignAgent | undefined {
    const agent = this.#run.agents.get(name);
    return agent !== undefined && isForeign(agent) ? agent : undefined;
  }
}

/** The time of the last check. In memory only: it only limits the rate. */
interface Look {
  readonly version: number;
  readonly waitMs: number;
  nextAt: number;
  busy: boolean;
}

const DECIDED_ELSEWHERE = "decidedElsewhere";

/** Were the questions of a frame's last turn withdrawn because they were decided on the remote server? */
export function wasDecidedElsewhere({ cursor, turn }: FrameRecord): boolean {
  return isJsonObject(cursor) && member(cursor, DECIDED_ELSEWHERE) === turn;
}

function kindOf(app: string): string {
  return `work-elsewhere:${app}`;
}

// Written only by this runtime.
function readKept(value: JsonValue): Kept {
  return value as unknown as Kept;
}

import type { StoredEvent } from "../../protocol/index.ts";
import type { Executions } from "../calls/index.ts";
import { type FrameEnd, finishFrame, spawnFrames, type Trail } from "../frames/index.ts";
import {
  type Draft,
  draftOf,
  type FrameRecord,
  type Once,
  type Recalled,
  recallOnce,
  type SessionName,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type AskedCall, type TurnWithdrawal, withdrawTurn } from "../questions/index.ts";
import { useKey } from "./sessions.ts";
import {
  type MessageInput,
  receiveMessage,
  receiveOnce,
  recordTurn,
  type Turn,
  type TurnInput,
} from "./turns.ts";

/** What a runtime does with runs: messages in, turns and frames on record, each a compare-and-set that a dead process leaves whole. */
export class Runs {
  readonly #parts: EngineParts;
  readonly #executions: Executions;
  readonly #takeUp: (frames: readonly string[]) => Promise<void>;

  constructor(
    parts: EngineParts,
    executions: Executions,
    takeUp: (frames: readonly string[]) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#executions = executions;
    this.#takeUp = takeUp;
  }

  /** Stores a user's message and claims the step that answers it. */
  async receiveMessage(input: MessageInput): ReturnType<typeof receiveMessage> {
    return receiveMessage(this.#parts, input);
  }

  /** The same under a key: sent again, it says where the first one went. */
  async receiveOnce(input: MessageInput, once: Once): ReturnType<typeof receiveOnce> {
    return receiveOnce(this.#parts, input, once);
  }

  /** What a key stands for already. */
  async recallOnce(once: Once | undefined): Promise<Recalled | undefined> {
    return recallOnce(this.#parts.ledger, once);
  }

  /** Binds a key to what its request means; resolves to what it was bound to first. */
  async useKey(name: SessionName, about: Parameters<typeof useKey>[2]): ReturnType<typeof useKey> {
    return useKey(this.#parts, name, about);
  }

  /** Resolves when nothing of this invocation runs in this process any more, to what was committed meanwhile. */
  async settledIn(invocation: string): Promise<Trail | undefined> {
    return this.#executions.settledIn(invocation);
  }

  /** What a frame's session was told: as this process left it, if nobody else has been at it, or read. */
  async history({ session, invocation }: FrameRecord): Promise<readonly StoredEvent[]> {
    const read = (): Promise<readonly StoredEvent[]> => this.#parts.ledger.events(session);
    const trail = this.#executions.trailOf(invocation);
    return trail === undefined ? read() : trail.history(read);
  }

  /** Lets the host go on with a frame that this process has claimed. */
  step(frame: FrameRecord): void {
    this.#executions.step(frame);
  }

  /** Stores a model's turn and starts those of its calls that need nobody. */
  async recordTurn(frame: FrameRecord, input: TurnInput): Promise<Turn | undefined> {
    const turn = await recordTurn(this.#parts, frame, input);
    for (const claimed of turn?.claimed ?? []) this.#executions.start(claimed);
    for (const asked of turn?.asked ?? []) this.#parts.hosts.get(frame.app)?.asked?.(asked);
    if (turn === undefined) return undefined;
    const draft = draftOf(turn.frame);
    if (turn.frame.status !== "waiting") return turn;
    if (turn.claimed.length === 0) this.#rests(turn.frame, draft, turn.asked);
    await this.#takeUpReady(frame.session, draft);
    return turn;
  }

  /** Activates children of a frame, and steps them here. */
  async spawnFrames(frame: FrameRecord, input: Parameters<typeof spawnFrames>[2]): Promise<boolean> {
    const spawned = await spawnFrames(this.#parts, frame, input);
    for (const child of spawned ?? []) this.#executions.step(child);
    await this.#takeUpReady(frame.session);
    return spawned !== undefined;
  }

  /** Ends a frame, and goes on with its parent and with what became ready in its session meanwhile. */
  async finishFrame(frame: FrameRecord, end: FrameEnd): Promise<boolean> {
    const { ok, stepping, draft } = await finishFrame(this.#parts, frame, end);
    if (stepping !== undefined) this.#executions.step(stepping);
    else this.#rests(frame, draft, []);
    await this.#takeUpReady(frame.session, draft);
    return ok;
  }

  /** Takes back what is still asked in a frame's turn, and goes on with the frame. False if the turn has gone on already. */
  async withdrawTurn(frame: FrameRecord, withdrawal: TurnWithdrawal): Promise<boolean> {
    const { ok, stepping } = await withdrawTurn(this.#parts, frame, withdrawal);
    if (stepping !== undefined) this.#executions.step(stepping);
    return ok;
  }

  // A step that ends may have kept others of its session waiting, and they may have been left ready meanwhile.
  async #takeUpReady(session: string, draft?: Draft): Promise<void> {
    if (draft?.ready === 0) return;
    const ready = await this.#parts.ledger.readyFrames(session);
    if (ready.length > 0) await this.#takeUp(ready);
  }

  // Only a run of one frame: of others, more may be under way elsewhere. And only if nothing else is open.
  #rests(frame: FrameRecord, draft: Draft | undefined, asked: readonly AskedCall[]): void {
    const nested = frame.parentFrame !== undefined || frame.parentCall !== undefined;
    if (draft === undefined || nested || draft.open !== asked.length) return;
    this.#executions.trailOf(frame.invocation)?.restsAt(draft, asked);
  }
}

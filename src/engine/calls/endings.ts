import { TransientMap } from "../common/index.ts";
import { writeProgress, writeResult } from "../frames/index.ts";
import {
  afterCommit,
  type CallRecord,
  Draft,
  type FrameRecord,
  type Judge,
  transact,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { StoreEnd } from "./call-run.ts";
import type { Claimed } from "./claim.ts";
import type { Ended } from "./executions.ts";
import { type EntryOutcome, journalEnd, recordEntry } from "./record-entry.ts";

/** The end of a call that has siblings in its turn. */
interface Ending {
  readonly claimed: Claimed;
  readonly outcome: Extract<EntryOutcome, { kind: "succeeded" | "failed" }>;
  readonly settle: PromiseWithResolvers<Ended>;
}

/**
 * Stores how calls ended: those of one turn that end together in one commit, any other in its own. Together means: one
 * right after another, with nothing in between. So no call waits for a slower sibling.
 */
export class Endings {
  readonly #parts: EngineParts;
  readonly #together = new TransientMap<FrameRecord, Ending[]>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Resolves once the end is stored. Rejects when the ledger could not be written: then it may be tried again. */
  readonly store: StoreEnd = (claimed, outcome) => {
    const { frame, call } = claimed;
    const plain = outcome.kind === "failed" || (outcome.kind === "succeeded" && outcome.cursor === undefined);
    const alone = frame === undefined || frame.open < 2;
    if (alone || !plain || call.confirmation !== undefined) return recordEntry(this.#parts, claimed, outcome);
    const settle = Promise.withResolvers<Ended>();
    const others = this.#together.get(frame);
    if (others === undefined) {
      this.#together.set(frame, [{ claimed, outcome, settle }]);
      // Calls that end at the same time are queued before anything else runs.
      queueMicrotask(() => this.#flush(frame));
    } else {
      others.push({ claimed, outcome, settle });
    }
    return settle.promise;
  };

  #flush(frame: FrameRecord): void {
    const endings = this.#together.get(frame) ?? [];
    this.#together.delete(frame);
    const stored = endings.length === 1 ? Promise.resolve([]) : storeTogether(this.#parts, frame, endings);
    stored.then(
      (ended) => {
        for (const [place, { claimed, outcome, settle }] of endings.entries())
          settle.resolve(ended[place] ?? recordEntry(this.#parts, claimed, outcome));
      },
      (error: unknown) => {
        for (const { settle } of endings) settle.reject(error);
      },
    );
  }
}

/** One result for each ending, or none if this process has lost any of the calls: then each is handled alone. */
async function storeTogether(
  parts: EngineParts,
  turn: FrameRecord,
  endings: readonly Ending[],
): Promise<readonly Ended[]> {
  const left = afterCommit(parts, endings[0]?.claimed.draft);
  const known = left && { snapshot: { ...left, frame: turn } };
  const judge: Judge<readonly Ended[]> = async (snapshot, last) => {
    const frame = snapshot?.frame;
    if (snapshot === undefined || frame === undefined) return { value: [] };
    const asMade = endings.map(({ claimed }) => claimed.call);
    const calls =
      snapshot === known?.snapshot ? asMade : await parts.ledger.calls(asMade.map(({ id }) => id));
    const ours = calls.length === asMade.length;
    if (!ours || !calls.every((call, place) => isStillRunning(call, asMade[place]))) return { value: [] };
    const owner = await parts.lease.hold();
    const draft = new Draft(parts, snapshot.now, snapshot.session);
    const ended = endings.map(({ outcome }, place) => {
      const call = calls[place] as CallRecord;
      return { call: writeEnd(parts, draft, { call, frame, outcome }) };
    });
    const stepping = writeProgress(parts, draft, { frame, answered: ended.length, owner, last });
    const [first, ...rest] = ended;
    return { draft, value: first && stepping ? [{ ...first, stepping }, ...rest] : ended };
  };
  return transact(parts, { frame: turn.id }, judge, known);
}

function isStillRunning(call: CallRecord, made: CallRecord | undefined): boolean {
  return (
    call.id === made?.id &&
    call.status === "executing" &&
    call.attempt === made.attempt &&
    call.owner === made.owner
  );
}

function writeEnd(
  parts: EngineParts,
  draft: Draft,
  {
    call,
    frame,
    outcome,
  }: Pick<Ending, "outcome"> & { readonly call: CallRecord; readonly frame: FrameRecord },
): CallRecord {
  const ok = outcome.kind === "succeeded";
  const result = ok ? outcome.result : outcome.error;
  const command = ok ? "succeed" : "fail";
  const stateDelta = ok ? outcome.stateDelta : undefined;
  const answered = writeResult(parts, draft, {
    call,
    frame,
    command,
    result,
    ...(stateDelta === undefined ? {} : { stateDelta }),
  });
  journalEnd(parts, draft, { before: call, after: answered, result: answered.result ?? null });
  return answered;
}

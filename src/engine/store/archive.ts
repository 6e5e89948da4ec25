import type {
  CallRecord,
  ConfirmationRecord,
  FrameRecord,
  Shown,
  StepRecord,
  Vote,
} from "../ledger/index.ts";
import { isAnswered, isFrameOver } from "../lifecycle/index.ts";
import type { Packed, SessionDocument } from "./document.ts";
import type { LongValues } from "./long-values.ts";
import type { Entry } from "./store.ts";

/** How many ended rows stay in the document: those that are read next. */
const KEPT = 4;
/** How many ended calls stay while their turn goes on. */
const KEPT_OF_A_TURN = 16;
/** When there are this many ended steps, half of them leave. */
const MOST_STEPS = 32;

/** What left a document, as a log row has it. */
export interface ArchivedRows {
  readonly calls?: readonly Packed<CallRecord>[];
  readonly confirmations?: readonly Packed<ConfirmationRecord>[];
  readonly steps?: readonly Packed<StepRecord>[];
}

/** What a log row has beside what happened: rows that left the document, and values too long for it. */
export interface Archive extends ArchivedRows {
  readonly long?: LongValues;
}

/** What leaves a document with a commit, and what finds it from then on. */
interface Leaving {
  readonly document: SessionDocument;
  readonly rows: ArchivedRows;
  readonly entries: readonly Entry[];
}

/** Moves ended rows out of the document, except the newest. An entry says in which log row of the session each one is. */
export function archiveOver(whole: SessionDocument, n: number): Leaving {
  if (!isMoreThanKept(whole)) return archiveSteps(whole, n);
  // What a call comes to is told in its frame's turn, also where that is over.
  const needed = new Set(whole.calls.flatMap(({ status, frame }) => (isAnswered(status) ? [] : [frame])));
  const frames = withoutOldest(
    whole.frames,
    ({ id, status }) => isFrameOver(status) && !needed.has(id),
    KEPT,
  );
  const live = frames.filter(({ status }) => !isFrameOver(status));
  const [isCurrent, awaitsResult] = [currentIn(live), awaitingIn(live)];
  const isOver = (call: CallRecord): boolean => isAnswered(call.status) && !awaitsResult(call);
  const past = withoutOldest(whole.calls, (call) => isOver(call) && !isCurrent(call), KEPT);
  // A turn of very many calls would be written again with each of them.
  const calls = withoutOldest(past, isOver, KEPT_OF_A_TURN);
  if (calls === whole.calls) return archiveSteps({ ...whole, frames }, n);
  const stay = new Set(calls.map(({ id }) => id));
  const goes = ({ call }: { readonly call: string }): boolean => !stay.has(call);
  const gone = whole.calls.filter(({ id }) => !stay.has(id));
  const asked = whole.confirmations.filter(goes);
  const steps = whole.steps.filter(goes);
  return {
    document: {
      ...whole,
      frames,
      calls,
      confirmations: whole.confirmations.filter((each) => !goes(each)),
      steps: whole.steps.filter((each) => !goes(each)),
    },
    rows: {
      calls: gone,
      ...(asked.length > 0 ? { confirmations: asked } : {}),
      ...(steps.length > 0 ? { steps } : {}),
    },
    entries: [...gone, ...asked].map(({ id }) => ({ facet: "over", value: id, sort: n, id: "" })),
  };
}

const NOTHING_OVER = { rows: {}, entries: [] };

/** Is more over than stays, whether or not it is still asked for? */
function isMoreThanKept({ calls, frames }: SessionDocument): boolean {
  let [overCalls, overFrames] = [0, 0];
  for (const { status } of calls) if (isAnswered(status)) overCalls += 1;
  for (const { status } of frames) if (isFrameOver(status)) overFrames += 1;
  return overCalls > KEPT || overFrames > KEPT;
}

/** Does a call belong to a turn that goes on? */
function currentIn(live: readonly FrameRecord[]): (call: CallRecord) => boolean {
  const current = new Set(live.flatMap(({ calls }) => calls));
  return ({ id }) => current.has(id);
}

/** Does a call still get its result? What a remote agent asked in one turn gets its results in the next. */
function awaitingIn(live: readonly FrameRecord[]): (call: CallRecord) => boolean {
  const remote = new Map(live.flatMap(({ id, kind, turn }) => (kind === "remote" ? [[id, turn]] : [])));
  return ({ frame = "", turn }) => turn + 1 >= (remote.get(frame) ?? Number.POSITIVE_INFINITY);
}

function hasEnded({ status }: StepRecord): boolean {
  return status === "done" || status === "failed";
}

/** Moves the oldest ended steps out, many at once, while their call still runs. */
function archiveSteps(whole: SessionDocument, n: number): Leaving {
  if (whole.steps.length < MOST_STEPS || whole.steps.filter(hasEnded).length < MOST_STEPS)
    return { document: whole, ...NOTHING_OVER };
  const steps = withoutOldest(whole.steps, hasEnded, MOST_STEPS / 2);
  const stay = new Set(steps);
  const gone = whole.steps.filter((step) => !stay.has(step));
  return {
    document: { ...whole, steps },
    rows: { steps: gone },
    entries: [...new Set(gone.map(({ call }) => call))].map((value) => ({
      facet: "steps",
      value,
      sort: n,
      id: "",
    })),
  };
}

function withoutOldest<Row>(
  rows: readonly Row[],
  isOver: (row: Row) => boolean,
  kept: number,
): readonly Row[] {
  let surplus = -kept;
  for (const row of rows) if (isOver(row)) surplus += 1;
  if (surplus <= 0) return rows;
  return rows.filter((row) => {
    if (surplus <= 0 || !isOver(row)) return true;
    surplus -= 1;
    return false;
  });
}

/**
 * Removes content and keeps ids, statuses, digests, who decided and when. Steps are removed completely, because a
 * tool makes up their names.
 */
export function eraseArchive({ calls, confirmations }: Archive): Archive {
  return {
    ...(calls === undefined ? {} : { calls: calls.map(eraseCall) }),
    ...(confirmations === undefined ? {} : { confirmations: confirmations.map(eraseConfirmation) }),
  };
}

export function eraseFrame({
  output: _output,
  asker: _asker,
  requesters: _requesters,
  long: _long,
  ...frame
}: Packed<FrameRecord>): FrameRecord {
  return { ...frame, cursor: null };
}

export function eraseCall({
  originalArgs: _args,
  asker: _asker,
  result: _result,
  long: _long,
  ...call
}: Packed<CallRecord>): CallRecord {
  return { ...call, args: {}, secrets: [] };
}

const NOTHING_SHOWN: Shown = { hint: "", why: [] };

export function eraseConfirmation({
  policy: _policy,
  seen: _seen,
  long: _long,
  ...confirmation
}: Packed<ConfirmationRecord>): ConfirmationRecord {
  return {
    ...confirmation,
    shown: NOTHING_SHOWN,
    votes: confirmation.votes.map(eraseVote),
    ...(confirmation.withdrawal === undefined ? {} : { withdrawal: "" }),
  };
}

function eraseVote({ reason: _reason, payload: _payload, args: _args, ...kept }: Vote): Vote {
  return kept;
}

import { CountersignError } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type {
  CallRecord,
  Commit,
  CommitOutcome,
  ConfirmationRecord,
  FrameRecord,
  Memo,
  SessionName,
  StepRecord,
  Write,
} from "../ledger/index.ts";
import { type Archive, archiveOver, eraseCall, eraseConfirmation, eraseFrame, eraseStep } from "./archive.ts";
import type { Packed, SessionDocument } from "./document.ts";
import { difference, entriesOfCall, entriesOfConfirmation, entriesOfFrame, NO_DEADLINE } from "./entries.ts";
import { type LongValues, pack } from "./long-values.ts";
import type { Entry, ItemChange, StoreCommit } from "./store.ts";

type Refused = Extract<CommitOutcome, { ok: false }>;
/** What a commit changes in the store. */
export type Changed = Pick<
  StoreCommit,
  "document" | "add" | "remove" | "items" | "before" | "from" | "erase"
> & {
  readonly archived?: Archive;
};
type WriteOf<Kind extends Write["kind"]> = Extract<Write, { kind: Kind }>;

const ROW: Refused = { ok: false, conflict: "row" };
const BUSY: Refused = { ok: false, conflict: "busy" };

/**
 * What a commit makes of the document that it was judged on: pure, so that every store writes the same. `undefined` as
 * the document creates the session.
 */
export function applyCommit(document: SessionDocument | undefined, commit: Commit): Changed | Refused {
  const { session, change, writes } = commit;
  const name = session.create ?? document?.head;
  if (name === undefined) return { ok: false, conflict: "version" };
  const work = new Work(document, { key: session.key, name, n: session.version + 1 });
  for (const write of writes) {
    const refused = work.apply(write);
    if (refused !== undefined) return refused;
  }
  const { app, user, id } = name;
  const { createdAt = change.updatedAt, deletedAt } = document?.head ?? {};
  const deleted = deletedAt === undefined ? {} : { deletedAt };
  return work.result({ app, user, id, createdAt, ...deleted, ...change });
}

/** One commit's changes to one document. */
class Work {
  readonly #n: number;
  readonly #key: string;
  readonly #name: SessionName;
  readonly #before: SessionDocument | undefined;
  readonly #long: LongValues = {};
  readonly #items: ItemChange[] = [];
  #frames: readonly Packed<FrameRecord>[];
  #calls: readonly Packed<CallRecord>[];
  #confirmations: readonly Packed<ConfirmationRecord>[];
  #steps: readonly Packed<StepRecord>[];
  #beforeTime: number | undefined;
  #fromTime: number | undefined;
  #erase = false;

  constructor(
    document: SessionDocument | undefined,
    { key, name, n }: { readonly key: string; readonly name: SessionName; readonly n: number },
  ) {
    this.#before = document;
    this.#key = key;
    this.#name = name;
    this.#n = n;
    this.#frames = document?.frames ?? [];
    this.#calls = document?.calls ?? [];
    this.#confirmations = document?.confirmations ?? [];
    this.#steps = document?.steps ?? [];
  }

  apply(write: Write): Refused | undefined {
    switch (write.kind) {
      case "frame-insert":
        return this.#insertFrame(write);
      case "frame-update":
        return this.#updateFrame(write);
      case "call-insert":
        this.#calls = withNew(this.#calls, this.#packed<CallRecord>(undefined, write.call, write.call.id));
        return undefined;
      case "call-update":
        return this.#updateCall(write);
      case "confirmation-insert":
        this.#confirmations = withNew(
          this.#confirmations,
          this.#packed<ConfirmationRecord>(undefined, write.confirmation, write.confirmation.id),
        );
        return undefined;
      case "confirmation-update":
        return this.#updateConfirmation(write);
      case "step":
        return this.#writeStep(write);
      default:
        return this.#writeOutside(write);
    }
  }

  result(head: SessionDocument["head"]): Changed {
    const whole = {
      head,
      frames: this.#frames,
      calls: this.#calls,
      confirmations: this.#confirmations,
      steps: this.#steps,
    };
    const { document, rows, entries } = archiveOver(whole, this.#n);
    const index = this.#index();
    const archived = { ...rows, ...(Object.keys(this.#long).length > 0 ? { long: this.#long } : {}) };
    return {
      document,
      add: [...index.add, ...entries],
      remove: index.remove,
      items: this.#items,
      ...(this.#beforeTime === undefined ? {} : { before: this.#beforeTime }),
      ...(this.#fromTime === undefined ? {} : { from: this.#fromTime }),
      ...(this.#erase ? { erase: true as const } : {}),
      ...(Object.keys(archived).length > 0 ? { archived } : {}),
    };
  }

  #insertFrame({ frame, exclusive }: WriteOf<"frame-insert">): Refused | undefined {
    if (exclusive && this.#isStepping(frame.branch)) return BUSY;
    this.#frames = withNew(this.#frames, this.#packed<FrameRecord>(undefined, frame, frame.id));
    return undefined;
  }

  #updateFrame({ id, from, exclusive, set }: WriteOf<"frame-update">): Refused | undefined {
    const found = this.#frames.find((frame) => frame.id === id);
    if (found?.status !== from) return ROW;
    if (exclusive && this.#isStepping(found.branch, id)) return BUSY;
    this.#frames = replace(
      this.#frames,
      found,
      this.#packed<FrameRecord>(found, set as Partial<FrameRecord>, id),
    );
    return undefined;
  }

  #updateCall({ id, from, attempt, set }: WriteOf<"call-update">): Refused | undefined {
    const found = this.#calls.find((call) => call.id === id);
    if (found?.status !== from || found.attempt !== attempt) return ROW;
    this.#calls = replace(
      this.#calls,
      found,
      this.#packed<CallRecord>(found, set as Partial<CallRecord>, id),
    );
    return undefined;
  }

  #updateConfirmation({ id, from, deadline, set }: WriteOf<"confirmation-update">): Refused | undefined {
    const found = this.#confirmations.find((confirmation) => confirmation.id === id);
    if (found?.status !== from) return ROW;
    const { expiresAt = NO_DEADLINE } = found;
    if (deadline === "ahead") this.#beforeTime = Math.min(this.#beforeTime ?? NO_DEADLINE, expiresAt);
    if (deadline === "passed") this.#fromTime = Math.max(this.#fromTime ?? 0, expiresAt);
    this.#confirmations = replace(
      this.#confirmations,
      found,
      this.#packed<ConfirmationRecord>(found, set, id),
    );
    return undefined;
  }

  #writeStep({ step, from }: WriteOf<"step">): Refused | undefined {
    const { call, kind, name, occurrence } = step;
    const found = this.#steps.find(
      (each) =>
        each.call === call && each.kind === kind && each.name === name && each.occurrence === occurrence,
    );
    if (found?.status !== from) return ROW;
    const row = this.#packed<StepRecord>(undefined, step, `${call} ${kind} ${name} ${occurrence}`);
    this.#steps = found === undefined ? [...this.#steps, row] : replace(this.#steps, found, row);
    return undefined;
  }

  #writeOutside(write: WriteOf<"state" | "remember" | "erase">): undefined {
    if (write.kind === "erase") this.#eraseRows();
    else if (write.kind === "remember") this.#items.push(toItem(write.memo));
    else
      this.#items.push({
        kind: `state of ${write.scope}`,
        id: this.#stateId(write.scope),
        // Whatever is not JSON is refused here, in every store alike.
        value: copyJson(write.delta),
      });
  }

  /** What is written behind it in the same commit stays. */
  #eraseRows(): void {
    this.#erase = true;
    this.#frames = this.#frames.map(eraseFrame);
    this.#calls = this.#calls.map(eraseCall);
    this.#confirmations = this.#confirmations.map(eraseConfirmation);
    this.#steps = this.#steps.map(eraseStep);
    for (const name of Object.keys(this.#long)) delete this.#long[name];
  }

  #stateId(scope: "app" | "user" | "session"): string {
    if (scope === "session") return this.#key;
    const { app, user } = this.#name;
    return JSON.stringify(scope === "app" ? [app] : [app, user]);
  }

  #packed<Row extends object>(row: Packed<Row> | undefined, change: Partial<Row>, name: string): Packed<Row> {
    return pack(row, change, { name, n: this.#n, values: this.#long });
  }

  #isStepping(branch: string | undefined, but?: string): boolean {
    return this.#frames.some(
      (frame) => frame.status === "stepping" && frame.branch === branch && frame.id !== but,
    );
  }

  #index(): { readonly add: readonly Entry[]; readonly remove: readonly Entry[] } {
    const before = this.#before;
    const all = [
      ...changes(before?.confirmations, this.#confirmations, entriesOfConfirmation),
      ...changes(before?.calls, this.#calls, entriesOfCall),
      ...changes(before?.frames, this.#frames, entriesOfFrame),
    ];
    return { add: all.flatMap(({ add }) => add), remove: all.flatMap(({ remove }) => remove) };
  }
}

function withNew<Row extends { readonly id: string }>(rows: readonly Row[], row: Row): readonly Row[] {
  if (rows.some(({ id }) => id === row.id))
    throw new CountersignError("internal", `The session already has a row with the id "${row.id}".`);
  return [...rows, row];
}

function replace<Row>(rows: readonly Row[], found: Row, row: Row): readonly Row[] {
  return rows.map((each) => (each === found ? row : each));
}

/** Rows that did not change are the same objects as before. */
function changes<Row extends { readonly id: string }>(
  before: readonly Row[] = [],
  after: readonly Row[],
  entries: (row: Row) => readonly Entry[],
): readonly ReturnType<typeof difference>[] {
  return after.flatMap((row) => {
    const old = before.find(({ id }) => id === row.id);
    return old === row ? [] : [difference(entries, old, row)];
  });
}

/** A remembered answer to a request. Its key must be free. */
function toItem({ principal, route, key, requestDigest, response, expiresAt }: Memo): ItemChange {
  return {
    kind: "answer",
    id: JSON.stringify([principal, route, key]),
    value: { requestDigest, response: copyJson(response) },
    expiresAt,
    read: 0,
  };
}

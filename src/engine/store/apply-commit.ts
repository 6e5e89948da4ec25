import { CountersignError } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import {
  type CallRecord,
  type Commit,
  type CommitOutcome,
  type ConfirmationRecord,
  type FrameRecord,
  type GrantRecord,
  type ItemVersion,
  type SessionName,
  type StepRecord,
  type Write,
  withGrant,
} from "../ledger/index.ts";
import { archiveOver, eraseCall, eraseConfirmation, eraseFrame } from "./archive.ts";
import { type Packed, type SessionDocument, stepName } from "./document.ts";
import {
  entriesOfCall,
  entriesOfConfirmation,
  entriesOfFrame,
  entryOfGrant,
  NO_DEADLINE,
} from "./entries.ts";
import { copyRow, type LongValues, pack } from "./long-values.ts";
import { onceEach } from "./once-each.ts";
import type { Entry, ItemChange, StoreCommit } from "./store.ts";

type Refused = Extract<CommitOutcome, { ok: false }>;
/** What a commit changes in the store. */
export type Changed = Pick<
  StoreCommit,
  "document" | "add" | "remove" | "items" | "checks" | "before" | "from" | "erase" | "archived"
>;
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
  if (document?.head.pruned !== undefined)
    throw new CountersignError("internal", "The journal of this session was pruned: nothing can follow.");
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

/** How rows of one kind are told apart, and what finds them. */
interface RowKind<Row> {
  readonly nameOf: (row: Row) => string;
  readonly entriesOf: (row: Row) => readonly Entry[];
}

/** Up to this many rows are searched one by one, which is faster than building a map. */
const FEW = 8;

/** The rows of one kind in a document, while a commit changes them. They keep their order. */
class RowsInWork<Row extends object> {
  readonly #kind: RowKind<Row>;
  #rows: readonly Packed<Row>[];
  /** The same rows, once something changed: ours to change. */
  #own: Packed<Row>[] | undefined;
  /** Where each row is, by name. */
  #places: Map<string, number> | undefined;
  /** What changed, by name, as it was before. */
  #changed: Map<string, Packed<Row> | undefined> | undefined;

  constructor(kind: RowKind<Row>, before: readonly Packed<Row>[] = []) {
    this.#kind = kind;
    this.#rows = before;
  }

  get all(): readonly Packed<Row>[] {
    return this.#rows;
  }

  get(name: string): Packed<Row> | undefined {
    return this.#rows[this.#placeOf(name)];
  }

  insert(name: string, row: Packed<Row>): void {
    if (this.get(name) !== undefined)
      throw new CountersignError("internal", `The session already has a row with the id "${name}".`);
    this.set(name, row);
  }

  set(name: string, row: Packed<Row>): void {
    const place = this.#placeOf(name);
    if (this.#own === undefined) {
      this.#own = [...this.#rows];
      this.#rows = this.#own;
    }
    this.#changed ??= new Map();
    if (!this.#changed.has(name)) this.#changed.set(name, this.#own[place]);
    if (place >= 0) {
      this.#own[place] = row;
    } else {
      this.#places?.set(name, this.#own.length);
      this.#own.push(row);
    }
  }

  replaceAll(change: (row: Packed<Row>) => Packed<Row>): void {
    for (const row of this.all) this.set(this.#kind.nameOf(row), change(row));
  }

  clear(): void {
    this.#own = [];
    this.#rows = this.#own;
    this.#places = undefined;
  }

  /** What the changes mean for the index. */
  index(add: Entry[], remove: Entry[]): void {
    if (this.#changed === undefined) return;
    const { entriesOf } = this.#kind;
    this.#changed.forEach((before, name) => {
      const old = before === undefined ? NONE : entriesOf(before);
      compare(old, entriesOf(this.get(name) as Packed<Row>), { add, remove });
    });
  }

  /** -1 where there is none. */
  #placeOf(name: string): number {
    const rows = this.#rows;
    const { nameOf } = this.#kind;
    if (rows.length > FEW) {
      this.#places ??= new Map(rows.map((row, place) => [nameOf(row), place]));
      return this.#places.get(name) ?? -1;
    }
    for (let place = 0; place < rows.length; place += 1)
      if (nameOf(rows[place] as Packed<Row>) === name) return place;
    return -1;
  }
}

const NONE: readonly Entry[] = [];

function compare(
  old: readonly Entry[],
  now: readonly Entry[],
  { add, remove }: { readonly add: Entry[]; readonly remove: Entry[] },
): void {
  for (const entry of now) if (!has(old, entry)) add.push(entry);
  for (const entry of old) if (!has(now, entry)) remove.push(entry);
}

function has(all: readonly Entry[], { facet, value, sort, id, note }: Entry): boolean {
  for (const each of all) {
    if (each.facet !== facet || each.id !== id || each.sort !== sort) continue;
    if (each.value === value && each.note === note) return true;
  }
  return false;
}

const FRAMES: RowKind<FrameRecord> = { nameOf: ({ id }) => id, entriesOf: entriesOfFrame };
const CALLS: RowKind<CallRecord> = { nameOf: ({ id }) => id, entriesOf: entriesOfCall };
const CONFIRMATIONS: RowKind<ConfirmationRecord> = {
  nameOf: ({ id }) => id,
  entriesOf: entriesOfConfirmation,
};
const STEPS: RowKind<StepRecord> = { nameOf: stepName, entriesOf: () => [] };

/** One commit's changes to one document. */
class Work {
  readonly #n: number;
  readonly #key: string;
  readonly #name: SessionName;
  readonly #items: ItemChange[] = [];
  #checks: ItemVersion[] | undefined;
  readonly #frames: RowsInWork<FrameRecord>;
  readonly #calls: RowsInWork<CallRecord>;
  readonly #confirmations: RowsInWork<ConfirmationRecord>;
  readonly #steps: RowsInWork<StepRecord>;
  readonly #grantsBefore: readonly GrantRecord[];
  #grants: readonly GrantRecord[];
  #long: LongValues = {};
  #beforeTime: number | undefined;
  #fromTime: number | undefined;
  #erase = false;

  constructor(
    document: SessionDocument | undefined,
    { key, name, n }: { readonly key: string; readonly name: SessionName; readonly n: number },
  ) {
    this.#key = key;
    this.#name = name;
    this.#n = n;
    this.#frames = new RowsInWork(FRAMES, document?.frames);
    this.#calls = new RowsInWork(CALLS, document?.calls);
    this.#confirmations = new RowsInWork(CONFIRMATIONS, document?.confirmations);
    this.#steps = new RowsInWork(STEPS, document?.steps);
    this.#grantsBefore = document?.grants ?? [];
    this.#grants = this.#grantsBefore;
  }

  apply(write: Write): Refused | undefined {
    switch (write.kind) {
      case "frame-insert":
        return this.#insertFrame(write);
      case "frame-update":
        return this.#updateFrame(write);
      case "call-insert":
        this.#insert(this.#calls, write.call.id, write.call);
        return undefined;
      case "call-update":
        return this.#updateCall(write);
      case "confirmation-insert":
        this.#insert(this.#confirmations, write.confirmation.id, write.confirmation);
        return undefined;
      case "confirmation-update":
        return this.#updateConfirmation(write);
      case "step":
        return this.#writeStep(write);
      case "grant":
        return this.#writeGrant(write);
      default:
        return this.#writeOutside(write);
    }
  }

  result(head: SessionDocument["head"]): Changed | Refused {
    const given = { items: this.#items, checks: this.#checks };
    // Most commits touch one item, or none.
    const outside = this.#items.length + (this.#checks?.length ?? 0) > 1 ? onceEach(given) : given;
    if (outside === undefined) return ROW;
    const whole = {
      head,
      frames: this.#frames.all,
      calls: this.#calls.all,
      confirmations: this.#confirmations.all,
      steps: this.#steps.all,
      ...(this.#grants.length === 0 ? {} : { grants: this.#grants }),
    };
    const { document, rows, entries } = archiveOver(whole, this.#n);
    const add: Entry[] = [];
    const remove: Entry[] = [];
    for (const kind of [this.#confirmations, this.#calls, this.#frames]) kind.index(add, remove);
    if (this.#grants !== this.#grantsBefore)
      compare(this.#grantsBefore.flatMap(entryOfGrant), this.#grants.flatMap(entryOfGrant), { add, remove });
    add.push(...entries);
    const archived = hasMembers(this.#long) ? { ...rows, long: this.#long } : rows;
    return {
      document,
      add,
      remove,
      ...outside,
      before: this.#beforeTime,
      from: this.#fromTime,
      erase: this.#erase,
      archived: hasMembers(archived) ? archived : undefined,
    };
  }

  #insertFrame({ frame, exclusive }: WriteOf<"frame-insert">): Refused | undefined {
    if (exclusive && this.#isStepping(frame.branch)) return BUSY;
    this.#insert(this.#frames, frame.id, frame);
    return undefined;
  }

  #updateFrame({ id, from, exclusive, set }: WriteOf<"frame-update">): Refused | undefined {
    const found = this.#frames.get(id);
    if (found?.status !== from) return ROW;
    if (exclusive && this.#isStepping(found.branch, id)) return BUSY;
    this.#frames.set(id, this.#packed<FrameRecord>(found, set as Partial<FrameRecord>, id));
    return undefined;
  }

  #updateCall({ id, from, attempt, set }: WriteOf<"call-update">): Refused | undefined {
    const found = this.#calls.get(id);
    if (found?.status !== from || found.attempt !== attempt) return ROW;
    this.#calls.set(id, this.#packed<CallRecord>(found, set as Partial<CallRecord>, id));
    return undefined;
  }

  #updateConfirmation({ id, from, deadline, set }: WriteOf<"confirmation-update">): Refused | undefined {
    const found = this.#confirmations.get(id);
    if (found?.status !== from) return ROW;
    const { expiresAt = NO_DEADLINE } = found;
    if (deadline === "ahead") this.#beforeTime = Math.min(this.#beforeTime ?? NO_DEADLINE, expiresAt);
    if (deadline === "passed") this.#fromTime = Math.max(this.#fromTime ?? 0, expiresAt);
    this.#confirmations.set(id, this.#packed<ConfirmationRecord>(found, set, id));
    return undefined;
  }

  #writeStep({ step, from }: WriteOf<"step">): Refused | undefined {
    const name = stepName(step);
    if (this.#steps.get(name)?.status !== from) return ROW;
    this.#steps.set(name, this.#packed<StepRecord>(undefined, step, name));
    return undefined;
  }

  #writeGrant({ grant, from, ahead }: WriteOf<"grant">): Refused | undefined {
    if (this.#grants.find(({ id }) => id === grant.id)?.revision !== from) return ROW;
    if (ahead === true) this.#beforeTime = Math.min(this.#beforeTime ?? NO_DEADLINE, grant.endsAt);
    this.#grants = withGrant(this.#grants, copyRow(grant));
    return undefined;
  }

  #writeOutside(write: WriteOf<"state" | "item" | "check" | "erase">): undefined {
    if (write.kind === "erase") this.#eraseRows();
    else if (write.kind === "check") (this.#checks ??= []).push(write.item);
    else if (write.kind === "item") this.#items.push({ ...write.item, read: write.read });
    else
      this.#items.push({
        kind: `state of ${write.scope}`,
        id: this.#stateId(write.scope),
        // What is not JSON is refused here, the same way for every store.
        value: copyJson(write.delta),
      });
  }

  /** What is written behind it in the same commit stays. */
  #eraseRows(): void {
    this.#erase = true;
    this.#frames.replaceAll(eraseFrame);
    this.#calls.replaceAll(eraseCall);
    this.#confirmations.replaceAll(eraseConfirmation);
    this.#steps.clear();
    this.#grants = [];
    this.#long = {};
  }

  #stateId(scope: "app" | "user" | "session"): string {
    if (scope === "session") return this.#key;
    const { app, user } = this.#name;
    return JSON.stringify(scope === "app" ? [app] : [app, user]);
  }

  #insert<Row extends object>(rows: RowsInWork<Row>, name: string, row: Row): void {
    rows.insert(name, this.#packed<Row>(undefined, row, name));
  }

  #packed<Row extends object>(row: Packed<Row> | undefined, change: Partial<Row>, name: string): Packed<Row> {
    return pack(row, change, { name, n: this.#n, values: this.#long });
  }

  #isStepping(branch: string | undefined, but?: string): boolean {
    return this.#frames.all.some(
      (frame) => frame.status === "stepping" && frame.branch === branch && frame.id !== but,
    );
  }
}

function hasMembers(object: object): boolean {
  return Object.keys(object).length > 0;
}

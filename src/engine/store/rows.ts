import type { JsonValue } from "../../protocol/index.ts";
import { sessionOf } from "../common/index.ts";
import type { CallRecord, ConfirmationRecord, FrameRecord, StepRecord } from "../ledger/index.ts";
import type { Archive } from "./archive.ts";
import { type Packed, type SessionDocument, stepName } from "./document.ts";
import { copyRow, unpack } from "./long-values.ts";
import type { Store } from "./store.ts";

const PAGE = 200;

/** The rows of one session, from its document or, if they have left it, from its log. */
export class SessionRows {
  readonly #store: Store;
  readonly #session: string;
  readonly #document: SessionDocument;
  readonly #archives = new Map<number, Promise<Archive>>();

  constructor(store: Store, session: string, document: SessionDocument) {
    this.#store = store;
    this.#session = session;
    this.#document = document;
  }

  /** As lists show it: long values are cut. */
  async packedCall(id: string): Promise<Packed<CallRecord> | undefined> {
    const found = this.#document.calls.find((call) => call.id === id);
    return found ?? (await this.#archived(id))?.calls?.find((call) => call.id === id);
  }

  async packedConfirmation(id: string): Promise<Packed<ConfirmationRecord> | undefined> {
    const found = this.#document.confirmations.find((confirmation) => confirmation.id === id);
    return found ?? (await this.#archived(id))?.confirmations?.find((each) => each.id === id);
  }

  async call(id: string): Promise<CallRecord | undefined> {
    const packed = await this.packedCall(id);
    return packed && this.whole(packed, id);
  }

  async confirmation(id: string | undefined): Promise<ConfirmationRecord | undefined> {
    const packed = id === undefined ? undefined : await this.packedConfirmation(id);
    return packed && this.whole(packed, packed.id);
  }

  async frame(id: string | undefined): Promise<FrameRecord | undefined> {
    const packed = this.#document.frames.find((frame) => frame.id === id);
    return packed && this.whole(packed, packed.id);
  }

  async steps(call: string): Promise<readonly StepRecord[]> {
    const isIts = (step: StepRecord): boolean => step.call === call;
    const steps = [...(await this.#earlySteps(call)), ...this.#document.steps.filter(isIts)];
    if (!this.#document.calls.some(({ id }) => id === call))
      steps.push(...((await this.#archived(call))?.steps ?? []).filter(isIts));
    return Promise.all(steps.map((step) => this.whole(step, stepName(step))));
  }

  /** Those that left the document before their call. */
  async #earlySteps(call: string): Promise<Packed<StepRecord>[]> {
    const found: Packed<StepRecord>[] = [];
    for (let n = 0; ; ) {
      const page = { facet: "steps", value: call, limit: PAGE, after: [n, ""] as const };
      const [entries = []] = await this.#store.entries([page]);
      for (const { sort } of entries) found.push(...((await this.#row(sort)).steps ?? []));
      const last = entries.at(-1);
      if (last === undefined || entries.length < PAGE) return found.filter((step) => step.call === call);
      n = last.sort;
    }
  }

  async whole<Row extends object>(packed: Packed<Row>, name: string): Promise<Row> {
    if (packed.long === undefined) return copyRow(packed);
    const archives = new Map<number, { readonly [member: string]: JsonValue } | undefined>();
    for (const n of new Set(Object.values(packed.long))) archives.set(n, (await this.#row(n)).long?.[name]);
    return unpack(packed, (n) => archives.get(n));
  }

  async #archived(id: string): Promise<Archive | undefined> {
    if (sessionOf(id) !== this.#session) return undefined;
    const [[entry] = []] = await this.#store.entries([{ facet: "over", value: id, limit: 1 }]);
    return entry && this.#row(entry.sort);
  }

  #row(n: number): Promise<Archive> {
    const known = this.#archives.get(n) ?? this.#read(n);
    this.#archives.set(n, known);
    return known;
  }

  async #read(n: number): Promise<Archive> {
    return (await this.#store.archive(this.#session, n)) ?? {};
  }
}

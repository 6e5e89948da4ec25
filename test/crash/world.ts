import type { CallContext } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { EffectsFile } from "../support/ledger/effects.ts";
import type { LedgerView } from "../support/ledger/ledger-view.ts";
import { fractionOf } from "../support/random.ts";
import type { LifeOptions } from "./life.ts";
import type { Killer } from "./points.ts";

const LONGEST_WORK_MS = 4;

/** What a tool does outside, as seen from inside its body. */
export interface Deed {
  readonly tool: string;
  readonly what: string;
  readonly args: JsonObject;
  readonly approvals: number;
  /** The key of a step; a body's is the call's. */
  readonly key?: string;
}

/** The world that tools act upon, and the clock of their work. */
export class World {
  readonly killer: Killer;
  readonly #effects: EffectsFile;
  readonly #view: LedgerView;
  readonly #seed: number;
  readonly #ran: () => Promise<void>;

  /** `ran` is called when a tool has run, before it ends. */
  constructor(
    options: LifeOptions,
    view: LedgerView,
    { killer, ran }: Pick<World, "killer"> & { readonly ran: () => Promise<void> },
  ) {
    this.killer = killer;
    this.#ran = ran;
    this.#seed = options.seed;
    this.#effects = new EffectsFile(options.effects);
    this.#view = view;
  }

  /** Does it, for good, and notes which records were committed by then. */
  async act({ idempotencyKey: call, attempt }: CallContext, { key = call, ...deed }: Deed): Promise<void> {
    const seq = await this.#view.lastSeq(call);
    this.#effects.append({ call, attempt, key, seq, pid: process.pid, ...deed });
  }

  /** Takes as long as it takes: some tools end in this turn of the event loop, some a few milliseconds later. */
  async work({ callId, attempt }: CallContext): Promise<void> {
    const ms = fractionOf(this.#seed, callId, attempt) * LONGEST_WORK_MS;
    if (ms > 1) await new Promise((resolve) => setTimeout(resolve, ms));
    await this.#ran();
  }
}

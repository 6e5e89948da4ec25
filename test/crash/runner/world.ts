import { setImmediate } from "node:timers/promises";
import type { JsonObject, ToolContext } from "../../../src/index.ts";
import { EffectsFile } from "../../support/ledger/effects.ts";
import type { LedgerFile } from "../../support/ledger/ledger-file.ts";
import type { Deed } from "../world.ts";
import type { CommitKiller } from "./killer.ts";

/** What a tool does once. */
type Job = Omit<Deed, "what" | "key">;

/** The world that the tools of a Runner's agents act upon. */
export class RunnerWorld {
  readonly #effects: EffectsFile;
  readonly #file: LedgerFile;
  readonly #killer: CommitKiller;
  readonly #vouching = new Set<string>();

  constructor(effects: string, file: LedgerFile, killer: CommitKiller) {
    this.#effects = new EffectsFile(effects);
    this.#file = file;
    this.#killer = killer;
  }

  /** Does it, for good, and notes which records were committed by then. */
  act(deed: Deed, { idempotencyKey: call, attempt }: Pick<ToolContext, "idempotencyKey" | "attempt">): void {
    const { key = call, ...rest } = deed;
    const seq = this.#file.lastSeq();
    this.#effects.append({ call, attempt, key, seq, pid: process.pid, ...rest });
  }

  /** The part of a tool that must happen once. */
  async perform(job: Job, ctx: Pick<ToolContext, "idempotencyKey" | "attempt">): Promise<JsonObject> {
    this.#killer.reach("enter");
    this.act({ ...job, what: "body" }, ctx);
    this.#killer.reach("effect");
    await setImmediate();
    return { did: job.tool };
  }

  /** Answers as a provider does: a moment later. */
  async vouch(wireId: string): Promise<true> {
    this.#vouching.add(wireId);
    this.#killer.reach("provider");
    await setImmediate();
    this.#killer.reach("answer");
    return true;
  }

  /** Is this process's provider asked about the call? Then people of this process leave it to that. */
  isVouching(callId: string): boolean {
    return this.#vouching.has(callId.slice(callId.lastIndexOf(".") + 1));
  }
}

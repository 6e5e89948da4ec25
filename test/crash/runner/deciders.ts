import type { CallRecord, ConfirmationRecord } from "../../../src/engine/index.ts";
import type { Ledger, Runner, Settlement } from "../../../src/index.ts";
import { say } from "../../support/processes/program.ts";
import { fractionOf } from "../../support/random.ts";
import { describeError } from "../life.ts";
import type { ActorLine } from "./acting.ts";
import { isDenied, type ScenarioName } from "./scenarios.ts";
import type { RunnerWorld } from "./world.ts";

const BOSS = { by: { id: "boss" } };
const MOST_RETRIES = 3;
const SEEN_BY_A_PERSON = "seen by a person";
const GONE = "gone";

interface Place {
  readonly ledger: Ledger;
  readonly runners: ReadonlyMap<ScenarioName, Runner>;
  readonly world: RunnerWorld;
  readonly seed: number;
}

/** The people of a run: they decide what is open and settle what is unknown, through the Runner of its app. */
export class Deciders {
  readonly #place: Place;
  readonly #busyWith = new Set<string>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** Takes up whatever is open and not in hand yet. Does not wait for it. */
  async look(): Promise<void> {
    const { ledger, world } = this.#place;
    const open = await ledger.confirmations({ state: "open" }, { limit: 100 });
    for (const { confirmation, call } of open.items) {
      if (!world.isVouching(call.id)) this.#once(confirmation.id, () => this.#decide(confirmation));
    }
    const unknown = await ledger.unknownCalls({ limit: 100 });
    for (const call of unknown.items) this.#once(`${call.id} ${call.attempt}`, () => this.#settle(call));
  }

  #once(id: string, work: () => Promise<void>): void {
    if (this.#busyWith.has(id)) return;
    this.#busyWith.add(id);
    work()
      .catch((error: unknown) => tell({ type: "error", message: describeError(error) }))
      .finally(() => this.#busyWith.delete(id))
      .catch(() => {});
  }

  async #decide({ id, app, session, tool }: ConfirmationRecord): Promise<void> {
    const runner = this.#runner(app);
    const confirmed = !isDenied(tool);
    const decided = confirmed ? await runner.approve(id, BOSS) : await runner.deny(id, BOSS);
    tell({ type: "decided", confirmation: id, session, confirmed });
    if (fractionOf(this.#place.seed, id) < 0.5) await decided.finished;
  }

  async #settle(call: CallRecord): Promise<void> {
    const engine = await this.#runner(call.app).engine();
    const settlement = this.#settlement(call);
    const settled = await engine.decisions.settle({ call: call.id }, settlement, BOSS);
    if (settled.ok) tell({ type: "settled-call", call: call.id, as: settlement.as });
  }

  #settlement({ id, attempt }: CallRecord): Settlement {
    const mood = fractionOf(this.#place.seed, id, attempt, "settle");
    if (mood < 0.4 && attempt <= MOST_RETRIES) return { as: "retry" };
    return mood < 0.7 ? { as: "succeeded", result: SEEN_BY_A_PERSON } : { as: "failed", error: GONE };
  }

  #runner(app: string): Runner {
    const runner = this.#place.runners.get(app as ScenarioName);
    if (runner === undefined) throw new Error(`Nobody here hosts ${app}.`);
    return runner;
  }
}

function tell(line: ActorLine): void {
  say(line);
}

import { type CallerOutcome, type CallRequest, callKey, toldToModel } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { doesNotStream } from "../contract/streaming-cases.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_INPUT,
  ORDER_RULE,
  PAY_RULE,
  PAY_SCHEMA,
  type Progress,
  TRANSFER_DESCRIPTION,
  TRANSFER_INPUT,
  type World,
} from "../contract/subject.ts";

/** No framework: a program that keeps the model's calls by itself and uses `engine.callers`. */
export const callersSubject: AdapterSubject = {
  name: "callers",
  except: doesNotStream("A program without a framework has no stream of its own."),
  open: (world) => new PlainHost(world),
};

/** The tools with schemas of their own. */
const PARSED = {
  order: { shape: ORDER_INPUT, description: ORDER_DESCRIPTION },
  transfer: { shape: TRANSFER_INPUT, description: TRANSFER_DESCRIPTION },
};

interface State {
  readonly turn: number;
  readonly calls: readonly ModelCall[];
}

class PlainHost implements AdapterHost {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  send(calls: readonly ModelCall[], state?: string): Promise<Progress> {
    const turn = state === undefined ? 0 : (JSON.parse(state) as State).turn + 1;
    return this.#step({ turn, calls });
  }

  resume(state: string): Promise<Progress> {
    return this.#step(JSON.parse(state) as State);
  }

  // There is nothing in its state that says whether somebody approved.
  forge(state: string): Promise<Progress> {
    return this.resume(state);
  }

  cancel(reason: string): Promise<number> {
    const { engine, app, thread } = this.#world;
    return engine.callers.cancelThread({ by: "bot", app, thread }, reason);
  }

  async #step(state: State): Promise<Progress> {
    const outcomes = await Promise.all(state.calls.map((call) => this.#propose(call, state.turn)));
    const waits = outcomes.some(({ status }) => status === "pending" || status === "unknown");
    const after = waits ? [] : await Promise.all(state.calls.map((call) => this.#run(call, state.turn)));
    const paused = waits || after.some(({ status }) => status === "pending" || status === "unknown");
    const told = after.map((outcome, place) => [
      state.calls[place]?.id,
      JSON.stringify(toldToModel(outcome).answer),
    ]);
    return {
      state: JSON.stringify(state),
      status: paused ? "paused" : "done",
      told: paused ? {} : (Object.fromEntries(told) as Progress["told"]),
    };
  }

  async #propose(call: ModelCall, turn: number): Promise<CallerOutcome> {
    const known = await this.#world.engine.callers.find({ by: "bot", key: this.#key(call, turn) });
    return known ?? this.#world.engine.callers.propose(this.#request(call, turn));
  }

  #run(call: ModelCall, turn: number): Promise<CallerOutcome> {
    return this.#world.engine.callers.run(this.#request(call, turn), async (args) =>
      call.tool === "note" ? args : this.#world.pay(args),
    );
  }

  #key({ id }: ModelCall, turn: number): string {
    return callKey(this.#world.thread, id, turn);
  }

  #request(call: ModelCall, turn: number): CallRequest {
    const { app, thread, description, expiresInMs } = this.#world;
    const { hint, requireConfirmation, approvers, amendable } = PAY_RULE;
    const base = {
      by: { id: "bot", kind: "agent" },
      app,
      thread,
      turn: String(turn),
      key: this.#key(call, turn),
    } as const;
    if (call.tool === "note") return { ...base, tool: "note", args: call.args, requireConfirmation: false };
    if (call.tool === "order" || call.tool === "transfer") {
      const { shape, description: about } = PARSED[call.tool];
      const args = shape.parse(call.args) as JsonObject;
      const asked = { tool: call.tool, description: about, ...ORDER_RULE };
      return { ...base, ...asked, args, parsed: true, sent: call.args };
    }
    let needed = true;
    try {
      needed = requireConfirmation(call.args);
    } catch {
      // A rule that fails means that a person is asked.
    }
    return {
      ...base,
      tool: "pay",
      args: call.args,
      description,
      schema: PAY_SCHEMA,
      requireConfirmation: needed,
      hint: hint(call.args),
      approvers,
      amendable,
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    };
  }
}

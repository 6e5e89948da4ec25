import {
  Engine,
  type FrameRecord,
  finishFrame,
  type Ledger,
  type LiveTool,
  partsOf,
  receiveMessage,
  recordTurn,
} from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import type { Contender, Setting, Store } from "../contender.ts";
import {
  AGENT,
  APP,
  DEFINITION_DIGEST,
  finalEvent,
  gatedCall,
  modelEvent,
  USER,
  userEvent,
} from "../scenario.ts";

/** Countersign's engine through its public methods, with the least of a runtime on top. */
export const engine: Contender = {
  async open(setting) {
    const ledger = await openLedger(setting.store, setting.file);
    const agent = new ScriptedAgent(new Engine({ ledger, hostName: "bench" }), setting.runBody);
    return {
      pause: (session) => agent.pause(session),
      close: () => agent.engine.close(),
    };
  },
};

export function openLedger(store: Store, file: string): Promise<Ledger> {
  switch (store) {
    case "memory":
      return createLedger("memory:");
    case "sqlite":
      return createLedger(`sqlite:${file}`);
    case "sqlite-full":
      return createLedger(`sqlite:${file}`, { durability: "full" });
    case "postgres":
      return createLedger(file);
  }
}

/** A host whose model says the same two things every time, at once. */
export class ScriptedAgent {
  readonly engine: Engine;
  readonly #tool: LiveTool;
  readonly #onStepped = new Map<string, (finished: boolean) => void>();
  #count = 0;

  constructor(countersign: Engine, runBody: Setting["runBody"]) {
    this.engine = countersign;
    this.#tool = {
      definitionDigest: DEFINITION_DIGEST,
      asking: { approvers: "requester" },
      run: async (call) => runBody(call.args as { readonly amount: number }),
    };
    countersign.host({ app: APP, tool: () => this.#tool, step: (frame) => this.#step(frame) });
  }

  /** A user's message and the model's gated call. */
  async ask(session: string): Promise<{ readonly confirmation: string; readonly frame: FrameRecord }> {
    this.#count += 1;
    const invocation = `e-${String(this.#count).padStart(34, "0")}`;
    const message = await receiveMessage(partsOf(this.engine), {
      session: { app: APP, user: USER, id: session },
      event: userEvent(invocation),
      frame: { kind: "llm", agent: AGENT, path: [AGENT] },
    });
    if (!message.ok) throw new Error(`The message was refused: ${message.message}`);
    const wireId = `call-${String(this.#count).padStart(20, "0")}`;
    const turn = await recordTurn(partsOf(this.engine), message.frame, {
      event: modelEvent(invocation, wireId),
      calls: [gatedCall(wireId)],
    });
    const asked = turn?.asked[0];
    if (turn === undefined || asked === undefined) throw new Error("The turn did not pause.");
    return { confirmation: asked.confirmation.id, frame: turn.frame };
  }

  async pause(session: string): Promise<{ approve(): Promise<void> }> {
    const { confirmation, frame } = await this.ask(session);
    return { approve: () => this.approve(confirmation, frame.id) };
  }

  async approve(confirmation: string, frame: string): Promise<void> {
    const stepped = new Promise<boolean>((resolve) => this.#onStepped.set(frame, resolve));
    const decided = await this.engine.decisions.decide(
      { id: confirmation, confirmed: true },
      { by: { id: USER } },
    );
    if (!decided.ok) throw new Error(`The decision was refused: ${decided.message}`);
    if (!(await stepped)) throw new Error("The frame was no longer ours to finish.");
  }

  async #step(frame: FrameRecord): Promise<void> {
    const end = { event: finalEvent(frame.invocation), status: "done" } as const;
    const finished = await finishFrame(partsOf(this.engine), frame, end);
    this.#onStepped.get(frame.id)?.(finished);
    this.#onStepped.delete(frame.id);
  }
}

import { randomUUID } from "node:crypto";
import {
  CallEnd,
  type CallPlan,
  type Delegation,
  definitionDigest,
  type Engine,
  type FrameRecord,
  finishFrame,
  type Host,
  type LiveTool,
  oneApproval,
  type PlannedCall,
  partsOf,
  receiveMessage,
  recordTurn,
} from "../../src/engine/index.ts";
import { nextChange } from "../support/ledger/ledger-proxy.ts";
import type { FrameRow, LedgerView } from "../support/ledger/ledger-view.ts";
import { perform } from "./gates.ts";
import { AGENT_APP } from "./life.ts";
import type { World } from "./world.ts";

const AGENT = "finance";
const USER = "ana";
const GATED: ReadonlySet<string> = new Set(["pay", "refund", "defer"]);

const REPEATABLE: ReadonlySet<string> = new Set(["look", "hand"]);

/** What the model calls, turn by turn, in answer to each message of a session; after that it ends. */
const SCRIPTS: { readonly [kind: string]: readonly (readonly (readonly string[])[])[] } = {
  turn: [[["look", "note", "pay", "refund"], ["pay"]]],
  // The second message is answered while `defer` waits for a person, who decides it then.
  converse: [[["look", "defer"]], []],
  delegate: [[["hand"]]],
};

/** What the agent that a call is handed to calls, turn by turn. */
const HELPER = "helper";
const HANDED: Delegation = {
  kind: "llm",
  agent: HELPER,
  branch: HELPER,
  message: "See to it.",
};
const HELPERS_SCRIPT: readonly (readonly string[])[] = [["note", "pay"], ["look"]];

/** A scripted agent: what a runtime does with the engine, as small as it can be. */
export class Agent implements Host {
  readonly app: string = AGENT_APP;
  readonly #engine: Engine;
  readonly #world: World;
  readonly #view: LedgerView;

  constructor(engine: Engine, world: World, view: LedgerView) {
    this.#engine = engine;
    this.#world = world;
    this.#view = view;
  }

  /** Sends a user's message; resolves when the step that answers it has ended. False if it was refused. */
  async message(id: string): Promise<boolean> {
    // Not numbered: where the ledger has lost earlier messages, a number would be used for two.
    const invocationId = randomUUID();
    const received = await receiveMessage(partsOf(this.#engine), {
      session: { app: this.app, user: USER, id },
      event: { author: "user", invocationId, content: { role: "user", parts: [{ text: "Pay them." }] } },
      frame: { kind: "llm", agent: AGENT, path: [AGENT] },
    });
    if (!received.ok) return false;
    partsOf(this.#engine).executions.step(received.frame);
    await partsOf(this.#engine).executions.settledIn(invocationId);
    return true;
  }

  tool({ tool }: { readonly tool: string }): LiveTool {
    return this.#liveTool(tool);
  }

  async step(frame: FrameRecord): Promise<void> {
    this.#world.killer.reach("model:enter");
    const snapshot = await this.#engine.ledger.load({ sessionKey: frame.session });
    const frames = await this.#view.framesOf(frame.session);
    const message = frames.findIndex(({ id }) => id === frame.id);
    if (message > 0) await this.#untilChanged(frames[0]);
    const kind = snapshot?.session.id.split("-")[0] ?? "";
    const script = frame.parentCall === undefined ? SCRIPTS[kind]?.[message] : HELPERS_SCRIPT;
    const calls = script?.[frame.turn];
    const event = { author: AGENT, invocationId: frame.invocation };
    if (calls === undefined)
      await finishFrame(partsOf(this.#engine), frame, {
        event,
        status: "done",
        output: `after ${frame.turn} turns`,
      });
    else
      await recordTurn(partsOf(this.#engine), frame, {
        event,
        calls: calls.map((tool, ord) => this.#planned(tool, `${frame.agent}-${tool}-${frame.turn}-${ord}`)),
      });
  }

  // Until the other frame has gone on, or waits for a person who settles.
  async #untilChanged(first: FrameRow | undefined): Promise<void> {
    for (;;) {
      const changed = nextChange(this.#engine.ledger);
      const frames = await this.#view.framesOf(first?.session ?? "");
      const now = frames.find(({ id }) => id === first?.id);
      if (now?.status !== "waiting" || (await this.#view.unknownCalls()) > 0) return;
      await changed;
    }
  }

  #planned(tool: string, wireId: string): PlannedCall {
    const live = this.#liveTool(tool);
    const args = { amount: wireId.length };
    const plan: CallPlan = GATED.has(tool)
      ? {
          kind: "ask",
          question: {
            shown: { hint: `${tool}?`, why: ["test"] },
            requirements: oneApproval("requester"),
            requesters: [USER],
          },
        }
      : { kind: "run", tool: live };
    const { definitionDigest: digest } = live;
    return { wireId, tool, args, definitionDigest: digest, repeatable: REPEATABLE.has(tool), plan };
  }

  #liveTool(tool: string): LiveTool {
    const approvals = GATED.has(tool) ? 1 : 0;
    return {
      definitionDigest: definitionDigest({ name: tool }),
      asking: { approvers: "requester" },
      run: async ({ args }, context) =>
        tool === "hand"
          ? new CallEnd({ delegation: HANDED })
          : perform(this.#world, { tool, args, approvals }, context),
    };
  }
}

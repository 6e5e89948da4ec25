import {
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
import type { RacerLine, Release, Replies } from "./racing.ts";

const AGENT = "talker";
const TOOL: LiveTool = {
  definitionDigest: definitionDigest({ name: "ask" }),
  asking: { approvers: "requester" },
  run: () => Promise.resolve({ asked: true }),
};

/**
 * An agent whose steps end when the test says so. The first message of a session is answered with a call that
 * waits for a person; what answers the second holds the session until `letGo`.
 */
export class ConversationHost implements Host {
  readonly app: string = "talk";
  readonly #engine: Engine;
  readonly #tell: (line: RacerLine) => void;
  readonly #held = new Map<string, FrameRecord>();

  constructor(engine: Engine, tell: (line: RacerLine) => void) {
    this.#engine = engine;
    this.#tell = tell;
  }

  /** A message; the first of a session is answered at once, the others keep the session busy. */
  async message(session: string, number: number): Promise<Replies["message"]> {
    const invocationId = `${session}-${number}`;
    const received = await receiveMessage(partsOf(this.#engine), {
      session: { app: this.app, user: "ana", id: session },
      event: { author: "user", invocationId },
      frame: { kind: "llm", agent: AGENT, path: [AGENT] },
    });
    if (!received.ok) return { ok: false, code: received.code };
    if (number > 0) {
      this.#held.set(session, received.frame);
      return { ok: true };
    }
    const turn = await this.#record(received.frame);
    const confirmation = turn?.asked[0]?.confirmation.id;
    return confirmation === undefined ? { ok: false } : { ok: true, confirmation };
  }

  /** Ends the step that holds the session. */
  async letGo(session: string, how: Release): Promise<boolean> {
    const frame = this.#held.get(session);
    if (frame === undefined) return false;
    this.#held.delete(session);
    if (how === "pause") return (await this.#record(frame)) !== undefined;
    return finishFrame(partsOf(this.#engine), frame, { status: "done" });
  }

  tool(): LiveTool {
    return TOOL;
  }

  async step(frame: FrameRecord): Promise<void> {
    await finishFrame(partsOf(this.#engine), frame, { status: "done" });
    const session = frame.invocation.slice(0, frame.invocation.lastIndexOf("-"));
    this.#tell({ type: "stepped", session, frame: frame.id });
  }

  async #record(frame: FrameRecord): ReturnType<typeof recordTurn> {
    const call: PlannedCall = {
      wireId: `ask-${frame.invocation}`,
      tool: "ask",
      args: {},
      definitionDigest: TOOL.definitionDigest,
      plan: {
        kind: "ask",
        question: {
          shown: { hint: "Well?", why: ["test"] },
          requirements: oneApproval("requester"),
          requesters: ["ana"],
        },
      },
    };
    return recordTurn(partsOf(this.#engine), frame, {
      event: { author: AGENT, invocationId: frame.invocation },
      calls: [call],
    });
  }
}

import type { JournalKind } from "../../src/engine/index.ts";
import type { Kind } from "./life.ts";
import type { Point } from "./points.ts";

/** Where processes of a run die, in this order. `settle`: in these lives people settle what is unknown. */
export interface Run {
  readonly kind: Kind;
  readonly points: readonly Point[];
  readonly settle?: readonly Point[];
  /** What the journal must tell of then. */
  readonly journaled?: readonly JournalKind[];
}

// Points of recovery come after a point whose death they recover from.
export const RUNS: readonly Run[] = [
  {
    kind: "approve",
    points: [
      "request:before",
      "request:after",
      "beat:before",
      "beat:after",
      "approve:before",
      "approve:after",
      "lose:before",
      "lose:after",
      "tool:enter",
      "tool:effect",
      "result:before",
      "result:after",
      "seal:before",
      "seal:after",
    ],
    settle: ["settle:before", "settle:after", "lose:before"],
    journaled: ["call-unknown", "call-settled"],
  },
  {
    kind: "votes",
    points: [
      "vote:before",
      "vote:after",
      "withdraw-vote:before",
      "withdraw-vote:after",
      "remind:before",
      "remind:after",
      "escalate:before",
      "escalate:after",
      "approve:before",
      "approve:after",
    ],
    settle: ["settle:after"],
  },
  { kind: "deny", points: ["request:after", "deny:before", "deny:after"] },
  { kind: "expire", points: ["request:after", "expire:before", "expire:after", "approve:before"] },
  { kind: "withdraw", points: ["withdraw:before", "withdraw:after"] },
  {
    kind: "idempotent",
    points: ["tool:enter", "claim:before", "tool:effect", "claim:after", "result:before", "result:after"],
    journaled: ["call-released"],
  },
  {
    kind: "ungated",
    points: ["start:before", "start:after", "tool:enter", "tool:effect", "lose:before", "result:before"],
    settle: ["settle:before", "settle:after"],
  },
  { kind: "lookup", points: ["start:after", "claim:before", "claim:after", "tool:effect", "result:before"] },
  {
    kind: "asks",
    points: [
      "step-start:before",
      "step-start:after",
      "step:enter",
      "step:effect",
      "step-done:before",
      "step-done:after",
      "suspend:before",
      "suspend:after",
      "approve:before",
      "approve:after",
      "tool:effect",
      "result:before",
      "result:after",
    ],
    settle: ["settle:before", "settle:after", "step-start:after", "step-done:before"],
  },
  {
    kind: "adk",
    points: ["suspend:before", "suspend:after", "approve:after", "tool:effect", "result:after"],
    settle: ["settle:before", "settle:after"],
  },
  {
    kind: "worded",
    points: [
      "refuse:before",
      "refuse:after",
      "claim:before",
      "claim:after",
      "word-denial:before",
      "word-denial:after",
    ],
    settle: ["settle:before", "settle:after"],
  },
  { kind: "fails", points: ["tool:effect", "result:before", "result:after"] },
  { kind: "unsure", points: ["tool:effect", "lose:before", "lose:after"], settle: ["settle:after"] },
  {
    kind: "turn",
    points: [
      "message:before",
      "message:after",
      "take-up-frame:before",
      "model:enter",
      "take-up-frame:after",
      "model-turn:before",
      "model-turn:after",
      "lose:before",
      "deny:before",
      "deny:after",
      "approve:before",
      "approve:after",
      "tool:effect",
      "result:before",
      "result:after",
    ],
    settle: ["settle:before", "settle:after", "step-end:before", "step-end:after"],
  },
  {
    kind: "converse",
    points: ["message:after", "take-up-frame:before", "approve:after", "result:after", "step-end:before"],
    settle: ["step-end:after", "take-up-frame:before"],
  },
  {
    kind: "delegate",
    points: [
      "delegate:before",
      "delegate:after",
      "take-up-frame:after",
      "model-turn:before",
      "model-turn:after",
      "approve:after",
      "result:after",
      "return:before",
      "return:after",
    ],
    settle: ["settle:after", "return:before", "step-end:after"],
  },
];

/** How many processes die at named points. */
export const NAMED_KILLS: number = RUNS.reduce(
  (sum, { points, settle = [] }) => sum + points.length + settle.length,
  0,
);

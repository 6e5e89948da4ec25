import type { Commit, Write } from "../../src/engine/index.ts";

/** What a commit can do that a process may die right before or right after. */
export type CommitPoint =
  | "message"
  | "model-turn"
  | "request"
  | "start"
  | "vote"
  | "withdraw-vote"
  | "remind"
  | "escalate"
  | "approve"
  | "deny"
  | "expire"
  | "withdraw"
  | "refuse"
  | "claim"
  | "suspend"
  | "delegate"
  | "return"
  | "step-start"
  | "step-done"
  | "result"
  | "word-denial"
  | "lose"
  | "settle"
  | "take-up-frame"
  | "step-end";

/** Where else a process may die: inside user code and beside the commits. */
export type CodePoint =
  | "beat:before"
  | "beat:after"
  | "seal:before"
  | "seal:after"
  | "model:enter"
  | "tool:enter"
  | "tool:effect"
  | "step:enter"
  | "step:effect";

/** A named point at which a process can be killed. */
export type Point = CodePoint | `${CommitPoint}:${"before" | "after"}`;

type WriteOf<Kind extends Write["kind"]> = Extract<Write, { kind: Kind }>;

const CLOSINGS = {
  approved: "approve",
  denied: "deny",
  expired: "expire",
  cancelled: "withdraw",
  requested: undefined,
} as const;

const STEPS = {
  started: "step-start",
  done: "step-done",
  failed: "step-done",
  asked: undefined,
  undone: undefined,
} as const;

const RECORDS: { readonly [kind: string]: CommitPoint } = {
  "vote-cast": "vote",
  "vote-withdrawn": "withdraw-vote",
  "confirmation-reminded": "remind",
  "confirmation-escalated": "escalate",
};

/** What the commit does, in our names. */
export function pointsOf({ writes, log }: Pick<Commit, "writes" | "log">): ReadonlySet<CommitPoint> {
  const points = new Set<CommitPoint | undefined>();
  for (const kind of log.kinds) points.add(RECORDS[kind]);
  const settles = log.kinds.includes("call-settled");
  if (settles) points.add("settle");
  const decides = writes.some(({ kind }) => kind === "confirmation-update");
  for (const write of writes) {
    if (write.kind === "frame-insert")
      points.add(write.frame.parentCall === undefined ? "message" : "delegate");
    if (write.kind === "confirmation-insert") points.add("request");
    if (write.kind === "call-insert" && write.call.status === "executing") points.add("start");
    if (write.kind === "confirmation-update") points.add(CLOSINGS[write.set.status ?? "requested"]);
    if (write.kind === "step") points.add(STEPS[write.step.status]);
    if (write.kind === "frame-update") points.add(framePoint(write, writes));
    if (write.kind === "call-update") points.add(callPoint(write, { settles, decides }));
  }
  points.delete(undefined);
  return points as ReadonlySet<CommitPoint>;
}

function framePoint({ set }: WriteOf<"frame-update">, writes: readonly Write[]): CommitPoint | undefined {
  if (set.turn !== undefined) return "model-turn";
  if (set.status === "done") return "step-end";
  const alone = !writes.some(({ kind }) => kind === "call-update");
  return set.status === "stepping" && alone ? "take-up-frame" : undefined;
}

function callPoint(
  { from, set }: WriteOf<"call-update">,
  { settles, decides }: { readonly settles: boolean; readonly decides: boolean },
): CommitPoint | undefined {
  if (set.refused === true && set.status === "ready") return "refuse";
  const ran = (from === "executing" || from === "unknown") && !settles;
  switch (set.status) {
    case "executing":
      return decides || settles ? undefined : "claim";
    case "suspended":
      return set.confirmation === undefined ? undefined : "suspend";
    case "unknown":
      return "lose";
    case "succeeded":
    case "failed":
      return ran ? "result" : from === "suspended" ? "return" : undefined;
    case "denied":
    case "expired":
      return ran ? "word-denial" : undefined;
    default:
      return undefined;
  }
}

/** When a process is to kill or to stop itself. */
export interface Strike {
  readonly point: Point;
  /** Otherwise it is killed. */
  readonly signal?: "SIGSTOP";
  /** At which passage; the first is 1. */
  readonly passage: number;
}

/** Kills or stops its own process at the point it was given; says so first. */
export class Killer {
  readonly #strike: Strike | undefined;
  readonly #say: () => void;
  #passages = 0;

  constructor(strike: Strike | undefined, say: () => void) {
    this.#strike = strike;
    this.#say = say;
  }

  reach(point: Point): void {
    if (point !== this.#strike?.point) return;
    this.#passages += 1;
    if (this.#passages !== this.#strike.passage) return;
    this.#say();
    process.kill(process.pid, this.#strike.signal ?? "SIGKILL");
  }
}

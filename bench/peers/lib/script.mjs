// The scripted zero-latency "model", shared by all contenders. Each contender
// only translates a decision of this script into its own wire shape.
import { randomBytes } from "node:crypto";

export const FINAL = "Done: reimbursed 100.";
export const USER_TEXT = "Please reimburse me 100.";
export const AMOUNT = 100;

const prefix = randomBytes(4).toString("hex");

export class Script {
  #n = 0;
  mode = "hitl";
  left = 0;

  /** n ungated calls: one per model turn ("seq") or all in one turn ("par"). */
  armUngated(mode, n) {
    this.mode = mode;
    this.left = n;
  }
  disarm() {
    this.mode = "hitl";
    this.left = 0;
  }

  /** @param {boolean} lastIsToolResult is the last message of the prompt a tool result? */
  next(lastIsToolResult) {
    if (this.mode === "hitl") {
      return lastIsToolResult ? { text: FINAL } : { calls: [this.#call("reimburse", { amount: AMOUNT })] };
    }
    if (this.left === 0) return { text: FINAL };
    const k = this.mode === "par" ? this.left : 1;
    this.left -= k;
    return { calls: Array.from({ length: k }, (_, i) => this.#call("ping", { i })) };
  }

  #call(name, args) {
    return { id: `call_${prefix}_${++this.#n}`, name, args };
  }
}

/** Alternating user/assistant plain-text turns used as earlier history. */
export function historyTurns(n) {
  return Array.from({ length: n }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    text:
      i % 2 === 0
        ? `Earlier question number ${i}, about an expense report.`
        : `Earlier answer number ${i}, about an expense report.`,
  }));
}

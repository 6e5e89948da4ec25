import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Ledger } from "../../engine/index.ts";
import { isJsonObject } from "../../protocol/index.ts";

const KIND = "policy-problem";
const LONGEST = 2_000;

/** A policy file that a process cannot use; it goes on with what the file said before. */
export interface PolicyProblem {
  readonly host: string;
  readonly pid: number;
  readonly file: string;
  readonly message: string;
  /** The version that it goes on with. */
  readonly version: string;
  readonly at: string;
}

/** What this machine's processes could not read, stored for `doctor`. One entry for each file of a machine. */
export class PolicyProblems {
  readonly #ledger: Ledger;
  readonly #file: string;

  constructor(ledger: Ledger, file: string) {
    this.#ledger = ledger;
    this.#file = resolve(file);
  }

  get #id(): string {
    return `${hostname()}:${this.#file}`;
  }

  store(message: string, version: string): void {
    const at = new Date().toISOString();
    const about = { host: hostname(), pid: process.pid, file: this.#file, version, at };
    const problem = { ...about, message: message.slice(0, LONGEST) };
    // If it is not stored, the process goes on: its log has it too.
    this.#put(problem).catch(() => {});
  }

  clear(): void {
    // If it is not removed, a problem that is over is shown once more.
    this.#remove().catch(() => {});
  }

  async #put(problem: PolicyProblem): Promise<void> {
    const { items } = this.#ledger;
    const before = await items.get(KIND, this.#id);
    await items.put({ kind: KIND, id: this.#id, value: { ...problem } }, before?.version ?? 0);
  }

  async #remove(): Promise<void> {
    const before = await this.#ledger.items.get(KIND, this.#id);
    if (before !== undefined) await this.#ledger.items.remove(before);
  }
}

/** The files that processes of this ledger cannot use now. */
export async function listPolicyProblems(ledger: Ledger): Promise<readonly PolicyProblem[]> {
  const { items } = await ledger.items.list(KIND, { limit: 100 });
  return items.flatMap(({ value }) => (isJsonObject(value) ? [value as unknown as PolicyProblem] : []));
}

import type { LogRow } from "../ledger/index.ts";
import type { ChainHasher } from "./chain.ts";

/** A number of lines of the log and the sum over them. */
export interface LinesLeft {
  readonly rows: number;
  readonly sum: string;
}

const MODULUS = 2n ** 256n;
const DIGITS = 64;
const NO_LINES: LinesLeft = { rows: 0, sum: "0".repeat(DIGITS) };
const SUM = /^[\da-f]{64}$/;

/** Is it a sum as this code writes it? */
export function isLineSum(text: string): boolean {
  return SUM.test(text);
}

/**
 * A sum over lines of the log, in whatever order: lines can be added, and taken away again. Each counts with a hash of its
 * own, so with a secret nobody without it can find other lines with the same sum.
 */
export class LineSum {
  readonly #hasher: ChainHasher;
  #rows: number;
  #sum: bigint;

  constructor(hasher: ChainHasher, { rows, sum }: LinesLeft = NO_LINES) {
    this.#hasher = hasher;
    this.#rows = rows;
    this.#sum = BigInt(`0x${sum}`);
  }

  get value(): LinesLeft {
    return { rows: this.#rows, sum: this.#sum.toString(16).padStart(DIGITS, "0") };
  }

  add(row: Pick<LogRow, "seq" | "session" | "n" | "hash">): void {
    this.#rows += 1;
    this.#sum = (this.#sum + this.#weightOf(row)) % MODULUS;
  }

  take(row: Pick<LogRow, "seq" | "session" | "n" | "hash">): void {
    this.#rows -= 1;
    this.#sum = (this.#sum + MODULUS - this.#weightOf(row)) % MODULUS;
  }

  #weightOf({ seq, session, n, hash }: Pick<LogRow, "seq" | "session" | "n" | "hash">): bigint {
    const digest = this.#hasher(JSON.stringify(["left-v1", seq, session, n, hash]));
    return BigInt(`0x${Buffer.from(digest, "base64url").toString("hex")}`);
  }
}

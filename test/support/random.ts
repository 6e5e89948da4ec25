import { createHash, randomInt } from "node:crypto";

const UINT32 = 2 ** 32;

/** Numbers from a seed: the same ones for the same seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / UINT32;
  }

  /** A whole number from 0 up to, not including, `below`. */
  below(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }
}

/** A number from 0 up to 1 that belongs to these words: every process draws the same one. */
export function fractionOf(...words: readonly (string | number)[]): number {
  return createHash("sha256").update(JSON.stringify(words)).digest().readUInt32BE(0) / UINT32;
}

/** The seed of this run: `COUNTERSIGN_SEED`, or a new one. Print it, so that a failure can be run again. */
export function runSeed(): number {
  const given = Number(process.env["COUNTERSIGN_SEED"] ?? Number.NaN);
  return Number.isInteger(given) && given >= 0 ? given : randomInt(1, 2 ** 31);
}

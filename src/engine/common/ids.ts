import { randomFillSync } from "node:crypto";

/** Makes an id: 48 bits of time, so that rows arrive in key order, then 80 random bits that nobody can guess. */
export type NewId = (now: number) => string;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CODES: readonly number[] = Array.from(ALPHABET, (character) => character.charCodeAt(0));
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 16;
const POOL_BYTES = RANDOM_BYTES * 256;

/** A source of ids on the machine's own randomness, drawn in blocks because each draw has a fixed cost. */
export function createIds(): NewId {
  const pool = new Uint8Array(POOL_BYTES);
  const codes = Array.from({ length: RANDOM_BYTES }, () => 0);
  let used = POOL_BYTES;
  let lastNow = -1;
  let lastTime = "";
  return (now) => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    if (now !== lastNow) {
      lastNow = now;
      lastTime = encodeTime(now);
    }
    used += RANDOM_BYTES;
    // Five bits of each byte: 16 characters of 32 are exactly 80 bits, without bias.
    for (let at = 0; at < RANDOM_BYTES; at++)
      codes[at] = CODES[(pool[used - RANDOM_BYTES + at] as number) & 31] as number;
    return lastTime + String.fromCharCode(...codes);
  };
}

function encodeTime(now: number): string {
  let rest = now;
  let text = "";
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = (ALPHABET[rest % 32] as string) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

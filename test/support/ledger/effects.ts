import { existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import type { JsonObject } from "../../../src/protocol/index.ts";

/** One thing that a tool did to the world, as the world remembers it. */
export interface Effect {
  /** The call's id. */
  readonly call: string;
  readonly tool: string;
  /** `body`, or `step:<name>`: what may happen once in a call. */
  readonly what: string;
  readonly attempt: number;
  readonly key: string;
  readonly args: JsonObject;
  /** How many approvals of this call must stand before this may happen. */
  readonly approvals: number;
  /** The newest journal record that was committed when it happened. */
  readonly seq: number;
  readonly pid: number;
}

/** The world outside: a file that is only ever appended to, on disk before the tool goes on. */
export class EffectsFile {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  append(effect: Effect): void {
    writeSync(this.#file, `${JSON.stringify(effect)}\n`);
    fsyncSync(this.#file);
  }
}

/** Everything that happened, in order; while others write, without the line that has no end yet. */
export function readEffects(
  path: string,
  { othersWrite = false }: { readonly othersWrite?: boolean } = {},
): readonly Effect[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const lines = (othersWrite ? text.slice(0, text.lastIndexOf("\n") + 1) : text).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Effect);
}

import type { JsonObject } from "../../protocol/index.ts";
import { textOf } from "../rpc/index.ts";
import { foldName } from "../tools/index.ts";

/** The tools that a server lists, by name. */
export class ListedTools {
  readonly #tools = new Map<string, JsonObject>();
  /** How many tools have a name that looks like this one. */
  readonly #alike = new Map<string, number>();

  constructor(listed: readonly JsonObject[]) {
    for (const tool of listed) {
      const name = textOf(tool, "name");
      if (name === undefined) continue;
      this.#tools.set(name, tool);
      const folded = foldName(name);
      this.#alike.set(folded, (this.#alike.get(folded) ?? 0) + 1);
    }
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  /** The tool of exactly this name. */
  get(name: string): JsonObject | undefined {
    return this.#tools.get(name);
  }

  /** Does another tool have a name that looks like this one? Then a person might approve the wrong one. */
  isAmbiguous(name: string): boolean {
    return (this.#alike.get(foldName(name)) ?? 0) > 1;
  }
}

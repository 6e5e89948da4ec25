import type { JsonObject } from "../../protocol/index.ts";
import { textOf } from "../rpc/index.ts";
import { foldName } from "../tools/index.ts";

/** The tools that a server lists, by name. */
export class ListedTools {
  readonly #tools = new Map<string, JsonObject>();
  /** How many tools could be meant by a name, which a careless server may not tell apart. */
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

  /** Could another tool be meant by this name, too? A person who approves one may then get the other. */
  isAmbiguous(name: string): boolean {
    return (this.#alike.get(foldName(name)) ?? 0) > 1;
  }
}

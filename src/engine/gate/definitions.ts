import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { definitionDigest, type ToolDefinition } from "../common/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { differenceOf } from "./definition-difference.ts";

const KIND = "tool-definition";

/**
 * Stores the definitions of tools that people were asked about, by digest, so that the difference can be shown if a
 * tool changes. One write per definition, none per call.
 */
export class Definitions {
  readonly #ledger: Ledger;
  readonly #kept = new Set<string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async keep(definition: ToolDefinition): Promise<void> {
    // Of a remote agent's tool only the name is known, so there is never a difference to show.
    if (definition.description === undefined && definition.parameters === undefined) return;
    const id = definitionDigest(definition);
    if (this.#kept.has(id)) return;
    // Another process may have stored it first; the same digest means the same definition.
    if ((await this.#ledger.items.get(KIND, id)) === undefined)
      await this.#ledger.items.put({ kind: KIND, id, value: toJson(definition) }, 0);
    this.#kept.add(id);
  }

  /** The definition with this digest, if it is stored. */
  async of(digest: string): Promise<ToolDefinition | undefined> {
    const kept = (await this.#ledger.items.get(KIND, digest))?.value;
    return isJsonObject(kept) ? (kept as JsonObject & ToolDefinition) : undefined;
  }

  /** What changed since the definition with this digest; undefined if that one is not stored. */
  async differenceSince(digest: string, now: ToolDefinition): Promise<readonly string[] | undefined> {
    const before = await this.of(digest);
    return before && differenceOf(before, now);
  }
}

function toJson(definition: ToolDefinition): JsonObject {
  return JSON.parse(JSON.stringify(definition)) as JsonObject;
}

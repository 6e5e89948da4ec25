import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { definitionDigest, type ToolDefinition } from "../common/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { differenceOf } from "./definition-difference.ts";

const KIND = "tool-definition";

/**
 * The definitions of tools that people were asked about, kept by digest, so that a tool that changed since can be
 * shown with the difference. One write for each definition ever asked about; none for a call.
 */
export class Definitions {
  readonly #ledger: Ledger;
  readonly #kept = new Set<string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async keep(definition: ToolDefinition): Promise<void> {
    // Of a remote agent's tool only the name is known: there is never a difference to tell.
    if (definition.description === undefined && definition.parameters === undefined) return;
    const id = definitionDigest(definition);
    if (this.#kept.has(id)) return;
    // Another process may have kept it first; by its digest it is the same.
    if ((await this.#ledger.item(KIND, id)) === undefined)
      await this.#ledger.putItem({ kind: KIND, id, value: toJson(definition) }, 0);
    this.#kept.add(id);
  }

  /** What changed since the definition with this digest; undefined if that one was not kept. */
  async differenceSince(digest: string, now: ToolDefinition): Promise<readonly string[] | undefined> {
    const kept = (await this.#ledger.item(KIND, digest))?.value;
    return isJsonObject(kept) ? differenceOf(kept as JsonObject & ToolDefinition, now) : undefined;
  }
}

function toJson(definition: ToolDefinition): JsonObject {
  return JSON.parse(JSON.stringify(definition)) as JsonObject;
}

import { isJsonObject, type JsonObject } from "../../protocol/index.ts";
import { definitionDigest, type ToolDefinition, TransientMap } from "../common/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { differenceOf } from "./definition-difference.ts";

const KIND = "tool-definition";
/** How many stay in memory. */
const MOST_KNOWN = 500;

/**
 * Stores the definitions of tools that people were asked about, and of servers' tools, by digest: so that the difference
 * can be shown if a tool changes, and past calls be judged by another policy. One write per definition, none per call.
 */
export class Definitions {
  readonly #ledger: Ledger;
  /** Those that are stored, as this process stored or read them. Under one digest there is never another. */
  readonly #known = new TransientMap<string, ToolDefinition>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Does this process know that it is stored? */
  has(definition: ToolDefinition): boolean {
    return this.#known.has(definitionDigest(definition));
  }

  async keep(definition: ToolDefinition): Promise<void> {
    // Only the name of a remote agent's tool is known, so there is never a difference to show.
    if (definition.description === undefined && definition.parameters === undefined) return;
    const id = definitionDigest(definition);
    if (this.#known.has(id)) return;
    const value = toJson(definition);
    // Another process may have stored it first; the same digest means the same definition.
    if ((await this.#ledger.items.get(KIND, id)) === undefined)
      await this.#ledger.items.put({ kind: KIND, id, value }, 0);
    this.#remember(id, value as JsonObject & ToolDefinition);
  }

  /** The definition with this digest, if it is stored. */
  async of(digest: string): Promise<ToolDefinition | undefined> {
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const stored = (await this.#ledger.items.get(KIND, digest))?.value;
    if (!isJsonObject(stored)) return undefined;
    const definition = stored as JsonObject & ToolDefinition;
    this.#remember(digest, definition);
    return definition;
  }

  #remember(digest: string, definition: ToolDefinition): void {
    this.#known.set(digest, definition);
    const [oldest = ""] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
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

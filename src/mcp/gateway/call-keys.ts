import { type Ledger, valueDigest } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";

/** Which call of a tool with these arguments this is. */
export interface CallKey {
  readonly text: string;
  readonly id: string;
  readonly round: number;
  /** Of the stored item of this round. */
  readonly version: number;
}

const KIND = "mcp-call";

/**
 * Distinguishes a repeated call from a new one. MCP clients send no key, so the same tool with the same arguments is
 * the same call until its outcome was delivered. Stored in the ledger, so that it survives a restart.
 */
export class CallKeys {
  readonly #ledger: Ledger;
  readonly #app: string;

  constructor(ledger: Ledger, app: string) {
    this.#ledger = ledger;
    this.#app = app;
  }

  async open(tool: string, args: JsonObject): Promise<CallKey> {
    const id = valueDigest(this.#ledger.digestKey, [this.#app, tool, args]);
    const kept = await this.#ledger.items.get(KIND, id);
    const told = isJsonObject(kept?.value) ? member(kept.value, "told") : undefined;
    const round = typeof told === "number" ? told + 1 : 1;
    return { text: `${tool}-${id}-${round}`, id, round, version: kept?.version ?? 0 };
  }

  /** The outcome was delivered. If several clients got the same one, the first moves the key on. */
  async done({ id, round, version }: CallKey): Promise<void> {
    await this.#ledger.items.put({ kind: KIND, id, value: { told: round } }, version);
  }
}

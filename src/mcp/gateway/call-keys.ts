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
 * Tells a call that is sent again from a new one. MCP clients send no key of their own, so the same tool with the same
 * arguments is the same call until its outcome was told; kept in the ledger, so that a restart does not forget it.
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
    const kept = await this.#ledger.item(KIND, id);
    const told = isJsonObject(kept?.value) ? member(kept.value, "told") : undefined;
    const round = typeof told === "number" ? told + 1 : 1;
    return { text: `${tool}-${id}-${round}`, id, round, version: kept?.version ?? 0 };
  }

  /** The outcome was told. Of several that were told the same one, the first moves on. */
  async done({ id, round, version }: CallKey): Promise<void> {
    await this.#ledger.putItem({ kind: KIND, id, value: { told: round } }, version);
  }
}

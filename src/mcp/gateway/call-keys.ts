import { type Ledger, type StoredItem, valueDigest } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, member } from "../../protocol/index.ts";

/** Which call of a tool with these arguments this is. */
export interface CallKey {
  readonly text: string;
  readonly id: string;
  readonly round: number;
}

const KIND = "mcp-call";

/**
 * Distinguishes a repeated call from a new one. MCP clients send no key, so the same tool with the same arguments is
 * the same call until its outcome was delivered. Stored in the ledger, so that it survives a restart.
 */
export class CallKeys {
  readonly #ledger: Ledger;
  readonly #app: string;
  /** What was delivered here and may not be stored yet: a client may call again before it is. */
  readonly #told = new Map<string, number>();

  constructor(ledger: Ledger, app: string) {
    this.#ledger = ledger;
    this.#app = app;
  }

  async open(tool: string, args: JsonObject): Promise<CallKey> {
    const id = valueDigest(this.#ledger.digestKey, [this.#app, tool, args]);
    const here = this.#told.get(id) ?? 0;
    const round = Math.max(here, toldIn(await this.#ledger.items.get(KIND, id))) + 1;
    return { text: `${tool}-${id}-${round}`, id, round };
  }

  /** Delivers a final outcome: from then on the same arguments are a new call. If it cannot be delivered, they are not. */
  async deliver({ id, round }: CallKey, send: () => Promise<void>): Promise<void> {
    const before = this.#told.get(id) ?? 0;
    this.#told.set(id, Math.max(before, round));
    try {
      await send();
    } catch (error) {
      if (before === 0) this.#told.delete(id);
      else this.#told.set(id, before);
      throw error;
    }
    await this.#store(id, round);
    if (this.#told.get(id) === round) this.#told.delete(id);
  }

  /** If several clients got the same outcome, the first moves the key on. */
  async #store(id: string, round: number): Promise<void> {
    for (;;) {
      const kept = await this.#ledger.items.get(KIND, id);
      if (toldIn(kept) >= round) return;
      const item = { kind: KIND, id, value: { told: round } };
      if (await this.#ledger.items.put(item, kept?.version ?? 0)) return;
    }
  }
}

function toldIn(kept: StoredItem | undefined): number {
  const told = isJsonObject(kept?.value) ? member(kept.value, "told") : undefined;
  return typeof told === "number" ? told : 0;
}

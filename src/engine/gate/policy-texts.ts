import type { Ledger } from "../ledger/index.ts";

const KIND = "policy";

/** Stores the texts of policies whose rules applied, by version. One write per version, none per call. */
export class PolicyTexts {
  readonly #ledger: Ledger;
  readonly #kept = new Set<string>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Undefined if it is stored: a promise would cost every call a turn of the event loop. */
  keep(version: string, text: string): Promise<void> | undefined {
    return this.#kept.has(version) ? undefined : this.#store(version, text);
  }

  async #store(version: string, text: string): Promise<void> {
    // Another process may have stored it first; the same version is the same text.
    if ((await this.#ledger.items.get(KIND, version)) === undefined)
      await this.#ledger.items.put({ kind: KIND, id: version, value: text }, 0);
    this.#kept.add(version);
  }
}

/** The text of a policy whose rule applied here once; undefined if it is not stored. */
export async function policyText(
  ledger: Pick<Ledger, "items">,
  version: string,
): Promise<string | undefined> {
  const stored = (await ledger.items.get(KIND, version))?.value;
  return typeof stored === "string" ? stored : undefined;
}

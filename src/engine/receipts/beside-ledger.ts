import { ledgerId } from "../archives/index.ts";
import { hasCheckpoint, parseHead } from "../audit/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Receipt } from "./format.ts";
import { readPlace } from "./place.ts";

/** Compares receipts with the ledger that they are of. `verify` checks what that ledger says. */
export class BesideLedger {
  readonly #ledger: Ledger;
  readonly #report: (where: string, what: string) => void;
  readonly #id: string;

  constructor(ledger: Ledger, report: (where: string, what: string) => void) {
    this.#ledger = ledger;
    this.#report = report;
    this.#id = ledgerId(ledger.digestKey);
  }

  /** Is it of this ledger? What is not is reported. */
  isOf({ ledger }: Receipt, where: string): boolean {
    if (ledger !== this.#id) this.#report(where, "it is a receipt of another ledger");
    return ledger === this.#id;
  }

  /** A receipt of this ledger that is signed as it should be. */
  async take({ head, commits, at }: Receipt, where: string): Promise<void> {
    const { k = 0, hash = "" } = parseHead(head) ?? {};
    if (await hasCheckpoint(this.#ledger, { k, hash, count: commits })) return;
    this.#report(
      where,
      `at ${at} the journal had checkpoint ${k} over ${commits} commits, and it does not have it now: it was truncated or rewritten, or the ledger was restored from an older backup, or lost commits in a failover`,
    );
  }

  /** The last receipt of a series went by. */
  async end(target: string, last: number): Promise<void> {
    const { place, version } = await readPlace(this.#ledger.items, target);
    // A copy of a ledger need not know.
    if (version === 0) return;
    if (place.number > last)
      this.#report(
        `target ${target}`,
        `the ledger published ${place.number} receipts, and the last one here is ${last}`,
      );
    // One may be there that is not noted yet.
    if (place.number + 1 < last)
      this.#report(
        `target ${target}`,
        `the ledger knows of ${place.number} receipts, and here are ${last}: it was set back to an earlier state`,
      );
  }
}

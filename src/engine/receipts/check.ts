import type { NamedLines } from "../archives/index.ts";
import { type Fault, parseHead } from "../audit/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { BesideLedger } from "./beside-ledger.ts";
import { type Receipt, signedText } from "./format.ts";
import { receiptLimits } from "./limits.ts";
import { parseReceipt } from "./parse-receipt.ts";
import { isSignedWith } from "./signing-key.ts";

const MOST_FAULTS = 100;

/** What receipts are checked with. */
export interface ReceiptCheck {
  /** The public key that they must be signed with. Absent: the one that the first of them names. */
  readonly key?: string;
  /** The journal there must still contain every head. */
  readonly ledger?: Ledger;
}

/** What a check of receipts found. */
export interface ReceiptVerification {
  readonly ok: boolean;
  readonly receipts: number;
  /** The newest of them that is signed as it should be. */
  readonly newest?: Pick<Receipt, "head" | "commits" | "at">;
  readonly faults: readonly Fault[];
  /** What this check cannot detect, as sentences. */
  readonly cannotDetect: readonly string[];
}

type Report = (where: string, what: string) => void;

/**
 * Checks receipts: each is signed, the series of each target has all its numbers and every receipt follows the one before
 * it, and the ledger, if it is given, still has what they say.
 */
export async function verifyReceipts(
  files: Iterable<NamedLines>,
  { key, ledger }: ReceiptCheck = {},
): Promise<ReceiptVerification> {
  const faults: Fault[] = [];
  const report: Report = (where, what) => {
    if (faults.length < MOST_FAULTS) faults.push({ where, what });
  };
  const walk = new ReceiptWalk(key, report, ledger && new BesideLedger(ledger, report));
  for (const { name, lines } of files) await walk.file(name, lines);
  await walk.end();
  const { receipts, newest } = walk;
  return {
    ok: faults.length === 0,
    receipts,
    ...(newest === undefined ? {} : { newest: sayingOf(newest) }),
    faults,
    cannotDetect: receiptLimits({ hasKey: key !== undefined, hasLedger: ledger !== undefined }),
  };
}

function sayingOf({ head, commits, at }: Receipt): Pick<Receipt, "head" | "commits" | "at"> {
  return { head, commits, at };
}

interface Series {
  last: Receipt | undefined;
  /** The signature of each number. */
  readonly signatures: Map<number, string>;
}

class ReceiptWalk {
  #key: string | undefined;
  readonly #report: Report;
  readonly #beside: BesideLedger | undefined;
  readonly #series = new Map<string, Series>();
  #ledger: string | undefined;
  receipts = 0;
  newest: Receipt | undefined;

  constructor(key: string | undefined, report: Report, beside: BesideLedger | undefined) {
    this.#key = key;
    this.#report = report;
    this.#beside = beside;
  }

  async file(name: string, lines: AsyncIterable<string>): Promise<void> {
    let number = 0;
    let isEmpty = true;
    try {
      for await (const line of lines) {
        number += 1;
        if (line === "") continue;
        isEmpty = false;
        await this.#take(line, `${name} line ${number}`);
      }
    } catch (error) {
      this.#report(name, `it cannot be read (${error instanceof Error ? error.message : String(error)})`);
    }
    if (isEmpty) this.#report(name, "it has no receipts");
  }

  async end(): Promise<void> {
    for (const [target, { last }] of this.#series)
      if (last !== undefined) await this.#beside?.end(target, last.number);
  }

  async #take(line: string, where: string): Promise<void> {
    const receipt = parseReceipt(line);
    if (receipt === undefined) return this.#report(where, "it is not a receipt");
    const series = this.#seriesOf(receipt);
    // Sent again after a crash.
    const isRepeated = series.signatures.get(receipt.number) === receipt.signature;
    const isSigned = this.#isSigned(receipt, where);
    if (isRepeated) return;
    this.receipts += 1;
    this.#follow(series, receipt, where);
    if (!isSigned || this.#beside?.isOf(receipt, where) === false) return;
    if (this.newest === undefined || this.newest.at <= receipt.at) this.newest = receipt;
    await this.#beside?.take(receipt, where);
  }

  #seriesOf({ target }: Receipt): Series {
    const known = this.#series.get(target);
    if (known !== undefined) return known;
    const series: Series = { last: undefined, signatures: new Map() };
    this.#series.set(target, series);
    return series;
  }

  #isSigned(receipt: Receipt, where: string): boolean {
    this.#key ??= receipt.key;
    this.#ledger ??= receipt.ledger;
    if (receipt.key !== this.#key) this.#report(where, "it is signed with another key");
    else if (!isSignedWith(receipt.key, signedText(receipt), receipt.signature))
      this.#report(where, "its signature does not fit: it was changed");
    else if (receipt.ledger !== this.#ledger)
      this.#report(where, `it is of the ledger ${receipt.ledger}, but others are of ${this.#ledger}`);
    else return true;
    return false;
  }

  /** It must be the next one of its series. */
  #follow(series: Series, receipt: Receipt, where: string): void {
    const { last, signatures } = series;
    const { number, follows } = receipt;
    const expected = (last?.number ?? 0) + 1;
    if (signatures.has(number)) this.#report(where, `another receipt ${number} is there too: ${SET_BACK}`);
    else if (number !== expected) this.#report(where, missing(expected, number));
    else if (follows !== (last?.signature ?? ""))
      this.#report(where, "it does not follow the receipt before it: one of the two was replaced");
    else if (last !== undefined && isBehind(receipt, last))
      this.#report(where, `its journal is older than that of the receipt before it: ${SET_BACK}`);
    signatures.set(number, receipt.signature);
    series.last = receipt;
  }
}

const SET_BACK =
  "between them the ledger was restored from a backup, or lost its newest commits in a failover, or was rewritten";

function missing(first: number, next: number): string {
  if (next < first) return `it stands after receipt ${first - 1}: lines were moved`;
  const last = next - 1;
  return first === last
    ? `receipt ${first} before it is missing`
    : `receipts ${first} to ${last} before it are missing`;
}

/** A journal only grows, and one checkpoint has one hash. */
function isBehind({ head, commits }: Receipt, last: Receipt): boolean {
  const [now, before] = [parseHead(head), parseHead(last.head)];
  if (now === undefined || before === undefined) return false;
  return now.k < before.k || commits < last.commits || (now.k === before.k && now.hash !== before.hash);
}

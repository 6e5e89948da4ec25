import { createHash } from "node:crypto";
import { diaryRows, type Fault } from "../audit/index.ts";
import { parseEntry, recordsOf } from "../journal/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CheckedFile } from "./check-file.ts";
import type { BesideLedger, SessionEnd } from "./check-files.ts";
import { ledgerId } from "./format.ts";

/**
 * Compares archive files with the ledger that they are of: the journal there must tell of each file by its seal, and still
 * have what it has. Reads the ledger and trusts none of it: `verify` checks what it says.
 */
export async function besideLedger(ledger: Ledger): Promise<BesideLedger> {
  const { told, pruned } = await toldFiles(ledger);
  const own = ledgerId(ledger.digestKey);
  const given = new Set<number>();
  const found = new EndSum();
  return {
    async onFile({ header, seal }, name, ends) {
      if (header.ledger !== own) return [{ where: name, what: "it is an archive of another ledger" }];
      given.add(header.file);
      const fault = faultOfFile({ header, seal }, told);
      const faults: Fault[] = fault === undefined ? [] : [{ where: name, what: fault }];
      for (const end of ends) {
        const what = await faultOfSession(ledger, end);
        if (what !== undefined) faults.push({ where: name, what });
        else if (await isPrunedFrom(ledger, end, header.file)) found.add(end);
      }
      return faults;
    },
    async onEnd() {
      const missing = [...told.keys()].filter((file) => !given.has(file));
      const faults: Fault[] = missing.map((file) => ({
        where: `file ${file}`,
        what: "the ledger has a record of it, but it is not among these files",
      }));
      // With a file missing there is nothing to compare.
      if (missing.length === 0 && found.value !== pruned.value)
        faults.push({ where: "archives", what: NOT_ARCHIVED });
      return faults;
    },
  };
}

const NOT_ARCHIVED =
  "the journal says of sessions whose records were pruned that these files have them, but they are missing or different there";

/** A sum over ends of chains, in whatever order: however many there are, it takes no memory. */
class EndSum {
  #sum = 0n;

  add({ key, chain }: SessionEnd): void {
    const digest = createHash("sha256")
      .update(JSON.stringify([key, chain.n, chain.hash]))
      .digest("hex");
    this.#sum = (this.#sum + BigInt(`0x${digest}`)) % 2n ** 256n;
  }

  get value(): bigint {
    return this.#sum;
  }
}

/** Did it leave the ledger because this file has it? */
async function isPrunedFrom(ledger: Ledger, { key, chain }: SessionEnd, file: number): Promise<boolean> {
  const { session } = (await ledger.load({ sessionKey: key })) ?? {};
  return session?.pruned?.file === file && session.chain.n === chain.n && session.chain.hash === chain.hash;
}

interface Told {
  /** The seal of every file that the journal tells of, by its number. */
  readonly told: ReadonlyMap<number, string>;
  /** Where the chains ended of those that were pruned and are in a file. */
  readonly pruned: EndSum;
}

async function toldFiles(ledger: Ledger): Promise<Told> {
  const told = new Map<number, string>();
  const pruned = new EndSum();
  for await (const row of diaryRows(ledger)) {
    for (const record of recordsOf(row)) {
      const entry = parseEntry(record);
      if (entry.state !== "readable") continue;
      if (entry.kind === "journal-archived") told.set(entry.body.file, entry.body.seal);
      if (entry.kind !== "journal-pruned") continue;
      for (const { key, file, ...chain } of entry.body.sessions)
        if (file !== undefined) pruned.add({ key, chain });
    }
  }
  return { told, pruned };
}

function faultOfFile(
  { header: { file, follows }, seal }: Pick<CheckedFile, "header" | "seal">,
  told: ReadonlyMap<number, string>,
): string | undefined {
  const known = told.get(file);
  if (known !== undefined)
    return known === seal ? undefined : "the ledger has a record of a different file with this number";
  // A process that died may have written a file and not yet said so.
  const isNext = follows === (told.get(file - 1) ?? "") && !told.has(file + 1);
  return isNext
    ? undefined
    : "the ledger has no record of it: the ledger lost records, or the file belongs to another ledger";
}

/** Does the ledger still have the last commit that an archive has of a session, unless it was pruned? */
export async function faultOfSession(
  ledger: Ledger,
  { key, chain }: SessionEnd,
): Promise<string | undefined> {
  const [row] = await ledger.journal.sessionRows(key, { after: chain.n - 1, limit: 1 });
  if (row?.n === chain.n && row.hash === chain.hash) return undefined;
  if (row === undefined && (await isPrunedTo(ledger, { key, chain }))) return undefined;
  return `session ${key}: commit ${chain.n} in the ledger is missing or different`;
}

/** Is the session pruned, and did it go on at least as far as this? What it had in between, later files have. */
async function isPrunedTo(ledger: Ledger, { key, chain }: SessionEnd): Promise<boolean> {
  const { session } = (await ledger.load({ sessionKey: key })) ?? {};
  if (session?.pruned === undefined) return false;
  return session.chain.n > chain.n || (session.chain.n === chain.n && session.chain.hash === chain.hash);
}

import type { Fault } from "../audit/index.ts";
import { RETENTION_DIARY } from "../holds/index.ts";
import { parseEntry } from "../journal/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CheckedFile } from "./check-file.ts";
import type { BesideLedger, SessionEnd } from "./check-files.ts";
import { ledgerId } from "./format.ts";

const PAGE = 500;

/**
 * Compares archive files with the ledger that they are of: the journal there must tell of each file by its seal, and still
 * have what it has. Reads the ledger and trusts none of it: `verify` checks what it says.
 */
export async function besideLedger(ledger: Ledger): Promise<BesideLedger> {
  const told = await toldFiles(ledger);
  const own = ledgerId(ledger.digestKey);
  const given = new Set<number>();
  return {
    async onFile({ header, seal }, name, ends) {
      if (header.ledger !== own) return [{ where: name, what: "it is an archive of another ledger" }];
      given.add(header.file);
      const fault = faultOfFile({ header, seal }, told);
      const faults: Fault[] = fault === undefined ? [] : [{ where: name, what: fault }];
      for (const end of ends) {
        const what = await faultOfSession(ledger, end);
        if (what !== undefined) faults.push({ where: name, what });
      }
      return faults;
    },
    async onEnd() {
      const missing = [...told.keys()].filter((file) => !given.has(file));
      return missing.map((file) => ({
        where: `file ${file}`,
        what: "the ledger has a record of it, but it is not among these files",
      }));
    },
  };
}

/** The seal of every file that the journal tells of, by its number. */
async function toldFiles(ledger: Ledger): Promise<ReadonlyMap<number, string>> {
  const told = new Map<number, string>();
  const diary = (await ledger.load({ session: RETENTION_DIARY }))?.session;
  if (diary === undefined) return told;
  for (let after = 0; ; ) {
    const page = await ledger.journal.sessionRecords(diary.key, { after, limit: PAGE });
    for (const record of page) {
      const entry = parseEntry(record);
      if (entry.state === "readable" && entry.kind === "journal-archived")
        told.set(entry.body.file, entry.body.seal);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return told;
    after = last.n;
  }
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

/** Does the ledger still have the last commit that an archive has of a session? */
export async function faultOfSession(
  ledger: Ledger,
  { key, chain }: SessionEnd,
): Promise<string | undefined> {
  const [row] = await ledger.journal.sessionRows(key, { after: chain.n - 1, limit: 1 });
  if (row?.n === chain.n && row.hash === chain.hash) return undefined;
  return `session ${key}: commit ${chain.n} in the ledger is missing or different`;
}

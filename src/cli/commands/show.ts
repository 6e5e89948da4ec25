import type { JournalKind, Ledger } from "../../engine/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { printCard, printWhatToDo } from "../display/card.ts";
import { isAbout, printRecord } from "../display/journal-line.ts";
import { EXIT } from "../exit-codes.ts";
import { type FoundCall, findCall } from "../find-confirmation.ts";
import type { Output } from "../output.ts";
import { toJson } from "../report.ts";
import { commandLineFor, localPrincipal, withEngine } from "../wiring.ts";

const PAGE = 500;
/** The conversation before the call, with a mark if it was imported, and by whom. */
const IMPORTED: JournalKind = "session-imported";

export const show: Command = {
  usage: "<id>",
  about:
    "<id> may be the last four or more characters of an id. Text behind a bar was written by others (the tool's " +
    "author, the model); characters that could hide or reorder text are made visible.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [
    { line: "show k3f9x2ab", says: "shows everything about it" },
    { line: "show k3f9x2ab --json", says: "the same, as JSON" },
  ],
  run(invocation) {
    const [given = ""] = invocation.words;
    return withEngine(invocation, async ({ ledger }) => {
      const found = await findCall(ledger, given);
      const { output } = invocation;
      if (invocation.flags.has("json")) {
        output.json(toJson(found));
        return EXIT.ok;
      }
      const owner = found.call.owner === undefined ? undefined : await ledger.owners.get(found.call.owner);
      printCard(output, found, owner);
      await printHistory(output, ledger, found);
      printWhatToDo(output, found, {
        viewer: localPrincipal(),
        commandLine: commandLineFor(invocation),
      });
      return EXIT.ok;
    });
  },
};

/** The journal records of this call, oldest first. */
async function printHistory(output: Output, ledger: Ledger, { call, session }: FoundCall): Promise<void> {
  output.line();
  output.line(output.style("bold", "history"));
  for (let after = 0; ; ) {
    const page = await ledger.journal.sessionRecords(session.key, { after, limit: PAGE });
    for (const record of page)
      if (isAbout(record, call.id) || record.kind === IMPORTED) printRecord(output, record, [call.tool]);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.n;
  }
}

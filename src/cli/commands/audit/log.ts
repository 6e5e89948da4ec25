import { findSessionKey, type JournalRecord, type Ledger } from "../../../engine/index.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { printRecord, recordBody } from "../../display/journal-line.ts";
import { EXIT } from "../../exit-codes.ts";
import { withEngine } from "../../wiring.ts";

const PAGE = 500;

export const auditLog: Command = {
  usage: "[--session NAME] [--after N] [--limit N]",
  about:
    "Prints one line per record: when, what, which tool, who. --session takes a session key, as --json shows it, or " +
    "app/user/id. With --json each line is one record, so a long journal can be read as a stream.",
  flags: {
    session: { type: "string", value: "NAME", help: "only this session: its key, or app/user/id" },
    after: { type: "string", value: "N", help: "start after the record with this number" },
    limit: { type: "string", value: "N", help: "print at most this many records" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "audit log", says: "everything" },
    { line: "audit log --session gate:refund/gate/order-17", says: "one gated call" },
    { line: "audit log --json --after 1200", says: "new records, as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const limit = flags.number("limit", 1) ?? Number.POSITIVE_INFINITY;
    return withEngine(invocation, async ({ ledger }) => {
      let printed = 0;
      for await (const record of recordsOf(ledger, invocation)) {
        if (printed >= limit) break;
        printed += 1;
        if (flags.has("json")) output.jsonLine({ ...record, body: recordBody(record) });
        else printRecord(output, record);
      }
      if (printed === 0 && !flags.has("json")) output.line("No records match.");
      return EXIT.ok;
    });
  },
};

async function* recordsOf(ledger: Ledger, { flags }: Invocation): AsyncGenerator<JournalRecord> {
  const after = flags.number("after", 0) ?? 0;
  const name = flags.text("session");
  const stream = name === undefined ? undefined : await findSessionKey(ledger, name);
  let last = stream === undefined ? after : 0;
  for (;;) {
    const page =
      stream === undefined
        ? await ledger.journal.records({ after: last, limit: PAGE })
        : await ledger.journal.sessionRecords(stream, { after: last, limit: PAGE });
    yield* page.filter(({ seq }) => seq > after);
    const newest = page.at(-1);
    if (newest === undefined || page.length < PAGE) return;
    last = stream === undefined ? newest.seq : newest.n;
  }
}

import { acknowledgeNotice, listNotices, openNotices, type StoredNotice } from "../../engine/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { absoluteTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";
import { localPrincipal, withEngine } from "../wiring.ts";

export const noticesList: Command = {
  usage: "[--all]",
  about:
    "After a failover or a database crash, each process reports the commits it knew of and that the ledger no longer " +
    "has. Lists the reports that nobody has acknowledged: when, which process, which sessions and calls.",
  flags: {
    all: { type: "boolean", help: "include acknowledged notices" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "notices list", says: "the open notices" },
    { line: "notices list --all --json", says: "all notices, as JSON" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const items = flags.has("all") ? await listNotices(ledger.items) : await openNotices(ledger.items);
      if (flags.has("json")) output.json({ items: items.map((notice) => ({ ...notice })) });
      else printAll(output, items);
      return EXIT.ok;
    });
  },
};

export const noticesAcknowledge: Command = {
  usage: "<id>",
  about:
    "<id> is the id that `notices list` prints. The inbox and `doctor` stop showing the notice. Your name is stored with the " +
    "notice. Acknowledging twice is harmless; the first name stays.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "notices acknowledge 01kdvdna00mr4b3y6tv1m675hw", says: "marks it as checked" }],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const done = await acknowledgeNotice(ledger.items, id, { by: localPrincipal().id, at: Date.now() });
      if (flags.has("json")) output.json({ ...done });
      else output.line(`Acknowledged: ${inert(done.id)}, by ${inert(done.acknowledged?.by ?? "")}.`);
      return EXIT.ok;
    });
  },
};

function printAll(output: Output, notices: readonly StoredNotice[]): void {
  if (notices.length === 0) return output.line("There are no notices.");
  for (const notice of notices) printOne(output, notice);
  output.line();
  output.prose("`countersign notices acknowledge <id>` hides one after you have checked it.");
}

function printOne(output: Output, notice: StoredNotice): void {
  const { id, kind, at, host, pid, message, count, details, acknowledged } = notice;
  const times = count === 1 ? [] : [`${count} times`];
  output.line([output.style("yellow", inert(id)), output.style("bold", kind), ...times].join("  "));
  output.prose(`${absoluteTime(Date.parse(at))}, reported by process ${pid} on ${inert(host)}`, "    ");
  output.prose(inert(message), "    ");
  for (const one of details) output.quote(JSON.stringify(one), "    ");
  if (details.length < count) output.prose(`and ${count - details.length} more`, "    ");
  if (acknowledged === undefined) return;
  const when = absoluteTime(Date.parse(acknowledged.at));
  output.prose(`acknowledged by ${inert(acknowledged.by)}, ${when}`, "    ");
}

import { acknowledgeNotice, type KeptNotice, listNotices, openNotices } from "../../engine/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { absoluteTime } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { inert, type Output } from "../output.ts";
import { localPrincipal, withEngine } from "../wiring.ts";

export const noticesList: Command = {
  name: "notices list",
  summary: "what the ledger was noticed to have lost",
  usage: "[--all]",
  about:
    "After a failover or a crash of the database, processes say which commits they knew of and the ledger no longer " +
    "has. Lists what they said and nobody has acknowledged: when, which process, about which sessions and calls.",
  flags: {
    all: { type: "boolean", help: "also what was acknowledged, and by whom" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "notices list", says: "what to look at" },
    { line: "notices list --all --json", says: "for a program" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const items = flags.has("all") ? await listNotices(ledger) : await openNotices(ledger);
      if (flags.has("json")) output.json({ items: items.map((notice) => ({ ...notice })) });
      else printAll(output, items);
      return EXIT.ok;
    });
  },
};

export const noticesAcknowledge: Command = {
  name: "notices acknowledge",
  summary: "hide a notice from everybody, once you have looked",
  usage: "<id>",
  about:
    "<id> is what `notices list` prints. The inbox and `doctor` do not show it any more. Who did it is kept with the " +
    "notice; the first stands.",
  words: { names: ["<id>"] },
  flags: LEDGER_FLAG,
  examples: [{ line: "notices acknowledge 01kdvdna00mr4b3y6tv1m675hw", says: "nobody need look any more" }],
  run(invocation) {
    const [id = ""] = invocation.words;
    const { output, flags } = invocation;
    return withEngine(invocation, async ({ ledger }) => {
      const done = await acknowledgeNotice(ledger, id, { by: localPrincipal().id, at: Date.now() });
      if (flags.has("json")) output.json({ ...done });
      else output.line(`Acknowledged: ${inert(done.id)}, by ${inert(done.acknowledged?.by ?? "")}.`);
      return EXIT.ok;
    });
  },
};

function printAll(output: Output, notices: readonly KeptNotice[]): void {
  if (notices.length === 0) return output.line("There is no notice.");
  for (const notice of notices) printOne(output, notice);
  output.line();
  output.prose("`countersign notices acknowledge <id>` hides one, once you have looked.");
}

function printOne(output: Output, notice: KeptNotice): void {
  const { id, kind, at, host, pid, message, count, details, acknowledged } = notice;
  const times = count === 1 ? [] : [`${count} times`];
  output.line([output.style("yellow", inert(id)), output.style("bold", kind), ...times].join("  "));
  output.prose(`${absoluteTime(Date.parse(at))}, noticed by process ${pid} of ${inert(host)}`, "    ");
  output.prose(inert(message), "    ");
  for (const one of details) output.quote(JSON.stringify(one), "    ");
  if (details.length < count) output.prose(`and ${count - details.length} more`, "    ");
  if (acknowledged === undefined) return;
  const when = absoluteTime(Date.parse(acknowledged.at));
  output.prose(`acknowledged by ${inert(acknowledged.by)}, ${when}`, "    ");
}

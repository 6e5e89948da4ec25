import type { Engine } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type Command, LEDGER_FLAG } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { EXIT } from "../exit-codes.ts";
import { Progress } from "../progress.ts";
import { withEngine } from "../wiring.ts";

const MOST_COUNTED = 100_000;

export const prune: Command = {
  usage: "--older-than AGE [--dry-run]",
  about:
    "Erases the events, arguments, results and journal bodies of sessions in which nothing is open and nothing has " +
    "happened for the given time. Who decided what and when, and all digests, are kept; `audit verify` still passes. " +
    "Sessions under a legal hold are left, and the command then fails. You cannot undo this.",
  flags: {
    "older-than": { type: "string", value: "AGE", help: "for example 90s, 12h, 30d or 2w (required)" },
    "dry-run": { type: "boolean", help: "only count the sessions, and change nothing" },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "prune --older-than 30d --dry-run", says: "counts the sessions" },
    { line: "prune --older-than 30d", says: "erases them" },
  ],
  run(invocation) {
    const { output, flags } = invocation;
    const age = flags.text("older-than");
    if (age === undefined) {
      throw new CountersignError("malformed-request", "`prune` needs --older-than AGE, for example 30d.", {
        details: { field: "older-than" },
      });
    }
    const olderThanMs = parseDuration(age, "older-than");
    const dryRun = flags.has("dry-run");
    return withEngine(invocation, async (engine) => {
      const progress = new Progress();
      const onPruned = (count: number): void => progress.show(`${count} sessions erased …`);
      const held: string[] = [];
      const onHeld = (_session: string, why: string): void => void held.push(why);
      const sessions = dryRun
        ? await countIdle(engine, Date.now() - olderThanMs)
        : await engine.prune(olderThanMs, { onPruned, onHeld }).finally(() => progress.end());
      const number = dryRun && sessions === MOST_COUNTED ? `${sessions} or more` : String(sessions);
      const noun = sessions === 1 ? "session" : "sessions";
      if (flags.has("json")) output.json({ sessions, dryRun });
      else
        output.line(
          dryRun
            ? `Would erase the content of ${number} ${noun}.`
            : `Erased the content of ${number} ${noun}.`,
        );
      if (held.length > 0) throw leftUnderHold(held);
      return EXIT.ok;
    });
  },
};

function leftUnderHold([first = "", ...others]: readonly string[]): CountersignError {
  const more = others.length === 0 ? "" : ` (and ${others.length} more sessions under a hold)`;
  return new CountersignError("under-hold", `${first}${more}`);
}

/** Counts no further than `MOST_COUNTED`. */
async function countIdle({ ledger }: Engine, idleSince: number): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; count < MOST_COUNTED; ) {
    const page = { limit: MOST_COUNTED - count, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await ledger.sessions({ idleSince }, page);
    count += items.length;
    if (next === undefined) break;
    cursor = next;
  }
  return count;
}

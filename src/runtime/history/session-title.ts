import type { Ledger } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { secretsIn } from "./secrets-in.ts";

/** How far a session's first words, and the calls whose secrets they must not tell, are looked for. */
const LOOK_AHEAD = { limit: 20, bytes: 100_000 };
const LONGEST_READ = 2_000;
const LONGEST_TITLE = 80;

/**
 * The first words that the user said in a session, on one line and without the values of secrets. They are read from its
 * events whenever they are wanted: once those are erased, so is the title.
 */
export async function sessionTitle(
  ledger: Pick<Ledger, "events" | "calls">,
  session: string,
): Promise<string | undefined> {
  const events = await ledger.events(session, LOOK_AHEAD);
  const words = events.map(saidIn).find((text) => text !== "");
  if (words === undefined) return undefined;
  const shown = hideSecrets(words, await secretsIn(ledger, session, events), LONGEST_READ);
  const letters = Array.from(shown.replace(/\s+/g, " ").trim());
  const title = letters.slice(0, LONGEST_TITLE).join("").trimEnd();
  return letters.length > LONGEST_TITLE || words.length > LONGEST_READ ? `${title}…` : title;
}

// In a nested run the user is the calling agent.
function saidIn({ author, branch, content }: StoredEvent): string {
  if (author !== "user" || branch !== undefined) return "";
  return (content?.parts ?? [])
    .map(({ text }) => text ?? "")
    .join(" ")
    .trim();
}

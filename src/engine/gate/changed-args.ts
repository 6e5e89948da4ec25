import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { errorText, type ParseOutcome, sameJson } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";

type Parse<Args> = (args: JsonObject) => ParseOutcome<Args> | Promise<ParseOutcome<Args>>;

/**
 * Parses arguments that a person sent in place of those they were shown, so that what is shown is still what runs. If
 * the card shows the input, the input is stored and parsed when the function runs. If the card shows parsed arguments,
 * they are parsed a second time. If the schema then changes a field that the person did not change, or changes its own
 * output, the arguments are refused with that field's name, because it is not clear which value was meant.
 */
export async function parseChanged<Args>(
  { args: shown, unparsed }: Pick<CallRecord, "args" | "unparsed">,
  sent: JsonObject,
  parse: Parse<Args>,
): Promise<ParseOutcome<Args>> {
  const parsed = await attempt(parse, sent);
  if (!parsed.ok) return parsed;
  if (unparsed) return { ...parsed, args: sent, unparsed };
  if (parsed.unparsed) {
    const field = Object.keys(sent).find((name) => !sameJson(member(sent, name), member(shown, name)));
    return misfit(field, "the parsed value is not JSON, so it cannot be shown");
  }
  const moved = firstMoved(shown, sent, parsed.args);
  if (moved !== undefined) return misfit(moved, UNSTEADY);
  const again = await attempt(parse, parsed.args);
  if (!again.ok || again.unparsed) return misfit(again.ok ? "" : again.field, UNSTEADY);
  const unsteady = firstMoved(parsed.args, parsed.args, again.args);
  return unsteady === undefined ? parsed : misfit(unsteady, UNSTEADY);
}

const UNSTEADY =
  "the tool's schema changes values that it has already parsed, so they cannot be changed here";

function misfit(field = "", message: string): Extract<ParseOutcome<never>, { ok: false }> {
  return { ok: false, field, message };
}

// The schema's own code may throw; that is not an internal error.
async function attempt<Args>(parse: Parse<Args>, args: JsonObject): Promise<ParseOutcome<Args>> {
  try {
    return await parse(args);
  } catch (error) {
    return misfit("", `the tool's schema failed: ${errorText(error)}`);
  }
}

/** The first member that was sent unchanged and is different after parsing. */
function firstMoved(
  shown: JsonValue | undefined,
  sent: JsonValue | undefined,
  got: JsonValue | undefined,
): string | undefined {
  if (!isJsonObject(shown) || !isJsonObject(sent) || !isJsonObject(got)) {
    return sameJson(shown, sent) && !sameJson(sent, got) ? "" : undefined;
  }
  for (const name of new Set([shown, sent, got].flatMap((object) => Object.keys(object)))) {
    const below = firstMoved(member(shown, name), member(sent, name), member(got, name));
    if (below !== undefined) return below === "" ? name : `${name}.${below}`;
  }
  return undefined;
}

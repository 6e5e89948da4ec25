import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { copyJson, errorText, isThenable, type ParseOutcome } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { GatedTool } from "./gated-tool.ts";

type Parser = Pick<GatedTool, "parse">;

/** Parses arguments. A schema is the author's code: if it throws, the arguments are not accepted. */
export function parseArguments(
  tool: Parser,
  args: JsonObject,
): ParseOutcome<unknown> | Promise<ParseOutcome<unknown>> {
  try {
    const parsed = tool.parse(args);
    return isThenable<ParseOutcome<unknown>>(parsed) ? Promise.resolve(parsed).catch(unparsable) : parsed;
  } catch (error) {
    return unparsable(error);
  }
}

function unparsable(error: unknown): ParseOutcome<unknown> {
  return { ok: false, field: "", message: errorText(error) };
}

/** What the function gets, a copy of its own, or a promise of it. JSON is not parsed again: otherwise a default could change after the approval. */
export function restoreArguments(tool: Parser, call: CallRecord): unknown {
  return call.unparsed ? parseAgain(tool, call) : copyJson(call.args);
}

async function parseAgain(tool: Parser, call: CallRecord): Promise<unknown> {
  const parsed = await tool.parse(call.args);
  if (parsed.ok) return parsed.value;
  throw new CountersignError("arguments-mismatch", `The stored arguments no longer parse: ${parsed.message}`);
}

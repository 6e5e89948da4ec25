import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { copyJson, errorText, type ParseOutcome } from "../common/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { GatedTool } from "./gated-tool.ts";

type Parser = Pick<GatedTool, "parse">;

/** Parses arguments. A schema is its author's code: one that fails has not accepted anything. */
export async function parseArguments(tool: Parser, args: JsonObject): Promise<ParseOutcome<unknown>> {
  try {
    return await tool.parse(args);
  } catch (error) {
    return { ok: false, field: "", message: errorText(error) };
  }
}

/** What the body gets, which may change it as it likes. What was shown is what runs: JSON is not parsed again, or a default could change under an approval. */
export async function restoreArguments(tool: Parser, call: CallRecord): Promise<unknown> {
  if (!call.unparsed) return copyJson(call.args);
  const parsed = await tool.parse(call.args);
  if (parsed.ok) return parsed.value;
  throw new CountersignError("arguments-mismatch", `The stored arguments no longer parse: ${parsed.message}`);
}

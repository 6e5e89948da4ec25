import type { JsonValue } from "../../protocol/index.ts";
import { findTool } from "../host.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "./ask.ts";
import { judgePayload, type PayloadOutcome } from "./payload.ts";

/**
 * Checks a payload against the form that was shown and, if this process has the tool, against the tool's own schema,
 * which may be stricter. Otherwise that check happens when the call starts: then the call fails without running.
 */
export async function judgePayloadHere(
  parts: EngineParts,
  { confirmation, call }: AskedCall,
  sent: JsonValue | undefined,
): Promise<PayloadOutcome> {
  const { shown } = confirmation;
  const judged = judgePayload(shown, call, sent);
  if (!judged.ok || judged.payload === undefined || shown.schema === undefined || shown.askedByTool === true)
    return judged;
  const found = await findTool(parts, call);
  // If the tool changed since, that is found when the call is cleared.
  if (!found.here || found.tool?.definitionDigest !== call.definitionDigest) return judged;
  const read = await found.tool.readPayload?.(judged.payload);
  return read?.ok === false ? read : judged;
}

import type { JsonValue } from "../../protocol/index.ts";
import { findTool } from "../host.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "./ask.ts";
import { judgePayload, type PayloadOutcome } from "./payload.ts";

/**
 * Judges a payload by the form that was shown and, where this process has the tool, by the tool's own schema too, which
 * may ask for more than a form can say. Elsewhere that waits until the call is entered: it then fails, and has not run.
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
  const found = await findTool(parts.hosts, call);
  // One that changed since is not what was shown: that is found out, and told, when the call is cleared.
  if (!found.here || found.tool?.definitionDigest !== call.definitionDigest) return judged;
  const read = await found.tool.readPayload?.(judged.payload);
  return read?.ok === false ? read : judged;
}

import { type Ledger, redact } from "../../engine/index.ts";
import type { Event, Part } from "../../protocol/index.ts";

/** The event without the arguments that a tool declared secret; the model's own event holds them. */
export async function redactCalls(ledger: Ledger, sessionKey: string, event: Event): Promise<Event> {
  const { content } = event;
  const ids = (content?.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []);
  if (content === undefined || ids.length === 0) return event;
  const calls = await ledger.calls(ids.map((id) => `${sessionKey}.${id}`));
  const secrets = new Map(calls.map((call) => [call.wireId, call.secrets]));
  const parts = content.parts.map((part) => redactPart(part, secrets));
  return { ...event, content: { ...content, parts } };
}

function redactPart(part: Part, secrets: ReadonlyMap<string, readonly string[]>): Part {
  const { functionCall } = part;
  if (functionCall === undefined) return part;
  const args = redact(functionCall.args, secrets.get(functionCall.id ?? "") ?? []);
  return { ...part, functionCall: { ...functionCall, args } };
}

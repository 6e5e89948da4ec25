import { type Ledger, redact } from "../../engine/index.ts";
import type { Event, Part } from "../../protocol/index.ts";

/** Events as people may see them: arguments that a tool declared secret are not in the model's calls either. */
export async function redactCalls<Told extends Pick<Event, "content">>(
  ledger: Ledger,
  sessionKey: string,
  events: readonly Told[],
): Promise<readonly Told[]> {
  const ids = events.flatMap(({ content }) => (content?.parts ?? []).flatMap(callIdOf));
  if (ids.length === 0) return events;
  const calls = await ledger.calls(ids.map((id) => `${sessionKey}.${id}`));
  const secrets = new Map(calls.map((call) => [call.wireId, call.secrets]));
  if (calls.every((call) => call.secrets.length === 0)) return events;
  return events.map((event) => {
    if (event.content === undefined) return event;
    const parts = event.content.parts.map((part) => redactPart(part, secrets));
    return { ...event, content: { ...event.content, parts } };
  });
}

function callIdOf({ functionCall }: Part): readonly string[] {
  return functionCall?.id === undefined ? [] : [functionCall.id];
}

function redactPart(part: Part, secrets: ReadonlyMap<string, readonly string[]>): Part {
  const { functionCall } = part;
  const hidden = secrets.get(functionCall?.id ?? "") ?? [];
  if (functionCall === undefined || hidden.length === 0) return part;
  return { ...part, functionCall: { ...functionCall, args: redact(functionCall.args, hidden) } };
}

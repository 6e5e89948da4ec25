import type { Content, FunctionCall, Part, ToolConfirmation } from "../content.ts";
import type { ConfirmationAsk, Event, StoredEvent } from "../event.ts";
import { importedMetadata } from "../imported.ts";

/** An event's confirmation messages in one wire format. */
export interface WireParts {
  readonly parts: readonly Part[];
  readonly longRunningToolIds: readonly string[];
  readonly skipSummarization?: boolean;
}

/**
 * The event as clients see it: what was stored, the given parts after its own, and the empty maps that
 * Google's server writes on every event. The time stays in milliseconds.
 */
export function toWireEvent(stored: StoredEvent, wire: WireParts): Event {
  const { asks = [], closings = [], imported, actions, content, ...envelope } = stored;
  const message = withParts(content, wire.parts);
  return {
    ...envelope,
    // Clients expect the answer from the user, even if a deadline closed the question.
    author: closings.length > 0 && asks.length === 0 ? "user" : stored.author,
    ...(imported && { customMetadata: importedMetadata(stored["customMetadata"], imported) }),
    ...(message && { content: message }),
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      ...actions,
      requestedToolConfirmations: {
        ...actions?.requestedToolConfirmations,
        ...Object.fromEntries(asks.map((ask) => [ask.call.id, toolConfirmationOf(ask)])),
      },
      ...(wire.skipSummarization && { skipSummarization: true }),
    },
    longRunningToolIds: wire.longRunningToolIds,
  };
}

/** The question as a `toolConfirmation`: never confirmed, the payload only where one was given. */
export function toolConfirmationOf(ask: ConfirmationAsk): ToolConfirmation {
  return { hint: ask.hint, confirmed: false, ...(ask.payload !== undefined && { payload: ask.payload }) };
}

/** The call that is asked about, with the members that the wire knows and no others. */
export function callOf(ask: ConfirmationAsk): FunctionCall {
  return { id: ask.call.id, name: ask.call.name, args: ask.call.args };
}

function withParts(content: Content | undefined, parts: readonly Part[]): Content | undefined {
  if (parts.length === 0) return content;
  return { ...content, role: "user", parts: [...(content?.parts ?? []), ...parts] };
}

import type { AdkContent, AdkEvent, AdkPart } from "./host-types.ts";

/** The name under which the ADK asks, and under which its front ends answer. */
export const REQUEST_CONFIRMATION = "adk_request_confirmation";

/** A call of a tool: which event of the session has it, and its id there. */
export interface CallPlace {
  readonly event: string;
  readonly callId: string;
}

/** A request for confirmation that has no answer yet. */
export interface OpenRequest extends CallPlace {
  /** The id that an answer names. */
  readonly id: string;
}

/** Where the agent made this call, the last time if the id was used before. */
export function placeOf(events: readonly AdkEvent[], callId: string): CallPlace | undefined {
  const made = events.findLast(
    (event) =>
      event.author !== "user" &&
      parts(event).some(
        ({ functionCall }) => functionCall?.id === callId && functionCall.name !== REQUEST_CONFIRMATION,
      ),
  );
  return made && { event: made.id, callId };
}

/** The requests that the session waits for: none, once the user has said something else. */
export function openRequests(events: readonly AdkEvent[]): readonly OpenRequest[] {
  const start = events.findLastIndex((event) => event.author === "user" && !isAnswer(event.content));
  return events.slice(start + 1).flatMap((event, index) => {
    if (event.author === "user") return [];
    const place = start + 1 + index;
    return parts(event).flatMap(({ functionCall }): readonly OpenRequest[] => {
      if (functionCall?.name !== REQUEST_CONFIRMATION || functionCall.id === undefined) return [];
      const callId = pinnedId(functionCall.args?.["originalFunctionCall"]);
      if (callId === undefined || isAnswered(events.slice(place + 1), callId)) return [];
      const made = placeOf(events.slice(0, place), callId);
      return made === undefined ? [] : [{ id: functionCall.id, ...made }];
    });
  });
}

/** The requests that the user's last message answers. */
export function lastAnswered(events: readonly AdkEvent[]): readonly string[] {
  return answeredIn(events.findLast(({ author }) => author === "user")?.content);
}

function answeredIn(content: AdkContent | undefined): readonly string[] {
  return (content?.parts ?? []).flatMap(({ functionResponse }): readonly string[] => {
    const { id, name, response } = functionResponse ?? {};
    return name !== REQUEST_CONFIRMATION || id === undefined || response === undefined ? [] : [id];
  });
}

function isAnswer(content: AdkContent | undefined): boolean {
  const given = content?.parts ?? [];
  return given.length > 0 && answeredIn(content).length === given.length;
}

function isAnswered(events: readonly AdkEvent[], callId: string): boolean {
  return events.some(
    (event) =>
      event.author !== "user" && parts(event).some(({ functionResponse }) => functionResponse?.id === callId),
  );
}

function pinnedId(call: unknown): string | undefined {
  const id = typeof call === "object" && call !== null && "id" in call ? call.id : undefined;
  return typeof id === "string" ? id : undefined;
}

function parts({ content }: AdkEvent): readonly AdkPart[] {
  return content?.parts ?? [];
}

import { importedBy } from "countersign/protocol";
import type { Event, JsonObject } from "../../api/types.ts";

const CONFIRMATION = "adk_request_confirmation";

/** One item of a conversation. */
export type TalkItem = TextItem | ToolItem | FaultItem;

/** Something that was said. */
export interface TextItem {
  readonly kind: "text";
  readonly key: string;
  readonly from: "user" | "agent";
  readonly author: string;
  readonly nested: boolean;
  readonly text: string;
  /** Imported by somebody. */
  readonly importedBy?: string;
}

interface FaultItem {
  readonly kind: "fault";
  readonly key: string;
  readonly text: string;
}

/** A tool call, wherever its answer came later. */
export interface ToolItem {
  readonly kind: "tool";
  readonly key: string;
  readonly callId: string;
  /** Calls of one event were made at once. */
  readonly turn: string;
  readonly author: string;
  readonly nested: boolean;
  readonly tool: string;
  readonly args: JsonObject;
  readonly result?: JsonObject;
  /** Imported by somebody, with its result. */
  readonly importedBy?: string;
}

/** What is shown of a session's events. Questions and decisions belong to their call, and are never messages. */
export function toTalk(events: readonly Event[]): readonly TalkItem[] {
  // Imported answers belong only to imported calls.
  const imported = resultsIn(events.filter((event) => importedBy(event) !== undefined));
  const made = resultsIn(events.filter((event) => importedBy(event) === undefined));
  return events.flatMap((event) => {
    const importer = importedBy(event);
    const results = importer === undefined ? made : imported;
    const items = [...textOf(event), ...toolsOf(event, results)];
    if (importer === undefined) return [...items, ...faultOf(event)];
    return items.map((item) => ({ ...item, key: `imported-${item.key}`, importedBy: importer }));
  });
}

function resultsIn(events: readonly Event[]): ReadonlyMap<string, JsonObject> {
  const results = new Map<string, JsonObject>();
  for (const { content } of events) {
    for (const { functionResponse } of content?.parts ?? []) {
      if (functionResponse?.id === undefined || functionResponse.name === CONFIRMATION) continue;
      results.set(functionResponse.id, functionResponse.response);
    }
  }
  return results;
}

function textOf({ id, author, branch, content }: Event): readonly TextItem[] {
  const text = (content?.parts ?? [])
    .map((part) => (part.thought === true ? "" : (part.text ?? "")))
    .join("");
  if (text === "") return [];
  if (branch === undefined) {
    return [
      { kind: "text", key: id, from: author === "user" ? "user" : "agent", author, nested: false, text },
    ];
  }
  // In a nested run the user is the calling agent.
  const speaker = author === "user" ? `asked of ${branch.split(".").at(-1) ?? branch}` : author;
  return [{ kind: "text", key: id, from: "agent", author: speaker, nested: true, text }];
}

function toolsOf(event: Event, results: ReadonlyMap<string, JsonObject>): readonly ToolItem[] {
  const calls = (event.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
  return calls
    .filter(({ name }) => name !== CONFIRMATION)
    .map(({ id, name, args }, index) => {
      const callId = id ?? `${event.id}-${index}`;
      const result = results.get(callId);
      return {
        kind: "tool",
        key: callId,
        callId,
        turn: event.id,
        author: event.author,
        nested: event.branch !== undefined,
        tool: name,
        args,
        ...(result === undefined ? {} : { result }),
      };
    });
}

function faultOf({ id, errorCode, errorMessage }: Event): readonly FaultItem[] {
  const text = errorMessage ?? errorCode;
  return text === undefined ? [] : [{ kind: "fault", key: `${id}-fault`, text }];
}

/**
 * Is a model or a tool running, according to the events? While a question is open, only if the user has sent text
 * since.
 */
export function isAtWork(events: readonly Event[], isPaused: boolean): boolean {
  const last = events.findLast(({ partial }) => partial !== true);
  if (last === undefined || last.errorCode !== undefined) return false;
  return isPaused ? isSaidToModel(last) : isUnfinished(last);
}

function isSaidToModel({ author, branch, content }: Event): boolean {
  return author === "user" && branch === undefined && (content?.parts ?? []).some(({ text }) => text);
}

function isUnfinished(last: Event): boolean {
  const parts = last.content?.parts ?? [];
  const speaks = last.author !== "user" && parts.some(({ text }) => text !== undefined && text !== "");
  const calls = parts.some(({ functionCall }) => functionCall !== undefined);
  return !speaks || calls || last.branch !== undefined;
}

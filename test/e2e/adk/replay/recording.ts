import { readdirSync, readFileSync } from "node:fs";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../../src/protocol/index.ts";

/** One recorded request. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly json?: JsonObject;
  readonly rawBody?: string;
}

/** What came, or is to come, of a request: as far as it is compared, and in one form for both sides. */
export interface Outcome {
  readonly status: number;
  /** `sse` is a stream of events, `json` a body, `text` anything else. */
  readonly kind: "json" | "sse" | "text";
  readonly body: unknown;
  /** What says which pages of other origins may read the answer. */
  readonly cors: { readonly [header: string]: string };
  /** What the model was given meanwhile; not told where the recording does not say. */
  readonly modelSaw?: unknown;
}

/** One step of a recording. */
export interface Step {
  readonly file: string;
  readonly name: string;
  readonly request: RecordedRequest;
  readonly recorded: Outcome;
}

interface RecordedStep {
  readonly name: string;
  readonly request: RecordedRequest;
  readonly response: {
    readonly status: number;
    readonly headers?: { readonly [name: string]: string };
    readonly json?: JsonValue;
    readonly events?: readonly JsonValue[];
    readonly rawBody?: string;
  };
  readonly modelSaw?: readonly JsonValue[];
}

const FOLDER = new URL("../../../fixtures/adk/", import.meta.url);

/** The files of recordings, in their order. The reference's A2A surface is not one of these routes. */
export const FILES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json") && !name.startsWith("16-"))
  .toSorted();

/** The steps of one file. */
export function stepsOf(file: string): readonly Step[] {
  const { steps } = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as {
    readonly steps: readonly RecordedStep[];
  };
  return steps.map(({ name, request, response, modelSaw }) => ({
    file,
    name,
    request,
    recorded: {
      ...bodyOf(response),
      status: response.status,
      cors: corsIn(new Headers(response.headers)),
      ...(modelSaw === undefined ? {} : { modelSaw }),
    },
  }));
}

function bodyOf({
  json,
  events,
  rawBody = "",
  headers = {},
}: RecordedStep["response"]): Pick<Outcome, "kind" | "body"> {
  if (json !== undefined) return { kind: "json", body: json };
  if (events !== undefined) return { kind: "sse", body: events };
  const type = headers["content-type"] ?? "";
  if (type.startsWith("text/event-stream")) return { kind: "sse", body: [] };
  if (type.startsWith("application/json")) return { kind: "json", body: JSON.parse(rawBody) };
  return { kind: "text", body: rawBody };
}

/** The headers that tell other origins' pages what they may read. */
export function corsIn(headers: Headers): { readonly [header: string]: string } {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-allow-")));
}

/** An event as it stands in a recording. */
export interface RecordedEvent extends JsonObject {
  readonly id: string;
  readonly invocationId: string;
  readonly longRunningToolIds: readonly string[];
}

/** All events in a body: of a run, of a stream or of a session. */
export function eventsIn(body: unknown): readonly RecordedEvent[] {
  const list = isJsonArray(body) ? body : isJsonObject(body) ? body["events"] : [];
  const events = isJsonArray(list) ? list.filter(isJsonObject).filter((one) => "invocationId" in one) : [];
  return events as readonly JsonObject[] as readonly RecordedEvent[];
}

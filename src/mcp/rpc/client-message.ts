import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, member, parseJson } from "../../protocol/index.ts";
import { isRequestId, type RequestId, RPC_CODES } from "./json-rpc.ts";
import { flawOfParams, NOTIFICATIONS, REQUESTS } from "./methods.ts";

export interface ClientRequest {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface ClientNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params?: JsonObject;
}

/** To something that the server asked. */
export interface ClientAnswer {
  readonly kind: "answer";
  readonly id: RequestId;
  readonly said: { readonly result: JsonObject } | { readonly error: JsonObject };
}

/** A refused message. A request gets an error with its id, or with `null` if the id cannot be read. */
export interface Refusal {
  readonly kind: "refused";
  /** Undefined for what is not answered: notifications and answers. */
  readonly id: RequestId | null | undefined;
  readonly code: number;
  readonly message: string;
}

export type ClientMessage = ClientRequest | ClientNotification | ClientAnswer | Refusal;

/** A message larger than this is refused. */
export const MOST_BYTES: number = 16 * 1024 * 1024;

/** Parses one client message from its bytes, none of which is passed on. Never throws. */
export function readClientMessage(bytes: Uint8Array): ClientMessage {
  let text: string;
  try {
    // A byte order mark is kept, so that the text is not valid JSON: other parsers may fail on it.
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refusal(null, RPC_CODES.unreadable, "the message is not UTF-8");
  }
  return readText(text);
}

/** The same for a message that another transport has parsed. */
export function toClientMessage(given: unknown): ClientMessage {
  try {
    return readText(JSON.stringify(given) ?? "");
  } catch {
    return refusal(null, RPC_CODES.unreadable, "the message is not JSON");
  }
}

function readText(text: string): ClientMessage {
  const parsed = parseJson(text, { maxBytes: MOST_BYTES });
  return parsed.ok ? judge(parsed.value) : refusal(null, RPC_CODES.unreadable, parsed.message);
}

/** The message, written again with only the checked members. */
export function toWire(message: ClientRequest | ClientNotification | ClientAnswer): JSONRPCMessage {
  const { kind: _, ...members } = message;
  if (!("said" in members)) return { jsonrpc: "2.0", ...members };
  return { jsonrpc: "2.0", id: members.id, ...members.said } as JSONRPCMessage;
}

const ENVELOPE: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);
const ANSWER: ReadonlySet<string> = new Set(["jsonrpc", "id", "result", "error"]);

// Batches of the older protocol are refused, so that no message passes unchecked.
function judge(value: unknown): ClientMessage {
  if (!isJsonObject(value))
    return refusal(null, RPC_CODES.invalidRequest, "expected one JSON-RPC message, which must be an object");
  const given = member(value, "id");
  const id = isRequestId(given) ? given : null;
  const isAnswer =
    !Object.hasOwn(value, "method") && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"));
  const known = isAnswer ? ANSWER : ENVELOPE;
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined)
    return refusal(id, RPC_CODES.invalidRequest, `the member ${unknown} is not supported`);
  if (member(value, "jsonrpc") !== "2.0")
    return refusal(id, RPC_CODES.invalidRequest, 'jsonrpc must be "2.0"');
  if (isAnswer) return judgeAnswer(value, id);
  if (Object.hasOwn(value, "id") && id === null)
    return refusal(null, RPC_CODES.invalidRequest, "the id must be a string or an integer");
  return judgeMethod(value, id ?? undefined);
}

function judgeMethod(value: JsonObject, id: RequestId | undefined): ClientMessage {
  const method = member(value, "method");
  if (typeof method !== "string")
    return refusal(id ?? null, RPC_CODES.invalidRequest, "the method must be a string");
  const shape = (id === undefined ? NOTIFICATIONS : REQUESTS).get(method);
  // In the words that the SDK's servers use.
  if (shape === undefined) return refusal(id, RPC_CODES.unknownMethod, "Method not found");
  const params = member(value, "params") ?? {};
  const flaw = isJsonObject(params) ? flawOfParams(params, shape) : "params must be an object";
  if (flaw !== undefined) return refusal(id, RPC_CODES.invalidParams, flaw);
  const given = Object.hasOwn(value, "params") ? { params: params as JsonObject } : {};
  return id === undefined
    ? { kind: "notification", method, ...given }
    : { kind: "request", id, method, ...given };
}

function judgeAnswer(value: JsonObject, id: RequestId | null): ClientMessage {
  const { result, error } = value;
  const unread = refusal(
    undefined,
    RPC_CODES.invalidRequest,
    "a response needs an id, and a result or an error",
  );
  if (id === null) return unread;
  if (isJsonObject(result) && error === undefined) return { kind: "answer", id, said: { result } };
  if (result !== undefined || !isJsonObject(error)) return unread;
  const { code, message, data, ...more } = error;
  if (typeof code !== "number" || typeof message !== "string" || Object.keys(more).length > 0) return unread;
  return { kind: "answer", id, said: { error: { code, message, ...(data === undefined ? {} : { data }) } } };
}

function refusal(id: RequestId | null | undefined, code: number, message: string): Refusal {
  return { kind: "refused", id, code, message };
}

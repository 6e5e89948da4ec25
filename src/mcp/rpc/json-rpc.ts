import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../../protocol/index.ts";
import { TOLD_AS } from "./error-kinds.ts";

export type RequestId = string | number;

/** The JSON-RPC error codes, and a server-defined one for a closed connection. */
export const RPC_CODES = {
  unreadable: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  gone: -32_000,
} as const;

/** The parts of a message, each only if it is what the protocol says it is. */
export interface MessageFields {
  readonly method?: string;
  readonly id?: RequestId;
  readonly params: JsonObject;
  readonly result: JsonObject;
  readonly error?: JsonObject;
}

export function fieldsOf(message: JSONRPCMessage): MessageFields {
  const { method, id, params, result, error } = message as unknown as Record<string, JsonValue | undefined>;
  return {
    ...(typeof method === "string" ? { method } : {}),
    ...(isRequestId(id) ? { id } : {}),
    params: isJsonObject(params) ? params : {},
    result: isJsonObject(result) ? result : {},
    ...(isJsonObject(error) ? { error } : {}),
  };
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

export function textOf(object: JsonObject, name: string): string | undefined {
  const value = member(object, name);
  return typeof value === "string" ? value : undefined;
}

/** The member, if it is an object; else an empty one. */
export function objectOf(object: JsonObject, name: string): JsonObject {
  const value = member(object, name);
  return isJsonObject(value) ? value : {};
}

/** An error as the answer to a request; `null` is for one whose id cannot be read. */
export function errorMessage(id: RequestId | null, code: number, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code, message } } as JSONRPCMessage;
}

/** The error for a client: its own mistakes with their code, anything else as internal. */
export function toErrorMessage(id: RequestId, error: unknown): JSONRPCMessage {
  const message = error instanceof Error ? error.message : String(error);
  const told = CountersignError.isInstance(error) ? TOLD_AS[error.code] : "internal";
  return errorMessage(id, RPC_CODES[told], message);
}

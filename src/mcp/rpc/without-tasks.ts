import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { fieldsOf, objectOf, textOf } from "./json-rpc.ts";

/** A list of tools in which no gated tool offers to run as a task. */
export function withoutTasks(message: JSONRPCMessage, isGated: (tool: string) => boolean): JSONRPCMessage {
  const { result } = fieldsOf(message);
  const tools = member(result, "tools");
  if (!isJsonArray(tools)) return message;
  const change = (tool: JsonValue): JsonValue => {
    if (!isJsonObject(tool) || !isGated(textOf(tool, "name") ?? "")) return tool;
    const execution = objectOf(tool, "execution");
    if (member(execution, "taskSupport") === undefined) return tool;
    return { ...tool, execution: { ...execution, taskSupport: "forbidden" } };
  };
  return { ...message, result: { ...result, tools: tools.map(change) } };
}

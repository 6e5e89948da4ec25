import type { ConfirmationAsk } from "../../event.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { type Parsed, parsed } from "../../parsed.ts";
import { mismatch, strictObject, strictPayload, undecided } from "./strict-object.ts";

/** The pause of a remote child: its name, its task, and the calls that the person decides. */
export interface NestedPause {
  readonly subagentName?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly asks: readonly ConfirmationAsk[];
}

/** A pause in the extension's format. With `nested`, the child's questions are the ones to answer. */
export interface ToolApprovalRequest {
  readonly asks: readonly ConfirmationAsk[];
  readonly hint?: string;
  readonly nested?: NestedPause;
}

/** One decision of a `tool_approval_response`. */
export interface ToolApproval {
  readonly id: string;
  readonly confirmed: boolean;
  readonly reason?: string;
}

/** The `tool_approval_request` payload. The hint of a lone question is the payload's, unless another is given. */
export function encodeToolApprovalRequest({ asks, hint, nested }: ToolApprovalRequest): JsonObject {
  const shown = hint ?? (asks.length === 1 ? asks[0]?.hint : undefined);
  return {
    type: "tool_approval_request",
    ...(shown !== undefined && shown !== "" && { hint: shown }),
    tools: asks.map(encodeTool),
    ...(nested && { nested: encodeNested(nested) }),
  };
}

function encodeNested(nested: NestedPause): JsonObject {
  return {
    ...(nested.subagentName !== undefined && { subagent_name: nested.subagentName }),
    ...(nested.taskId !== undefined && { task_id: nested.taskId }),
    ...(nested.contextId !== undefined && { context_id: nested.contextId }),
    tools: nested.asks.map(encodeTool),
  };
}

function encodeTool(ask: ConfirmationAsk): JsonObject {
  return { id: ask.id, call_id: ask.call.id, name: ask.call.name, args: ask.call.args };
}

/**
 * Reads a `tool_approval_request`, as a caller of a remote agent gets it. Refuses (`malformed-decision`) one
 * with no tools, or a tool without id, call id or name. Questions get the payload's hint, or an empty one.
 */
export function decodeToolApprovalRequest(payload: unknown): Parsed<ToolApprovalRequest> {
  const object = strictPayload(payload, "tool_approval_request", ["hint", "tools", "nested"]);
  if (!object.ok) return object;
  const hint = textIn(object.value, "hint");
  const asks = decodeTools(member(object.value, "tools"), hint ?? "", "tools");
  if (!asks.ok) return asks;
  const nested = decodeNested(member(object.value, "nested"), hint ?? "");
  if (!nested.ok) return nested;
  return parsed({
    asks: asks.value,
    ...(hint !== undefined && { hint }),
    ...(nested.value && { nested: nested.value }),
  });
}

function decodeNested(value: JsonValue | undefined, hint: string): Parsed<NestedPause | undefined> {
  if (value === undefined || value === null) return parsed(undefined);
  const object = strictObject(value, ["subagent_name", "task_id", "context_id", "tools"], "nested");
  if (!object.ok) return object;
  const asks = decodeTools(member(object.value, "tools"), hint, "nested.tools");
  if (!asks.ok) return asks;
  const subagentName = textIn(object.value, "subagent_name");
  const taskId = textIn(object.value, "task_id");
  const contextId = textIn(object.value, "context_id");
  return parsed({
    asks: asks.value,
    ...(subagentName !== undefined && { subagentName }),
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
  });
}

function decodeTools(value: JsonValue | undefined, hint: string, path: string): Parsed<ConfirmationAsk[]> {
  if (!isJsonArray(value) || value.length === 0) return undecided(path, "must list at least one tool");
  const asks: ConfirmationAsk[] = [];
  for (const [index, item] of value.entries()) {
    const place = `${path}[${index}]`;
    const tool = strictObject(item, ["id", "call_id", "name", "args"], place);
    if (!tool.ok) return tool;
    const [id, callId, name] = ["id", "call_id", "name"].map((key) => textIn(tool.value, key));
    if (id === undefined || callId === undefined || name === undefined) {
      return undecided(place, "must have an `id`, a `call_id` and a `name`");
    }
    const args = member(tool.value, "args") ?? {};
    if (!isJsonObject(args)) return undecided(`${place}.args`, "must be an object");
    asks.push({ id, call: { id: callId, name, args }, hint });
  }
  return parsed(asks);
}

/**
 * The decisions of a `tool_approval_response`, given the ids that were asked for (the child's, where the pause
 * was nested). Refuses the whole answer (`malformed-decision`) unless it decides every id exactly once, with a
 * boolean, and has no member that does not belong.
 */
export function decodeToolApprovalResponse(
  payload: unknown,
  askedIds: readonly string[],
): Parsed<readonly ToolApproval[]> {
  const object = strictPayload(payload, "tool_approval_response", ["approvals"]);
  if (!object.ok) return object;
  const list = member(object.value, "approvals");
  if (!isJsonArray(list)) return undecided("approvals", "must be an array");
  const approvals: ToolApproval[] = [];
  for (const [index, item] of list.entries()) {
    const approval = decodeApproval(item, `approvals[${index}]`);
    if (!approval.ok) return approval;
    approvals.push(approval.value);
  }
  const ids = approvals.map((approval) => approval.id);
  return mismatch(askedIds, ids, "approvals") ?? parsed(approvals);
}

function decodeApproval(value: JsonValue, path: string): Parsed<ToolApproval> {
  const object = strictObject(value, ["id", "approved", "rejection_reason"], path);
  if (!object.ok) return object;
  const id = textIn(object.value, "id");
  const confirmed = member(object.value, "approved");
  const reason = member(object.value, "rejection_reason") ?? "";
  if (id === undefined) return undecided(`${path}.id`, "must be a string that is not empty");
  if (typeof confirmed !== "boolean") return undecided(`${path}.approved`, "must be true or false");
  if (typeof reason !== "string") return undecided(`${path}.rejection_reason`, "must be a string");
  // kagent takes a reason beside an approval and makes nothing of it.
  return parsed({ id, confirmed, ...(!confirmed && reason !== "" && { reason }) });
}

function textIn(object: JsonObject, name: string): string | undefined {
  const value = member(object, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

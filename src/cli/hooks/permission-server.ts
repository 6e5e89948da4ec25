import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import type { Approval, ToolUse } from "./approval.ts";

/** The one tool: `mcp__<server's name>__approve` for Claude Code. */
export const TOOL = "approve";

const INVALID_PARAMS = -32_602;
const UNKNOWN_METHOD = -32_601;

const LISTED: JsonObject = {
  name: TOOL,
  description: "Asks in Countersign whether a tool may be used. For --permission-prompt-tool of Claude Code.",
  inputSchema: {
    type: "object",
    properties: {
      tool_name: { type: "string" },
      input: { type: "object" },
      tool_use_id: { type: "string" },
    },
    required: ["tool_name", "input", "tool_use_id"],
    additionalProperties: false,
  },
};

/** A JSON-RPC request, or a notification if it has no id. */
export interface Request {
  readonly id?: string | number;
  readonly method: string;
  readonly params: JsonObject;
}

/** What is answered to a request. */
export type Reply =
  | { readonly result: JsonObject }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Answers one request. `decide` asks about a tool use, and never throws. */
export async function answerRequest(
  { method, params }: Request,
  { version, decide }: { readonly version: string; readonly decide: (use: ToolUse) => Promise<Approval> },
): Promise<Reply> {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: member(params, "protocolVersion") ?? "",
          capabilities: { tools: {} },
          serverInfo: { name: "countersign", version },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [LISTED] } };
    case "tools/call":
      return call(params, decide);
    default:
      return { error: { code: UNKNOWN_METHOD, message: "Method not found" } };
  }
}

async function call(params: JsonObject, decide: (use: ToolUse) => Promise<Approval>): Promise<Reply> {
  if (member(params, "name") !== TOOL) return invalid(`The only tool is ${TOOL}.`);
  const use = toToolUse(member(params, "arguments"));
  if (typeof use === "string") return invalid(use);
  const approval = await decide(use);
  const said =
    approval.kind === "approved"
      ? { behavior: "allow", updatedInput: approval.input }
      : { behavior: "deny", message: approval.kind === "refused" ? approval.reason : "Nobody has decided." };
  return { result: { content: [{ type: "text", text: JSON.stringify(said) }] } };
}

/** The tool use, or what is wrong with it. An unknown member could change what would run. */
function toToolUse(given: JsonValue | undefined): ToolUse | string {
  if (!isJsonObject(given)) return "The arguments must be an object.";
  const { tool_name: tool, input, tool_use_id: id, ...more } = given;
  const [stranger] = Object.keys(more);
  if (stranger !== undefined) return `The argument "${stranger}" is not known.`;
  if (typeof tool !== "string" || tool === "") return "tool_name must be a text.";
  if (typeof id !== "string" || id === "") return "tool_use_id must be a text.";
  if (!isJsonObject(input)) return "input must be an object.";
  const key = `permission-prompt:${encodeURIComponent(id)}`;
  return { key, thread: key, tool, input };
}

function invalid(message: string): Reply {
  return { error: { code: INVALID_PARAMS, message } };
}

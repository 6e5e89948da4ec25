import { CountersignError, isJsonObject, type JsonObject } from "../../protocol/index.ts";

// The parts of the MCP SDK that are used here, as both `@modelcontextprotocol/sdk` and `@modelcontextprotocol/server` have them.

/** The author's function: `(args, context)`, or `(context)` of a tool without an input schema. */
export type ToolHandler = (...given: unknown[]) => unknown;

/** A tool that a server has registered. */
export interface RegisteredTool {
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  update: (changes: never) => void;
}

/** An `McpServer` of either package. */
export interface GateableServer {
  registerTool: (name: string, config: never, handler: never) => RegisteredTool;
  /** The older form, which only `@modelcontextprotocol/sdk` has. Its last argument is the function. */
  tool?: (name: string, ...rest: never[]) => RegisteredTool;
  connect: (transport: never) => Promise<void>;
  readonly server: {
    getClientCapabilities(): { readonly elicitation?: object | undefined } | undefined;
    elicitInput: (params: never, options?: never) => Promise<unknown>;
  };
}

/** The tools that the server has now, by name. Both packages keep them in this member. */
export function toolsOf(server: GateableServer): ReadonlyMap<string, unknown> {
  const tools: unknown = Reflect.get(server, "_registeredTools");
  if (typeof tools === "object" && tools !== null) return new Map(Object.entries(tools));
  throw new CountersignError(
    "invalid-option",
    "The tools of this server cannot be checked: it is not an McpServer of a known version of the SDK.",
  );
}

/** Who sent a request, as the server's transport has authenticated it. */
export interface McpAuthInfo {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** What the server's token verifier added, such as the user. */
  readonly extra?: { readonly [name: string]: unknown };
}

/** A request of a client. */
export interface McpRequest {
  /** The transport's session. Another connection of the same client has another. */
  readonly sessionId?: string;
  readonly authInfo?: McpAuthInfo;
  /** The request's `_meta`: what the client says, so it is no identity. */
  readonly meta: JsonObject;
  /** What the SDK gives to a tool's function as its last argument. */
  readonly context: unknown;
}

/** A request, with the means to answer while it waits. */
export interface OpenRequest extends McpRequest {
  readonly id: string | number | undefined;
  readonly signal: AbortSignal;
  readonly notify: (notification: object) => Promise<void>;
}

interface FirstContext {
  readonly sessionId?: string;
  readonly authInfo?: McpAuthInfo;
  readonly _meta?: unknown;
  readonly requestId?: string | number;
  readonly signal: AbortSignal;
  readonly sendNotification: (notification: object) => Promise<void>;
}

interface SecondContext {
  readonly sessionId?: string;
  readonly http?: { readonly authInfo?: McpAuthInfo };
  readonly mcpReq: {
    readonly id: string | number;
    readonly _meta?: unknown;
    readonly signal: AbortSignal;
    readonly notify: (notification: object) => Promise<void>;
  };
}

/** The request, from what either package gives to a tool's function. */
export function readRequest(context: unknown): OpenRequest {
  // The SDK's own types; which of the two it is shows in the member `mcpReq`.
  const given = context as FirstContext | SecondContext;
  if ("mcpReq" in given) {
    const { sessionId, http, mcpReq } = given;
    const { id, signal, notify, _meta: meta } = mcpReq;
    return { ...whoOf(sessionId, http?.authInfo), meta: metaOf(meta), context, id, signal, notify };
  }
  const { sessionId, authInfo, requestId: id, signal, sendNotification: notify, _meta: meta } = given;
  return { ...whoOf(sessionId, authInfo), meta: metaOf(meta), context, id, signal, notify };
}

function whoOf(
  sessionId: string | undefined,
  authInfo: McpAuthInfo | undefined,
): Pick<McpRequest, "sessionId" | "authInfo"> {
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(authInfo === undefined ? {} : { authInfo }),
  };
}

function metaOf(meta: unknown): JsonObject {
  return isJsonObject(meta) ? meta : {};
}

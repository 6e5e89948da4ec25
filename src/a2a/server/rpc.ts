import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER } from "@a2a-js/sdk";
import { isLegacyJsonRpcMethod, LEGACY_HTTP_EXTENSION_HEADER } from "@a2a-js/sdk/compat/v0_3";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import {
  CountersignError,
  isJsonObject,
  type JsonObject,
  KAGENT_HITL_EXTENSION,
  member,
  parseJson,
} from "../../protocol/index.ts";
import { sseBody } from "./sse.ts";

/** The versions of the protocol that are spoken here. */
export type Version = "1.0" | "0.3";

/** A call as it came: which version speaks, and whether it opted in to the extension. */
export interface RpcCall {
  readonly version: Version;
  readonly optedIn: boolean;
  readonly body: JsonObject;
}

const MAX_BYTES = 10 * 1024 * 1024;

/** Parses a call. Throws `malformed-json` if it is not an object, and an error for an unsupported version. */
export async function readCall(request: Request): Promise<RpcCall> {
  const parsed = parseJson(await request.text(), { maxBytes: MAX_BYTES });
  if (!parsed.ok) throw new CountersignError("malformed-json", parsed.message);
  if (!isJsonObject(parsed.value)) {
    throw new CountersignError("malformed-request", "The body must be one JSON-RPC request.");
  }
  const version = versionOf(request, parsed.value);
  return {
    version,
    optedIn: extensionsOf(request, version).includes(KAGENT_HITL_EXTENSION),
    body: parsed.value,
  };
}

// Clients of 0.3 know no header; one that is not there says 0.3, unless the method is one that only 1.0 has.
function versionOf({ headers }: Request, body: JsonObject): Version {
  const said = headers.get(A2A_VERSION_HEADER);
  if (said === null || said === "") {
    const method = member(body, "method");
    return typeof method === "string" && isLegacyJsonRpcMethod(method) ? "0.3" : "1.0";
  }
  const [, short] = /^(\d+\.\d+)(?:\.\d+)?$/.exec(said) ?? [];
  if (short === "1.0" || short === "0.3") return short;
  throw new VersionNotSupportedError(`The A2A version "${said}" is not supported. Use 1.0 or 0.3.`);
}

function extensionsOf({ headers }: Request, version: Version): readonly string[] {
  const own = headers.get(HTTP_EXTENSION_HEADER) ?? undefined;
  const old = headers.get(LEGACY_HTTP_EXTENSION_HEADER) ?? undefined;
  return Extensions.parseServiceParameter(version === "0.3" ? (old ?? own) : own);
}

/** Answers a call by the SDK's own transport: JSON, or events where the method streams. */
export async function answerCall(
  { version, optedIn, body }: RpcCall,
  handler: A2ARequestHandler,
): Promise<Response> {
  const transport =
    version === "0.3" ? new LegacyJsonRpcTransportHandler(handler) : new JsonRpcTransportHandler(handler);
  const context = new ServerCallContext({ requestedVersion: version });
  const answer = await transport.handle({ ...body }, context);
  const activated = optedIn ? { [extensionHeader(version)]: KAGENT_HITL_EXTENSION } : {};
  if (!(Symbol.asyncIterator in answer)) return Response.json(answer, { headers: activated });
  const told: AsyncGenerator = version === "0.3" ? markLast(answer) : answer;
  const first = await told.next().catch((error: unknown) => ({ failed: error }));
  // An error before the first event is a normal answer, not a stream.
  if ("failed" in first) return Response.json(rpcError(version, body, first.failed), { headers: activated });
  return new Response(
    sseBody(first, told, (error) => rpcError(version, body, error)),
    {
      headers: {
        ...activated,
        "content-type": "text/event-stream",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
      },
    },
  );
}

// The SDK marks only the end of a task as final. In 0.3 the last event of a stream must be final, and a pause ends our
// stream.
async function* markLast(answers: AsyncGenerator<object>): AsyncGenerator {
  for await (const answer of answers) {
    const { result } = answer as {
      readonly result?: { readonly kind?: string; readonly status?: { readonly state: string } };
    };
    const isPause = result?.kind === "status-update" && result.status?.state === "input-required";
    yield isPause ? { ...answer, result: { ...result, final: true } } : answer;
  }
}

function extensionHeader(version: Version): string {
  return version === "0.3" ? LEGACY_HTTP_EXTENSION_HEADER : HTTP_EXTENSION_HEADER;
}

/** An error in the format of the protocol version. */
export function rpcError(version: Version, body: JsonObject, error: unknown): JsonObject {
  const id = member(body, "id");
  const told =
    version === "0.3"
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : JsonRpcTransportHandler.mapToJSONRPCError(error);
  return {
    jsonrpc: "2.0",
    id: typeof id === "string" || typeof id === "number" ? id : null,
    error: JSON.parse(JSON.stringify(told)) as JsonObject,
  };
}

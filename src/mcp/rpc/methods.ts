import { isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { isRequestId } from "./json-rpc.ts";

/** What a member must be, in the words of the refusal. */
type Kind = "a text" | "an object" | "an id" | "a number" | "a number or null";

/** The members that the parameters of a method may have; those in `needs` must be there. */
interface Shape {
  readonly needs?: Readonly<Record<string, Kind>>;
  readonly may?: Readonly<Record<string, Kind>>;
}

const NOTHING: Shape = {};
const PAGE: Shape = { may: { cursor: "a text" } };
const URI: Shape = { needs: { uri: "a text" } };
const TASK: Shape = { needs: { taskId: "a text" } };

/**
 * Every request that a client may send through the gateway. What is not listed here is refused: a later protocol may
 * have other ways to run a tool, which this gate would not see.
 */
export const REQUESTS: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  [
    "initialize",
    { needs: { protocolVersion: "a text", capabilities: "an object", clientInfo: "an object" } },
  ],
  ["ping", NOTHING],
  ["tools/list", PAGE],
  ["tools/call", { needs: { name: "a text" }, may: { arguments: "an object", task: "an object" } }],
  ["resources/list", PAGE],
  ["resources/templates/list", PAGE],
  ["resources/read", URI],
  ["resources/subscribe", URI],
  ["resources/unsubscribe", URI],
  ["prompts/list", PAGE],
  ["prompts/get", { needs: { name: "a text" }, may: { arguments: "an object" } }],
  [
    "completion/complete",
    { needs: { ref: "an object", argument: "an object" }, may: { context: "an object" } },
  ],
  ["logging/setLevel", { needs: { level: "a text" } }],
  ["tasks/list", PAGE],
  ["tasks/get", TASK],
  ["tasks/result", TASK],
  ["tasks/cancel", TASK],
]);

/** Every notification that a client may send through the gateway. */
export const NOTIFICATIONS: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["notifications/initialized", NOTHING],
  ["notifications/cancelled", { needs: { requestId: "an id" }, may: { reason: "a text" } }],
  [
    "notifications/progress",
    {
      needs: { progressToken: "an id", progress: "a number" },
      may: { total: "a number", message: "a text" },
    },
  ],
  ["notifications/roots/list_changed", NOTHING],
  [
    "notifications/tasks/status",
    {
      needs: { taskId: "a text", status: "a text" },
      may: {
        statusMessage: "a text",
        createdAt: "a text",
        lastUpdatedAt: "a text",
        ttl: "a number or null",
        pollInterval: "a number",
      },
    },
  ],
]);

const IS: Readonly<Record<Kind, (value: JsonValue) => boolean>> = {
  "a text": (value) => typeof value === "string",
  "an object": isJsonObject,
  "an id": isRequestId,
  "a number": (value) => typeof value === "number",
  "a number or null": (value) => typeof value === "number" || value === null,
};

/** Why these are not a method's parameters, as in `params.name must be a text`; undefined if they are. */
export function flawOfParams(params: JsonObject, { needs = {}, may = {} }: Shape): string | undefined {
  const known: Readonly<Record<string, Kind>> = { _meta: "an object", ...may, ...needs };
  for (const [name, value] of Object.entries(params)) {
    const kind = member(known, name);
    if (kind === undefined) return `params.${name} is not supported`;
    if (!IS[kind](value)) return `params.${name} must be ${kind}`;
  }
  const missing = Object.keys(needs).find((name) => !Object.hasOwn(params, name));
  if (missing !== undefined) return `params.${missing} is missing`;
  return flawOfMeta(member(params, "_meta"));
}

function flawOfMeta(meta: JsonValue | undefined): string | undefined {
  const token = isJsonObject(meta) ? member(meta, "progressToken") : undefined;
  return token === undefined || isRequestId(token) ? undefined : "params._meta.progressToken must be an id";
}
